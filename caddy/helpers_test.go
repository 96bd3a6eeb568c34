package caddyespalier

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/headers"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/rewrite"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage"
	_ "github.com/caddyserver/caddy/v2/modules/logging"
	"github.com/quic-go/quic-go/http3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/request"
)

const plansPath = "/apis/backup.example.com/v1/namespaces/prod/backupplans"

// plan returns a BackupPlan with members of its spec.
func plan(spec string) string {
	return `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","metadata":{"name":"a"},"spec":{` + spec + `}}`
}

// TestMain keeps what Caddy stores out of the home of whoever runs the tests.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "caddy")
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		os.Setenv(name, dir)
	}
	code := m.Run()
	_ = caddy.Stop()
	os.RemoveAll(dir)
	os.Exit(code)
}

// freePort returns a port of the loopback interface that nobody listens on.
func freePort(t testing.TB) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A site is a Caddy that runs with one site, in front of an upstream server.
type site struct {
	t    testing.TB
	port int
	url  string
	log  string // the name of the file
}

// start runs a Caddy with a site until the test ends. There is one Caddy in a process. In the text,
// UPSTREAM stands for the address of the upstream server, and CRD for a definition.
func start(t testing.TB, upstream, text string) *site {
	t.Helper()
	s := &site{t: t, port: freePort(t), log: filepath.Join(t.TempDir(), "log")}
	s.url = fmt.Sprintf("http://127.0.0.1:%d", s.port)
	require.NoError(t, s.load(upstream, text))
	t.Cleanup(func() { assert.NoError(t, caddy.Stop()) })
	return s
}

// load gives Caddy another configuration for the site.
func (s *site) load(upstream, text string) error { return s.loadWith("", upstream, text) }

// loadWith is load with more global options.
func (s *site) loadWith(options, upstream, text string) error {
	text = strings.NewReplacer(
		"UPSTREAM", strings.TrimPrefix(upstream, "http://"), "CRD", "../testdata/quickstart/crd.yaml",
	).Replace(text)
	return s.adapt(options, fmt.Sprintf(":%d {\n\tbind 127.0.0.1\n%s\n}\n", s.port, text))
}

// loadCaddyfile gives Caddy other sites.
func (s *site) loadCaddyfile(sites string) error { return s.adapt("", sites) }

func (s *site) adapt(options, sites string) error {
	adapter := caddyconfig.GetAdapter("caddyfile")
	config, _, err := adapter.Adapt(fmt.Appendf(nil,
		"{\n\tadmin off\n\tpersist_config off\n\tauto_https off\n\tgrace_period 5s\n\tmetrics\n\tlog {\n\t\toutput file %q\n\t\tformat json\n\t\tlevel DEBUG\n\t}\n%s\n}\n%s", s.log, options, sites), nil)
	if err != nil {
		return err
	}
	err = caddy.Load(config, true)
	time.Sleep(100 * time.Millisecond) // for a moment, the old server may still be given connections
	return err
}

// logged returns what Caddy has logged.
func (s *site) logged() string {
	text, err := os.ReadFile(s.log)
	require.NoError(s.t, err)
	return string(text)
}

// do sends a request and reads the answer.
func do(t testing.TB, client *http.Client, method, url, contentType, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", contentType)
	response, err := client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(text)
}

// once is a client that uses a connection once, and tries again if that is closed before it was
// served: when Caddy replaces a configuration, it closes idle connections, and the old listener with
// what the system has queued for it.
var once = &http.Client{Transport: &retrying{http.Transport{DisableKeepAlives: true}}}

type retrying struct{ http.Transport }

func (t *retrying) RoundTrip(r *http.Request) (response *http.Response, err error) {
	for range 5 {
		if response, err = t.Transport.RoundTrip(r); !wasReset(err) || r.GetBody == nil {
			return response, err
		}
		r = r.Clone(r.Context())
		if r.Body, err = r.GetBody(); err != nil {
			return nil, err
		}
	}
	return response, err
}

