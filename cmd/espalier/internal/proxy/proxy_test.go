package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const plansPath = "/apis/backup.example.com/v1/namespaces/prod/backupplans"

// A proxied is a proxy that runs.
type proxied struct {
	url, admin string
	stop       func() string // and wait for it; returns what it logged
}

// startProxy runs a proxy in front of a server, until the test ends or stop is called.
func startProxy(t *testing.T, upstream string, args ...string) *proxied {
	return startProxyWith(t, append([]string{
		"--upstream", upstream, "--crd", "../../../../testdata/quickstart/crd.yaml",
		"--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
	}, args...)...)
}

// startProxyWith is startProxy with all arguments.
func startProxyWith(t *testing.T, args ...string) *proxied {
	c, u := proxyArgs(t, args...)
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := c.Run(ctx, u, in)
		in.Close()
		ended <- err
	}()
	lines := bufio.NewReader(out)
	var logged bytes.Buffer
	address := func(pattern string) string {
		line, err := lines.ReadString('\n')
		logged.WriteString(line)
		found := regexp.MustCompile(pattern).FindStringSubmatch(line)
		if found == nil {
			cancel()
			t.Fatalf("%q has no match for %s: %v", line, pattern, err)
		}
		return found[1]
	}
	p := &proxied{admin: "http://" + address(`health and metrics on (\S+)`)}
	p.url = "http://" + address(`listening on ([^ ,]+), upstream `)
	if c.tlsCert != "" {
		p.url = strings.Replace(p.url, "http:", "https:", 1)
	}
	drained := make(chan bool)
	go func() { _, _ = io.Copy(&logged, lines); close(drained) }()
	isStopped := false
	p.stop = func() string {
		if !isStopped {
			isStopped = true
			cancel()
			assert.NoError(t, <-ended)
			<-drained
		}
		return logged.String()
	}
	t.Cleanup(func() { p.stop() })
	return p
}

// proxyArgs parses arguments as the command does.
func proxyArgs(t *testing.T, args ...string) (c *Config, upstream *url.URL) {
	c = NewConfig()
	cmd := &cobra.Command{}
	c.AddFlags(cmd)
	require.NoError(t, cmd.ParseFlags(args))
	u, err := c.Check()
	require.NoError(t, err)
	return c, u
}

// echoing returns an upstream server that returns each body, and describes the request in a
// header.
func echoing(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Warning", `299 - "from upstream"`)
		w.Header().Set("Got", r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Content-Type")+" "+r.Header.Get("Authorization"))
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(server.Close)
	return server
}

func backupPlan(spec string) string {
	return "apiVersion: backup.example.com/v1\nkind: BackupPlan\nspec: " + spec + "\n"
}

// do sends a request and reads the answer.
func do(t *testing.T, client *http.Client, method, url, contentType, body string) (*http.Response, string) {
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Authorization", "Bearer t")
	response, err := client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response, string(text)
}

func TestProxy(t *testing.T) {
	p := startProxy(t, echoing(t).URL)
	response, text := do(t, http.DefaultClient, "POST", p.url+plansPath+"?dryRun=All", "application/yaml", backupPlan("{schedul: x}"))
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Contains(t, text, `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","spec":{`)
	assert.NotContains(t, text, "schedul\"")
	assert.Equal(t, "POST "+plansPath+"?dryRun=All application/json Bearer t", response.Header.Get("Got"))
	assert.Equal(t, []string{`299 - "unknown field \"spec.schedul\""`, `299 - "from upstream"`}, response.Header.Values("Warning"))

	response, text = do(t, http.DefaultClient, "POST", p.url+plansPath+"?fieldValidation=Strict", "application/yaml", backupPlan("{schedul: x}"))
	assert.Equal(t, http.StatusBadRequest, response.StatusCode)
	assert.Contains(t, text, `BackupPlan in version \"v1\" cannot be handled as a BackupPlan: strict decoding error: unknown field \"spec.schedul\"`)

	// What is for others passes.
	response, text = do(t, http.DefaultClient, "POST", p.url+"/api/v1/namespaces/prod/secrets", "text/plain", "{")
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, "{", text)

	response, _ = do(t, http.DefaultClient, "PATCH", p.url+plansPath+"/n", "application/json-patch+json", "[]")
	assert.Equal(t, http.StatusUnsupportedMediaType, response.StatusCode)
}

func TestProxyFlags(t *testing.T) {
	p := startProxy(t, echoing(t).URL, "--action", "report", "--patches", "pass", "--find", "kind", "--problem-details", "--max-bytes", "100", "--kubernetes")
	body := backupPlan("{schedul: x}")
	response, text := do(t, http.DefaultClient, "PUT", p.url+"/hook", "application/yaml", body)
	assert.Equal(t, body, text)
	assert.Len(t, response.Header.Values("Warning"), 2)

	response, text = do(t, http.DefaultClient, "PATCH", p.url+"/hook", "application/json-patch+json", "[]")
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, "[]", text)

	response, _ = do(t, http.DefaultClient, "PUT", p.url+"/hook", "application/yaml", body+strings.Repeat(" ", 100))
	assert.Equal(t, http.StatusRequestEntityTooLarge, response.StatusCode)
	assert.Equal(t, "application/problem+json", response.Header.Get("Content-Type"))

	_, text = do(t, http.DefaultClient, "PUT", p.url+"/hook", "application/yaml", "metadata: {}")
	assert.Contains(t, text, `no matches for kind`)
}

