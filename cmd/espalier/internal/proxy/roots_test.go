package proxy

import (
	"crypto/x509"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFallbackRoots: without certificates of the system, those of the program count. They are set
// once, as Go allows.
func TestFallbackRoots(t *testing.T) {
	t.Setenv("SSL_CERT_FILE", "/nonexistent")
	t.Setenv("SSL_CERT_DIR", "/nonexistent")
	require.NoError(t, setFallbackRoots())
	require.NoError(t, setFallbackRoots())
	assert.Panics(t, func() { x509.SetFallbackRoots(x509.NewCertPool()) }, "they are set")
}
