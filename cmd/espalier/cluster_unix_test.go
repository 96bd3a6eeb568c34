//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestClusterInterrupted: a signal ends the command while a server keeps it waiting.
func TestClusterInterrupted(t *testing.T) {
	asked := make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- true
		<-r.Context().Done()
	}))
	defer server.Close()
	dir := write(t, map[string]string{"kubeconfig": `{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: "` + server.URL + `"}}],
contexts: [{name: prod, context: {cluster: c}}]}`})
	cmd, stderr := startMain(t, "check", "--kubeconfig", filepath.Join(dir, "kubeconfig"), "--context", "prod", plan)
	select {
	case <-asked:
	case <-time.After(time.Minute):
		t.Fatal(stderr)
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	_ = cmd.Wait()
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok)
	assert.True(t, status.Signaled() && status.Signal() == syscall.SIGINT, "%v %s", cmd.ProcessState, stderr)
}