// post sends an object in JSON.
func (s *site) post(path, body string) (*http.Response, string) {
	s.t.Helper()
	return do(s.t, once, "POST", s.url+path, "application/json", body)
}

// raw sends the bytes of a request, and returns the connection and the answer. It tries again as once
// does.
func (s *site) raw(text string) (net.Conn, *bufio.Reader, *http.Response) {
	s.t.Helper()
	for try := 0; ; try++ {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		require.NoError(s.t, err)
		s.t.Cleanup(func() { conn.Close() })
		require.NoError(s.t, conn.SetDeadline(time.Now().Add(time.Minute)))
		_, err = io.WriteString(conn, text)
		r := bufio.NewReader(conn)
		var response *http.Response
		if err == nil {
			response, err = http.ReadResponse(r, nil)
		}
		if wasReset(err) && try < 5 {
			continue
		}
		require.NoError(s.t, err, text)
		s.t.Cleanup(func() { response.Body.Close() })
		return conn, r, response
	}
}

// send sends a request on a connection of its own, and returns the status code of the answer, or 0. It
// is for goroutines.
func (s *site) send(method, path, contentType, body string) int {
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0
	}
	r.Header.Set("Content-Type", contentType)
	response, err := once.Do(r)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// wasReset reports whether a connection was closed that nobody served.
func wasReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF)
}

// An upstream is a server that records what reaches it, and echoes bodies.
type upstream struct {
	*httptest.Server
	mu       sync.Mutex
	bodies   []string
	trailers []http.Header
	headers  []http.Header
	broken   int // bodies that did not come to their end
}

func startUpstream(t testing.TB) *upstream {
	u := new(upstream)
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		u.mu.Lock()
		defer u.mu.Unlock()
		if err != nil {
			u.broken++
			return
		}
		u.bodies = append(u.bodies, string(body))
		u.trailers = append(u.trailers, r.Trailer)
		u.headers = append(u.headers, r.Header)
		w.Header().Set("Got", r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Content-Type"))
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	}))
	t.Cleanup(u.Close)
	return u
}

// taken returns the bodies since the last call.
func (u *upstream) taken() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	bodies := u.bodies
	u.bodies = nil
	return bodies
}

// certificate returns a self-signed certificate for 127.0.0.1 and its key, in PEM.
func certificate(t testing.TB) (cert, key []byte, pool *x509.CertPool) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	privateDER, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: privateDER})
	pool = x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(cert))
	return cert, key, pool
}

// clients returns a client for each version of HTTP that trusts a certificate.
func clients(t testing.TB, pool *x509.CertPool) map[int]*http.Client {
	trusting := func() *tls.Config { return &tls.Config{RootCAs: pool} }
	one := &http.Transport{TLSClientConfig: trusting()}
	two := &http.Transport{TLSClientConfig: trusting(), ForceAttemptHTTP2: true}
	three := &http3.Transport{TLSClientConfig: trusting()}
	t.Cleanup(func() {
		one.CloseIdleConnections()
		two.CloseIdleConnections()
		assert.NoError(t, three.Close())
	})
	return map[int]*http.Client{1: {Transport: one}, 2: {Transport: two}, 3: {Transport: three}}
}

func readAll(t testing.TB, response *http.Response) string {
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(text)
}

// startWaiting starts a server that says when a request has arrived, and answers it after its release.
func startWaiting(t testing.TB, arrived chan<- bool, release <-chan bool) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- true
		<-release
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// budgetOf returns the budget with a limit, which handlers share.
func budgetOf(t testing.TB, limit int64) *request.Budget {
	var budget *request.Budget
	budgets.Range(func(key, b any) bool {
		if key == limit {
			budget = b.(*request.Budget)
		}
		return true
	})
	require.NotNil(t, budget)
	return budget
}

func writeFile(t testing.TB, name, text string) {
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}