func TestProxyHealthAndMetrics(t *testing.T) {
	p := startProxy(t, echoing(t).URL)
	for _, path := range []string{"/healthz", "/readyz"} {
		response, _ := do(t, http.DefaultClient, "GET", p.admin+path, "", "")
		assert.Equal(t, http.StatusOK, response.StatusCode)
	}
	do(t, http.DefaultClient, "POST", p.url+plansPath, "application/yaml", backupPlan("{a: 1, b: 1}"))
	do(t, http.DefaultClient, "POST", p.url+plansPath, "text/plain", "")
	response, text := do(t, http.DefaultClient, "GET", p.admin+"/metrics", "", "")
	assert.Equal(t, "text/plain; version=0.0.4; charset=utf-8", response.Header.Get("Content-Type"))
	assert.Contains(t, text, `espalier_bodies_total{api_version="backup.example.com/v1",kind="BackupPlan",field_validation="Warn",result="passed"} 1`+"\n")
	assert.Contains(t, text, `espalier_bodies_total{api_version="backup.example.com/v1",kind="BackupPlan",field_validation="Warn",result="415"} 1`+"\n")
	assert.Contains(t, text, `espalier_findings_total{api_version="backup.example.com/v1",kind="BackupPlan",finding="unknown field"} 2`+"\n")
	assert.Contains(t, text, `espalier_decoding_seconds_bucket{le="+Inf"} 2`+"\n")
	checkExposition(t, text)
}

// checkExposition checks the grammar of the text format, and that each family occurs once,
// after its help and its type.
func checkExposition(t *testing.T, text string) {
	line := regexp.MustCompile(`^([a-z_]+?)(_bucket|_sum|_count)?(\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? ([0-9.e+-]+)$`)
	seen, family, series := map[string]bool{}, "", map[string]bool{}
	for l := range strings.Lines(text) {
		l = strings.TrimSuffix(l, "\n")
		if rest, ok := strings.CutPrefix(l, "# HELP "); ok {
			family, _, _ = strings.Cut(rest, " ")
			assert.False(t, seen[family], "%s stands twice", family)
			seen[family] = true
			continue
		}
		if strings.HasPrefix(l, "# TYPE ") {
			assert.Regexp(t, "^# TYPE "+family+" (counter|gauge|histogram)$", l)
			continue
		}
		found := line.FindStringSubmatch(l)
		if assert.NotNil(t, found, l) {
			assert.Equal(t, family, found[1])
			assert.False(t, series[found[1]+found[2]+found[3]], "%s stands twice", l)
			series[found[1]+found[2]+found[3]] = true
		}
	}
	assert.NotEmpty(t, series)
}

func TestHistogram(t *testing.T) {
	var h histogram
	h.add(10 * time.Microsecond) // bounds are part of their buckets
	h.add(11 * time.Microsecond)
	h.add(time.Hour)
	var b strings.Builder
	h.write(&b, "x", "y")
	for _, want := range []string{`x_bucket{le="1e-05"} 1`, `x_bucket{le="3e-05"} 2`, `x_bucket{le="30"} 2`, `x_bucket{le="+Inf"} 3`, "x_sum 3600.000021", "x_count 3"} {
		assert.Contains(t, b.String(), want+"\n")
	}
	assert.Equal(t, `x{a="\"\\\n"} 1`+"\n", sample("x", 1, "a", "\"\\\n"))
}

// A shutdown lets requests end, and takes no new ones.
func TestProxyShutdown(t *testing.T) {
	arrived, release := make(chan bool), make(chan bool)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- true
		<-release
		fmt.Fprint(w, "done")
	}))
	defer upstream.Close()
	p := startProxy(t, upstream.URL)
	texts := make(chan string, 1)
	go func() {
		response, err := http.Get(p.url + "/slow")
		if err != nil {
			texts <- err.Error()
			return
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		texts <- string(text)
	}()
	<-arrived
	stopped := make(chan string, 1)
	go func() { stopped <- p.stop() }()
	require.Eventually(t, func() bool {
		response, err := http.Get(p.admin + "/readyz")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusServiceUnavailable
	}, time.Minute, 10*time.Millisecond)
	require.Eventually(t, func() bool { // the listener is closed after that
		connection, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
		if err == nil {
			connection.Close()
		}
		return err != nil
	}, time.Minute, 10*time.Millisecond)
	close(release)
	assert.Equal(t, "done", <-texts)
	assert.Contains(t, <-stopped, "shutting down")
}

