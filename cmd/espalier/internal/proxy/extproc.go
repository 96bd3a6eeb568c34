package proxy

import (
	"context"
	stderrors "errors"
	"io"
	"log"
	"net"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/extproc"
	"github.com/espalier-dev/espalier/request"
)

// ExtProc is the configuration of an external processor for Envoy. It has those flags of the proxy
// that are not about its upstream server.
type ExtProc struct {
	Config
	stream bool
}

// NewExtProc returns a configuration with the defaults of the choices.
func NewExtProc() *ExtProc { return &ExtProc{Config: *NewConfig()} }

// AddFlags adds the flags to a command.
func (c *ExtProc) AddFlags(cmd *cobra.Command) {
	var all cobra.Command
	c.Config.AddFlags(&all)
	flags := cmd.Flags()
	flags.SortFlags = false
	for _, name := range []string{
		"crd", "reload-interval", "listen", "admin-listen", "find", "action", "patches", "pass-unknown", "kubernetes", "values",
		"problem-details", "gzip", "max-bytes", "max-held-bytes", "tls-cert", "tls-key", "body-timeout", "shutdown-timeout",
	} {
		flags.AddFlag(all.Flags().Lookup(name))
	}
	flags.BoolVar(&c.stream, "stream", false, "decode JSON objects while they arrive, in the modes STREAMED and FULL_DUPLEX_STREAMED")
	flags.Lookup("listen").Usage = "address for Envoy, with gRPC"
	flags.Lookup("body-timeout").Usage = "how long a body that is decoded may take, with the time for which Envoy collects it"
	flagvalue.MarkRequired(cmd, "crd")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
}

// Check returns an error for arguments that are wrong in themselves.
func (c *ExtProc) Check() error {
	switch {
	case c.options.MaxBytes <= 0 || c.options.MaxHeldBytes <= 0:
		return stderrors.New("limits must be greater than 0")
	case c.reloadInterval < 0:
		return stderrors.New("--reload-interval must not be less than 0")
	case c.bodyTimeout <= 0 || c.shutdownTimeout < 0:
		return stderrors.New("timeouts must be greater than 0")
	}
	return nil
}

// Run serves until the context is done, and then until requests have ended. It logs to stderr.
func (c *ExtProc) Run(ctx context.Context, stderr io.Writer) error {
	logger := log.New(stderr, "espalier: ", log.LstdFlags)
	files, err := c.definitions()
	if err != nil {
		return err
	}
	seen := newMetrics(files, request.NewBudget(c.options.MaxHeldBytes))
	defer c.follow(files, seen.budget, logger)()
	processor := extproc.New(c.finder(files.Catalog()), extproc.Options{
		Options: c.gate(seen), Stream: c.stream, BodyTimeout: c.bodyTimeout,
		Observe: func(o request.Observation) { seen.Observe(nil, o) },
	})
	server := extproc.NewServer(processor)
	server.ErrorLog = logger
	if server.TLSConfig, err = c.servingTLS(); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.listen)
	if err != nil {
		return err
	}
	var isStopping atomic.Bool
	admin, err := c.serveAdmin(&isStopping, seen, logger)
	if err != nil {
		listener.Close()
		return err
	}
	defer admin.Close()
	logger.Printf("listening on %s for Envoy", listener.Addr())
	return c.serve(ctx, server, listener, func() {
		isStopping.Store(true)
		processor.Drain()
		logger.Print("shutting down")
	})
}
