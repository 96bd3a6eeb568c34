package middleware

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// TestBrokenResourceTakesNoTurns holds that requests for a resource whose options make no sense panic, and do not leave the
// others without turns to decode in.
func TestBrokenResourceTakesNoTurns(t *testing.T) {
	program, err := schema.Compile(&schema.Structural{Type: "object"})
	require.NoError(t, err)
	broken := &Resource{Program: program, Decoder: []decoder.Option{nil}}
	h := New(func(*http.Request, Peek) (*Resource, error) { return broken, nil }, Options{})(http.NotFoundHandler()).(*handler)
	free := h.held.small.free
	for range free + 1 {
		assert.Panics(t, func() {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader("{}")))
		})
	}
	assert.Equal(t, free, h.held.small.free)
	assert.Zero(t, h.held.inUse())
}
