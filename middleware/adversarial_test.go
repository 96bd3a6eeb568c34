package middleware_test

import (
	"net/http"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/middleware"
)

// TestForgedWarnings has the adversarial inputs 63 and 64: no name ends the header that reports it,
// starts another header, or hides itself; nor does it in an answer.
func TestForgedWarnings(t *testing.T) {
	for name, want := range map[string]string{
		`x\r\nWarning: 299\u001b[31m`: `299 - "unknown field \"spec[\"x\\r\\nWarning: 299\\x1b[31m\"]\""`,
		`x\u202ey`:                    `299 - "unknown field \"spec[\"x\\u202ey\"]\""`,
		`x\u2028y`:                    `299 - "unknown field \"spec[\"x\\u2028y\"]\""`,
	} {
		body := foo(`,"spec":{"` + name + `":1}`)
		w, got := send(t, byPath(t), middleware.Options{}, post(foosPath, "", body))
		require.NotNil(t, got)
		assert.Equal(t, foo(`,"spec":{"size":1}`), got.body)
		require.Equal(t, []string{want}, w.Header().Values("Warning"))

		w, got = send(t, byPath(t), middleware.Options{}, post(foosPath+"?fieldValidation=Strict", "", body))
		for _, r := range refused(t, w, got, http.StatusBadRequest).Message {
			assert.True(t, unicode.IsGraphic(r), "%q", r)
		}
	}
}
