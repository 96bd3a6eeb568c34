package e2e

import (
	"bufio"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	servertesting "k8s.io/apiextensions-apiserver/pkg/cmd/server/testing"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/client-go/rest"
)

// startEtcd starts an etcd on free ports, and returns the URL for clients.
func startEtcd(t *testing.T) string {
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c := embed.NewConfig()
	c.Dir = t.TempDir()
	c.UnsafeNoFsync = true
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{anyPort}, []url.URL{anyPort}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{anyPort}, []url.URL{anyPort}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	e, err := embed.StartEtcd(c)
	require.NoError(t, err)
	t.Cleanup(e.Close)
	select {
	case <-e.Server.ReadyNotify():
	case <-time.After(time.Minute):
		t.Fatal("etcd is not ready after a minute")
	}
	return "http://" + e.Clients[0].Addr().String()
}

// A logger keeps the messages of the starting server out of the test's output.
type logger struct{ *testing.T }

func (logger) Logf(string, ...any) {}

// startServer starts an apiextensions-apiserver that needs no kube-apiserver. It returns the configuration for clients, a
// file with the certificate of the server, and its configuration of etcd.
func startServer(t *testing.T, flags ...string) (config *rest.Config, ca string, storage generic.RESTOptionsGetter) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig") // its kube-apiserver is never asked
	require.NoError(t, os.WriteFile(kubeconfig, []byte(`
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: none, user: {}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
current-context: none
`), 0o600))
	server, err := servertesting.StartTestServer(logger{t}, nil, append([]string{
		"--etcd-servers", startEtcd(t),
		"--etcd-prefix", "/espalier",
		"--authentication-skip-lookup",
		"--authentication-kubeconfig", kubeconfig,
		"--authorization-kubeconfig", kubeconfig,
		"--kubeconfig", kubeconfig,
		"--enable-priority-and-fairness=false",
		"--disable-admission-plugins", strings.Join(admissionPlugins(), ","),
	}, flags...), nil)
	require.NoError(t, err)
	t.Cleanup(server.TearDownFn)
	config = rest.CopyConfig(server.ClientConfig)
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	return config, filepath.Join(server.TmpDir, "apiserver.crt"), server.CompletedConfig.ExtraConfig.CRDRESTOptionsGetter
}

// admissionPlugins are the plugins that are on by default and ask a kube-apiserver.
func admissionPlugins() []string {
	o := options.NewCustomResourceDefinitionsServerOptions(io.Discard, io.Discard)
	return o.RecommendedOptions.Admission.RecommendedPluginOrder
}

// startProxy starts espalier proxy in front of the server and returns its URL.
func startProxy(t *testing.T, command string, config *rest.Config, ca, crd string, flags ...string) string {
	args := append([]string{"proxy", "--upstream", config.Host, "--upstream-ca", ca, "--crd", crd,
		"--listen", "127.0.0.1:0", "--admin-listen", ""}, flags...)
	cmd := exec.Command(command, args...)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(stderr)
	listening := regexp.MustCompile(`listening on ([^ ,]+), upstream `)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return "http://" + m[1]
		}
	}
	t.Fatalf("the proxy has ended: %s", strings.Join(said, "\n"))
	return ""
}

// startWatching starts a server that passes requests on, with the credentials of the client. The
// function counts the server's answers to requests that create something, by their codes.
func startWatching(t *testing.T, config *rest.Config) (watched *rest.Config, seen func() map[int]int) {
	host, err := url.Parse(config.Host)
	require.NoError(t, err)
	transport, err := rest.TransportFor(config)
	require.NoError(t, err)
	var mu sync.Mutex
	codes := map[int]int{}
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(host) },
		Transport: transport,
		ModifyResponse: func(r *http.Response) error {
			if r.Request.Method == http.MethodPost {
				mu.Lock()
				defer mu.Unlock()
				codes[r.StatusCode]++
			}
			return nil
		},
	})
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}, func() map[int]int {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(codes)
	}
}

// buildCommand builds the command of the root module.
func buildCommand(t *testing.T) string {
	to := filepath.Join(t.TempDir(), "espalier")
	build := exec.Command("go", "build", "-o", to, "./cmd/espalier")
	build.Dir = ".."
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return to
}
