package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

func TestExtProcArguments(t *testing.T) {
	crd := "../../testdata/quickstart/crd.yaml"
	for want, args := range map[string][]string{
		`required flag(s) "crd" not set`:                  {},
		"limits must be greater":                          {"--crd", crd, "--max-held-bytes", "0"},
		"timeouts must be greater":                        {"--crd", crd, "--body-timeout", "0s"},
		"must not be less than 0":                         {"--crd", crd, "--reload-interval", "-1s"},
		"must be path, kind":                              {"--crd", crd, "--find", "x"},
		"[tls-cert tls-key] are set they must all be set": {"--crd", crd, "--tls-cert", "x"},
		"unknown flag: --upstream":                        {"--crd", crd, "--upstream", "http://x"},
		"unknown command":                                 {"--crd", crd, "argument"},
	} {
		var stderr strings.Builder
		assert.Equal(t, command.ExitUsage, command.Run(append([]string{"ext-proc"}, args...), nil, io.Discard, &stderr), want)
		assert.Contains(t, stderr.String(), want)
	}
	for want, args := range map[string][]string{
		"no such file":                 {"--crd", "none.yaml"},
		"there are no custom resource": {"--crd", "../../testdata/quickstart/backupplan.yaml"},
		"--tls-cert, --tls-key: ":      {"--crd", crd, "--tls-cert", "none", "--tls-key", "none"},
		"listen tcp: ":                 {"--crd", crd, "--listen", "127.0.0.1:99999"},
		"listen tcp: address 99999":    {"--crd", crd, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:99999"},
	} {
		var stderr strings.Builder
		assert.Equal(t, command.ExitInput, command.Run(append([]string{"ext-proc"}, args...), nil, io.Discard, &stderr), want)
		assert.Contains(t, stderr.String(), want)
	}
}
