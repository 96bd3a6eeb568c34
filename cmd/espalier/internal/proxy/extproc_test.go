package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"net/http"
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

// field returns a field of bytes of a message of protobuf.
func field(number byte, text string) string {
	return string(binary.AppendUvarint([]byte{number<<3 | 2}, uint64(len(text)))) + text
}

// message returns a message of gRPC.
func message(text string) string {
	return string(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text)))) + text
}

// extProcCall returns what Envoy sends of a POST in mode BUFFERED, before the response. Module extproc
// has the tests that speak through Envoy's generated code.
func extProcCall(target, body string) string {
	var headers string
	for _, h := range [][2]string{{":method", "POST"}, {":path", target}, {"content-type", "application/json"}} {
		headers += field(1, field(1, h[0])+field(3, h[1]))
	}
	const buffered, isLast = "\x08\x02", "\x10\x01"
	return message(field(2, field(1, headers))+field(11, buffered)) + message(field(4, field(1, body)+isLast))
}

// startExtProc runs an external processor. It returns a client and the addresses.
func startExtProc(t *testing.T, pool *x509.CertPool, crd string, args ...string) (client *http.Client, url, admin string, stop func() string) {
	c := NewExtProc()
	cmd := &cobra.Command{}
	c.AddFlags(cmd)
	require.NoError(t, cmd.ParseFlags(append([]string{"--crd", crd, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}, args...)))
	require.NoError(t, c.Check())
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := c.Run(ctx, in)
		in.Close()
		ended <- err
	}()
	lines := bufio.NewReader(out)
	address := func(pattern string) string {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		found := regexp.MustCompile(pattern).FindStringSubmatch(line)
		require.NotNil(t, found, line)
		return found[1]
	}
	admin = "http://" + address(`health and metrics on (\S+)`)
	url = "http://" + address(`listening on (\S+) for Envoy`)
	transport := &http.Transport{Protocols: new(http.Protocols), TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	transport.Protocols.SetHTTP2(true)
	transport.Protocols.SetUnencryptedHTTP2(true)
	if c.tlsCert != "" {
		url = strings.Replace(url, "http:", "https:", 1)
	}
	// What is logged is read all the time: whoever logs waits for that, and so would a reload.
	logged := make(chan string, 1)
	go func() {
		log, _ := io.ReadAll(lines)
		logged <- string(log)
	}()
	stop = func() string {
		transport.CloseIdleConnections()
		cancel()
		assert.NoError(t, <-ended)
		return <-logged
	}
	return &http.Client{Transport: transport}, url, admin, stop
}

// call sends a call of gRPC, and returns its status and what came back.
func callGRPC(t *testing.T, client *http.Client, url, method, text string) (status, answer string) {
	r, err := http.NewRequest(http.MethodPost, url+method, strings.NewReader(text))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/grpc")
	res, err := client.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.Trailer.Get("Grpc-Status"), string(body)
}

// TestExtProc holds that the command serves what module extproc does, with TLS and without, and with
// health, metrics, reloads and an end.
func TestExtProc(t *testing.T) {
	const process, check = "/envoy.service.ext_proc.v3.ExternalProcessor/Process", "/grpc.health.v1.Health/Check"
	text, err := os.ReadFile("../../../../testdata/quickstart/crd.yaml")
	require.NoError(t, err)
	crd := filepath.Join(t.TempDir(), "crd.yaml")
	require.NoError(t, os.WriteFile(crd, text, 0o600))
	cert, key, pool := writeCertificate(t)
	object := `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","metadata":{"name":"a"},"spec":{"zz":1}}`
	for name, args := range map[string][]string{"plain": nil, "TLS": {"--tls-cert", cert, "--tls-key", key}, "stream": {"--stream", "--find", "kind"}} {
		t.Run(name, func(t *testing.T) {
			client, url, admin, stop := startExtProc(t, pool, crd, append(args, "--reload-interval", "10ms")...)
			status, answer := callGRPC(t, client, url, process, extProcCall(plansPath, object))
			assert.Equal(t, "0", status)
			assert.Contains(t, answer, `"monthly":12`)
			assert.NotContains(t, answer, "zz")
			status, answer = callGRPC(t, client, url, process, extProcCall(plansPath+"?fieldValidation=Strict", object))
			assert.Equal(t, "0", status)
			assert.Contains(t, answer, `unknown field \"spec.zz\"`)
			status, answer = callGRPC(t, client, url, check, message(""))
			assert.Equal(t, "0", status)
			assert.Equal(t, message("\x08\x01"), answer)
			get := func(path string) string {
				_, text := do(t, http.DefaultClient, http.MethodGet, admin+path, "", "")
				return text
			}
			metrics := get("/metrics")
			assert.Contains(t, metrics, `espalier_bodies_total{api_version="backup.example.com/v1",kind="BackupPlan",field_validation="Strict",result="400"} 1`)
			assert.Contains(t, get("/readyz"), `"kind":"BackupPlan"`)

			require.NoError(t, os.WriteFile(crd, bytes.ReplaceAll(text, []byte("default: 12"), []byte("default: 13")), 0o600))
			require.Eventually(t, func() bool {
				_, answer := callGRPC(t, client, url, process, extProcCall(plansPath, object))
				return strings.Contains(answer, `"monthly":13`)
			}, time.Minute, time.Millisecond)
			require.NoError(t, os.WriteFile(crd, text, 0o600))
			assert.Contains(t, stop(), "shutting down")
		})
	}
}
