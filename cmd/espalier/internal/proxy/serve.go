package proxy

import (
	"context"
	stderrors "errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
)

// Run serves until the context is done, and then until requests have ended. It logs to stderr.
func (c *Config) Run(ctx context.Context, upstream *url.URL, stderr io.Writer) error {
	logger := log.New(stderr, "espalier: ", log.LstdFlags)
	files, err := c.definitions()
	if err != nil {
		return err
	}
	budget := request.NewBudget(c.options.MaxHeldBytes)
	seen := newMetrics(files, budget)
	defer c.follow(files, budget, logger)()
	transport, err := c.transport()
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	serving, err := c.servingTLS()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.listen)
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           c.handler(upstream, transport, logger, seen),
		TLSConfig:         serving,
		ReadHeaderTimeout: c.headerTimeout,
		IdleTimeout:       c.idleTimeout,
		MaxHeaderBytes:    c.headerBytes,
		ErrorLog:          logger,
	}
	var isStopping atomic.Bool
	admin, err := c.serveAdmin(&isStopping, seen, logger)
	if err != nil {
		listener.Close()
		return err
	}
	defer admin.Close()

	ended := make(chan error, 1)
	go func() {
		if serving != nil {
			ended <- server.ServeTLS(listener, "", "")
		} else {
			ended <- server.Serve(listener)
		}
	}()
	logger.Printf("listening on %s, upstream %s", listener.Addr(), upstream)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	isStopping.Store(true)
	logger.Print("shutting down")
	patience, cancel := context.WithTimeout(context.Background(), c.shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(patience); err != nil {
		logger.Printf("requests were cut off: %v", err)
		server.Close()
	}
	<-ended //nolint:errcheck // it is http.ErrServerClosed
	return nil
}

// handler returns the middleware in front of the upstream server.
func (c *Config) handler(upstream *url.URL, transport http.RoundTripper, logger *log.Logger, seen *metrics) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			r.SetXForwarded()
		},
		Transport: transport,
		ErrorLog:  logger,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			answer := &request.StatusError{Code: http.StatusBadGateway, Reason: "InternalError", Message: "the upstream server did not answer"}
			body, passes := r.Context().Value(passingBody{}).(*timedBody)
			switch {
			case passes && body.isLate():
				answer = &request.StatusError{Code: http.StatusRequestTimeout, Reason: "Timeout", Message: "the body of the request did not come in time"}
			case r.Context().Err() == nil:
				logger.Printf("%s %q: %v", r.Method, r.URL.Path, err)
				seen.upstreamFailed()
			}
			middleware.WriteAnswer(w, answer.Answer(c.options.ProblemDetails))
		},
	}
	opts := c.options
	opts.Observer = seen
	opts.Budget = seen.budget
	if c.action.Value == "report" {
		opts.Action = request.Report
	}
	if c.patches.Value == "pass" {
		opts.Patches = request.PassPatches
	}
	return withBodyTimeout(c.bodyTimeout, middleware.New(c.finder(seen.files.Catalog()), opts), proxy)
}

// transport returns a client for the upstream server. It speaks HTTP/1.1, whose connections can
// be upgraded.
func (c *Config) transport() (*http.Transport, error) {
	config, err := c.upstreamTLS()
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		TLSClientConfig:     config,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 128,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true, // clients say themselves which encodings they accept
	}, nil
}

// serveAdmin serves health and metrics until it is closed, if there is an address for them.
func (c *Config) serveAdmin(isStopping *atomic.Bool, seen *metrics, logger *log.Logger) (io.Closer, error) {
	if c.adminListen == "" {
		return io.NopCloser(nil), nil
	}
	listener, err := net.Listen("tcp", c.adminListen)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", readyz(seen.files, isStopping))
	mux.Handle("GET /metrics", seen)
	server := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: c.headerTimeout,
		ReadTimeout:       c.headerTimeout,
		WriteTimeout:      time.Minute,
		IdleTimeout:       c.idleTimeout,
		MaxHeaderBytes:    c.headerBytes,
		ErrorLog:          logger,
	}
	go func() {
		if err := server.Serve(listener); !stderrors.Is(err, http.ErrServerClosed) {
			logger.Printf("health and metrics: %v", err)
		}
	}()
	logger.Printf("health and metrics on %s", listener.Addr())
	return server, nil
}