// Who does not end in time is cut off.
func TestProxyShutdownTimeout(t *testing.T) {
	arrived := make(chan bool)
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- true
		<-r.Context().Done()
	}))
	defer upstream.Close()
	p := startProxy(t, upstream.URL, "--shutdown-timeout", "50ms")
	ended := make(chan error, 1)
	go func() {
		response, err := http.Get(p.url + "/watch")
		if err == nil {
			response.Body.Close()
		}
		ended <- err
	}()
	<-arrived
	assert.Contains(t, p.stop(), "requests were cut off")
	assert.Error(t, <-ended)
}

// A body must come in time; an answer may take longer than that, as a watch does.
func TestProxyBodyTimeout(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-time.After(1200 * time.Millisecond):
			fmt.Fprint(w, "done")
		case <-r.Context().Done():
		}
	}))
	defer upstream.Close()
	p := startProxy(t, upstream.URL, "--body-timeout", "1s") // so that a busy machine makes no body late
	t.Run("in time", func(t *testing.T) {
		for method, path := range map[string]string{"GET": plansPath, "POST": plansPath, "PUT": "/other"} {
			t.Run(method, func(t *testing.T) {
				t.Parallel()
				_, text := do(t, http.DefaultClient, method, p.url+path, "application/yaml", backupPlan("{}"))
				assert.Equal(t, "done", text)
			})
		}
	})
	body, writer := io.Pipe()
	defer writer.Close()
	response, err := http.Post(p.url+plansPath, "application/yaml", body)
	require.NoError(t, err)
	response.Body.Close()
	assert.Equal(t, http.StatusRequestTimeout, response.StatusCode)
}

func TestProxyHeaderLimit(t *testing.T) {
	p := startProxy(t, echoing(t).URL, "--max-header-bytes", "1000")
	r, err := http.NewRequest("GET", p.url, nil)
	require.NoError(t, err)
	r.Header.Set("X", strings.Repeat("x", 10_000)) // net/http grants 4 096 bytes more
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	response.Body.Close()
	assert.Equal(t, http.StatusRequestHeaderFieldsTooLarge, response.StatusCode)
}

func TestProxyUpstreamIsGone(t *testing.T) {
	upstream := echoing(t)
	p := startProxy(t, upstream.URL)
	upstream.Close()
	response, text := do(t, http.DefaultClient, "POST", p.url+plansPath, "application/yaml", backupPlan("{}"))
	assert.Equal(t, http.StatusBadGateway, response.StatusCode)
	assert.Contains(t, text, `"message":"the upstream server did not answer"`)
	_, text = do(t, http.DefaultClient, "GET", p.admin+"/metrics", "", "")
	assert.Contains(t, text, "espalier_upstream_failures_total 1\n")
	logged := p.stop()
	assert.Contains(t, logged, plansPath)
	assert.NotContains(t, logged, "BackupPlan", "a body was logged")
}

// writeCertificate writes a self-signed certificate for 127.0.0.1 and its key.
func writeCertificate(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(certFile, certPEM, 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
	pool = x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(certPEM))
	return certFile, keyFile, pool
}

func TestProxyTLS(t *testing.T) {
	certFile, keyFile, pool := writeCertificate(t)
	certificate, err := tls.LoadX509KeyPair(certFile, keyFile)
	require.NoError(t, err)
	upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.TLS.PeerCertificates[0].Subject.CommonName, " ", r.Proto)
	}))
	upstream.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAnyClientCert}
	upstream.StartTLS()
	defer upstream.Close()

	p := startProxy(t, upstream.URL, "--tls-cert", certFile, "--tls-key", keyFile,
		"--upstream-ca", certFile, "--upstream-cert", certFile, "--upstream-key", keyFile)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	response, text := do(t, &http.Client{Transport: transport}, "GET", p.url, "", "")
	assert.Equal(t, 2, response.ProtoMajor)
	assert.Equal(t, "test HTTP/1.1", text)
}

// A certificate is renewed file by file, and is that of the next connection.
func TestProxyRenewedCertificate(t *testing.T) {
	certFile, keyFile, _ := writeCertificate(t)
	pair, err := newKeyPair(certFile, keyFile)
	require.NoError(t, err)
	first := pair.get()
	assert.Same(t, first, pair.get())

	newCert, newKey, _ := writeCertificate(t)
	later := time.Now().Add(time.Minute)
	replace := func(from, to string) {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, text, 0o600))
		require.NoError(t, os.Chtimes(to, later, later))
	}
	replace(newCert, certFile)
	assert.Same(t, first, pair.get(), "the key is not that of the certificate")
	replace(newKey, keyFile)
	renewed := pair.get()
	assert.NotEqual(t, first.Certificate, renewed.Certificate)
	assert.Same(t, renewed, pair.get())

	require.NoError(t, os.Remove(keyFile))
	assert.Same(t, renewed, pair.get())
}
