package proxy

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
	"k8s.io/apimachinery/pkg/api/resource"
)

const examplesDir = "../../../../examples/proxy/"

// node is an object of YAML without a schema. Its methods fail softly, so that assertions say what is
// missing.
type node map[string]any

func (n node) at(path ...string) any {
	var v any = map[string]any(n)
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (n node) in(path ...string) node {
	m, _ := n.at(path...).(map[string]any)
	return m
}

func (n node) list(path ...string) (all []node) {
	items, _ := n.at(path...).([]any)
	for _, item := range items {
		m, _ := item.(map[string]any)
		all = append(all, m)
	}
	return all
}

func (n node) texts(path ...string) (all []string) {
	items, _ := n.at(path...).([]any)
	for _, item := range items {
		all = append(all, fmt.Sprint(item))
	}
	return all
}

// manifests returns the objects of a file.
func manifests(t *testing.T, name string) (all []node) {
	text, err := os.ReadFile(examplesDir + name)
	require.NoError(t, err)
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var n map[string]any
		if err := d.Decode(&n); err == io.EOF {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, n)
	}
}

// ofKind returns the objects of a kind.
func ofKind(all []node, kind string) []node {
	return slices.DeleteFunc(slices.Clone(all), func(n node) bool { return n.at("kind") != kind })
}

// proxyContainer returns the container of the proxy, and the pod.
func proxyContainer(t *testing.T, name string) (container, pod node) {
	deployments := ofKind(manifests(t, name), "Deployment")
	require.Len(t, deployments, 1)
	pod = deployments[0].in("spec", "template", "spec")
	for _, c := range slices.Concat(pod.list("containers"), pod.list("initContainers")) {
		assertLeastPrivileges(t, c)
		if c.at("name") == "espalier" {
			container = c
		}
	}
	require.NotNil(t, container)
	return container, pod
}

func assertLeastPrivileges(t *testing.T, container node) {
	c := container.in("securityContext")
	assert.Equal(t, false, c.at("allowPrivilegeEscalation"))
	assert.Equal(t, true, c.at("readOnlyRootFilesystem"))
	assert.Equal(t, []string{"ALL"}, c.texts("capabilities", "drop"))
	assert.Nil(t, c.at("capabilities", "add"))
	for _, what := range []string{"requests", "limits"} {
		assert.NotNil(t, container.at("resources", what, "memory"), what)
	}
	for _, m := range container.list("volumeMounts") {
		assert.Equal(t, true, m.at("readOnly"), m)
	}
}

// bytesOf returns a quantity of Kubernetes, or of GOMEMLIMIT, in bytes.
func bytesOf(t *testing.T, quantity string) int64 {
	q, err := resource.ParseQuantity(strings.TrimSuffix(quantity, "B"))
	require.NoError(t, err)
	return q.Value()
}

// assertMemory asserts that the budget, what Go keeps to, and what the system grants fit each other.
func assertMemory(t *testing.T, c *Config, goLimit, limit int64) {
	assert.GreaterOrEqual(t, goLimit, 2*c.options.MaxHeldBytes, "garbage takes room as well")
	assert.GreaterOrEqual(t, limit, goLimit*11/10)
}

// runAs runs a proxy with the arguments of an example in front of a server, with the definitions of
// definitions.yaml. What is about the machine is replaced: addresses and files.
// It returns the proxy, and the certificate that it has if the arguments ask for one.
func runAs(t *testing.T, upstream string, args []string) (*proxied, *x509.CertPool) {
	crds := t.TempDir()
	for name, text := range ofKind(manifests(t, "definitions.yaml"), "ConfigMap")[0].in("data") {
		require.NoError(t, os.WriteFile(filepath.Join(crds, name), []byte(text.(string)), 0o600))
	}
	certFile, keyFile, pool := writeCertificate(t)
	args = slices.Clone(args)
	for i, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		for flag, value := range map[string]string{
			"--upstream": upstream, "--crd": crds, "--listen": "127.0.0.1:0", "--admin-listen": "127.0.0.1:0",
			"--tls-cert": certFile, "--tls-key": keyFile, "--upstream-ca": certFile,
		} {
			if name == flag {
				args[i] = flag + "=" + value
			}
		}
	}
	return startProxyWith(t, args...), pool
}

// assertPrunes asserts that a proxy knows the definition of the example, and no other group but
// those that it may pass.
func assertPrunes(t *testing.T, p *proxied, client *http.Client) {
	response, text := do(t, client, "POST", p.url+plansPath, "application/json", `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","spec":{"schedul":"x"}}`)
	assert.Equal(t, http.StatusOK, response.StatusCode, text)
	assert.Equal(t, `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","spec":{"retention":7}}`, text)
	assert.Equal(t, 1, ready(t, p).Definitions)
}

