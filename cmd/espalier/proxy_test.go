package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

func TestProxyArguments(t *testing.T) {
	crd := "../../testdata/quickstart/crd.yaml"
	for want, args := range map[string][]string{
		`required flag(s) "upstream" not set`:             {"--crd", crd},
		`required flag(s) "crd" not set`:                  {"--upstream", "http://x"},
		`not "ftp://x"`:                                   {"--crd", crd, "--upstream", "ftp://x"},
		`not "x:1"`:                                       {"--crd", crd, "--upstream", "x:1"},
		"without user, query and fragment":                {"--crd", crd, "--upstream", "http://a:b@x"},
		"limits must be greater":                          {"--crd", crd, "--upstream", "http://x", "--max-bytes", "0"},
		"timeouts must be greater":                        {"--crd", crd, "--upstream", "http://x", "--body-timeout", "0s"},
		"--reload-interval must not":                      {"--crd", crd, "--upstream", "http://x", "--reload-interval", "-1s"},
		"must be check, pass":                             {"--crd", crd, "--upstream", "http://x", "--patches", "x"},
		"[tls-cert tls-key] are set they must all be set": {"--crd", crd, "--upstream", "http://x", "--tls-cert", "x"},
		"unknown command":                                 {"--crd", crd, "--upstream", "http://x", "argument"},
	} {
		var stderr strings.Builder
		assert.Equal(t, command.ExitUsage, command.Run(append([]string{"proxy"}, args...), nil, io.Discard, &stderr), want)
		assert.Contains(t, stderr.String(), want)
	}
	for want, args := range map[string][]string{
		"no such file":                      {"--crd", "none.yaml"},
		"there are no custom resource":      {"--crd", "../../testdata/quickstart/backupplan.yaml"},
		"backupplan.yaml: there are no":     {"--crd", crd, "--crd", "../../testdata/quickstart/backupplan.yaml", "--listen", "127.0.0.1:99999"},
		"--upstream-ca: ":                   {"--crd", crd, "--upstream-ca", "none.pem"},
		"there is no certificate in " + crd: {"--crd", crd, "--upstream-ca", crd},
		"--tls-cert, --tls-key: ":           {"--crd", crd, "--tls-cert", "none", "--tls-key", "none"},
		"--upstream-cert, --upstream-key: ": {"--crd", crd, "--upstream-cert", "none", "--upstream-key", "none"},
		"listen tcp: ":                      {"--crd", crd, "--listen", "127.0.0.1:99999"},
		"listen tcp: address 99999":         {"--crd", crd, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:99999"},
	} {
		var stderr strings.Builder
		assert.Equal(t, command.ExitInput, command.Run(append([]string{"proxy", "--upstream", "http://x"}, args...), nil, io.Discard, &stderr), want)
		assert.Contains(t, stderr.String(), want)
	}
}

// TestExampleManifests checks the manifests for the proxy as anybody's.
func TestExampleManifests(t *testing.T) {
	var stdout, stderr strings.Builder
	code := command.Run([]string{"check", "../../examples/proxy"}, nil, &stdout, &stderr)
	assert.Zero(t, code, "%s%s", &stdout, &stderr)
	assert.Contains(t, stdout.String()+stderr.String(), "9 objects in 3 files: nothing found")
}
