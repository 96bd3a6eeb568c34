package caddyespalier

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExamples runs the configurations of examples/caddy as they are written, but for the ports.
func TestExamples(t *testing.T) {
	u := startUpstream(t)
	t.Chdir("..")
	s := &site{t: t, port: freePort(t)}
	s.url = fmt.Sprintf("http://127.0.0.1:%d", s.port)
	t.Setenv("LISTEN", s.url)
	t.Setenv("UPSTREAM", strings.TrimPrefix(u.URL, "http://"))
	t.Cleanup(func() { assert.NoError(t, caddy.Stop()) })
	read := func(name string) []byte {
		text, err := os.ReadFile("examples/caddy/" + name)
		require.NoError(t, err)
		return regexp.MustCompile(`localhost:2019`).ReplaceAll(text, fmt.Appendf(nil, "localhost:%d", freePort(t)))
	}
	config, warnings, err := caddyconfig.GetAdapter("caddyfile").Adapt(read("Caddyfile"), nil)
	require.NoError(t, err)
	assert.Empty(t, warnings, "it is formatted as caddy fmt does")
	require.NoError(t, caddy.Load(config, true))
	response, text := s.post(plansPath, plan(`"x":1`))
	assert.Equal(t, http.StatusCreated, response.StatusCode)
	assert.NotContains(t, text, `"x"`)
	response, text = s.post(plansPath+"?fieldValidation=Strict", plan(`"x":1`))
	assert.Equal(t, http.StatusBadRequest, response.StatusCode)
	assert.Equal(t, "espalier", response.Header.Get("X-Refused-By"))
	assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
	assert.True(t, strings.HasPrefix(text, `{"kind":"Status"`), text)
	t.Setenv("UPSTREAM", "127.0.0.1:1")
	config, _, err = caddyconfig.GetAdapter("caddyfile").Adapt(read("Caddyfile"), nil)
	require.NoError(t, err)
	require.NoError(t, caddy.Load(config, true))
	response, text = s.post(plansPath, plan(""))
	assert.Equal(t, http.StatusBadGateway, response.StatusCode)
	assert.Empty(t, text)
	assert.Empty(t, response.Header.Get("X-Refused-By"), "this error is another's")

	config = []byte(strings.NewReplacer("127.0.0.1:8080", fmt.Sprintf("127.0.0.1:%d", s.port), "127.0.0.1:8001", strings.TrimPrefix(u.URL, "http://")).
		Replace(string(read("caddy.json"))))
	require.NoError(t, caddy.Load(config, true))
	response, text = s.post(plansPath, plan(`"x":1`))
	assert.Equal(t, http.StatusCreated, response.StatusCode)
	assert.NotContains(t, text, `"x"`)
	response, text = s.post(plansPath+"?fieldValidation=Strict", plan(`"x":1`))
	assert.Equal(t, http.StatusBadRequest, response.StatusCode)
	assert.Empty(t, response.Header.Get("X-Refused-By"))
	assert.True(t, strings.HasPrefix(text, `{"kind":"Status"`), text)
}