// TestManifests runs the proxies of the manifests, and holds how little they may do.
func TestManifests(t *testing.T) {
	upstream := echoing(t)
	for _, name := range []string{"gateway.yaml", "sidecar.yaml"} {
		t.Run(name, func(t *testing.T) {
			container, pod := proxyContainer(t, name)
			assert.Equal(t, false, pod.at("automountServiceAccountToken"))
			assert.Equal(t, true, pod.at("securityContext", "runAsNonRoot"))
			assert.Equal(t, "RuntimeDefault", pod.at("securityContext", "seccompProfile", "type"))
			for _, dangerous := range []string{"hostNetwork", "hostPID", "hostIPC"} {
				assert.Nil(t, pod.at(dangerous))
			}

			args := container.texts("args")
			require.Equal(t, "proxy", args[0])
			c, _ := proxyArgs(t, args[1:]...)
			assertMemory(t, c, bytesOf(t, fmt.Sprint(container.list("env")[0].at("value"))), bytesOf(t, fmt.Sprint(container.at("resources", "limits", "memory"))))
			ports := map[string]string{}
			for _, p := range container.list("ports") {
				ports[fmt.Sprint(p.at("name"))] = ":" + fmt.Sprint(p.at("containerPort"))
			}
			assert.Equal(t, c.adminListen, ports["admin"])
			assert.Equal(t, c.listen, ports[map[bool]string{true: "https", false: "http"}[c.tlsCert != ""]])
			assert.Len(t, ports, 2)
			grace := pod.at("terminationGracePeriodSeconds").(int)
			sleep := container.at("lifecycle", "preStop", "sleep", "seconds").(int)
			assert.Greater(t, float64(grace-sleep), c.shutdownTimeout.Seconds())

			p, pool := runAs(t, upstream.URL, args[1:])
			client := http.DefaultClient
			if c.tlsCert != "" {
				client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
				defer client.CloseIdleConnections()
			}
			assertPrunes(t, p, client)
			for probe, path := range map[string]string{"livenessProbe": "/healthz", "readinessProbe": "/readyz"} {
				assert.Equal(t, path, container.at(probe, "httpGet", "path"))
				assert.Equal(t, "admin", container.at(probe, "httpGet", "port"))
				response, _ := do(t, http.DefaultClient, "GET", p.admin+path, "", "")
				assert.Equal(t, http.StatusOK, response.StatusCode)
			}
		})
	}
	// Nothing reaches the gateway or leaves it but what a policy says.
	for _, policy := range ofKind(manifests(t, "gateway.yaml"), "NetworkPolicy")[:1] {
		assert.Equal(t, []string{"Ingress", "Egress"}, policy.texts("spec", "policyTypes"))
		for _, rule := range slices.Concat(policy.list("spec", "ingress"), policy.list("spec", "egress")) {
			assert.NotEmpty(t, rule.list("ports"))
			assert.NotEmpty(t, slices.Concat(rule.list("from"), rule.list("to")))
		}
		for _, rule := range policy.list("spec", "egress") {
			for _, to := range rule.list("to") {
				assert.NotEmpty(t, to.in("podSelector", "matchLabels"), "not every Pod of a namespace")
			}
		}
	}
}

// TestUnit runs the proxy of the systemd unit, and holds how little it may do.
func TestUnit(t *testing.T) {
	text, err := os.ReadFile(examplesDir + "espalier-proxy.service")
	require.NoError(t, err)
	settings := map[string][]string{}
	joined := regexp.MustCompile(`\\\n *`).ReplaceAllString(string(text), "")
	for line := range strings.Lines(joined) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			settings[name] = append(settings[name], value)
		}
	}
	for name, value := range map[string]string{
		"DynamicUser": "yes", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "", "AmbientCapabilities": "",
		"ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateUsers": "yes", "IPAddressDeny": "any", "IPAddressAllow": "localhost",
		"PrivateDevices":        "yes",
		"ProtectKernelTunables": "yes", "ProtectKernelModules": "yes", "ProtectControlGroups": "yes",
		"RestrictAddressFamilies": "AF_INET AF_INET6", "RestrictNamespaces": "yes", "MemoryDenyWriteExecute": "yes",
		"LockPersonality": "yes", "ExecReload": "/bin/kill -HUP $MAINPID", "Type": "exec",
	} {
		assert.Equal(t, []string{value}, settings[name], name)
	}
	assert.Equal(t, []string{"@system-service", "~@privileged @resources"}, settings["SystemCallFilter"])

	words := strings.Fields(settings["ExecStart"][0])
	require.Equal(t, []string{"/usr/local/bin/espalier", "proxy"}, words[:2])
	var args []string
	for i := 2; i+1 < len(words); i += 2 {
		args = append(args, words[i]+"="+words[i+1])
	}
	c, _ := proxyArgs(t, args...)
	assertMemory(t, c, bytesOf(t, strings.TrimPrefix(settings["Environment"][0], "GOMEMLIMIT=")), bytesOf(t, settings["MemoryMax"][0]))
	stop, err := time.ParseDuration(settings["TimeoutStopSec"][0])
	require.NoError(t, err)
	assert.Greater(t, stop, c.shutdownTimeout)
	p, _ := runAs(t, echoing(t).URL, args)
	assertPrunes(t, p, http.DefaultClient)

	if path, err := exec.LookPath("systemd-analyze"); err == nil {
		out, err := exec.Command(path, "verify", examplesDir+"espalier-proxy.service").CombinedOutput()
		if err != nil && !bytes.Contains(out, []byte("not executable")) { // there is no such command here
			assert.NoError(t, err, "%s", out)
		}
	}
}
