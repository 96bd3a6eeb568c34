package projection_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/projection"
)

const widgets = "/apis/example.com/v1/namespaces/n/widgets"

// widgetRule keeps what most tests need.
var widgetRule = projection.Rule{Group: "example.com", Resource: "widgets", Keep: []string{"spec.keep", "spec.list[].name", "spec.names", "spec.map.*.v"}}

func newProjection(t testing.TB, opts projection.Options, rules ...projection.Rule) *projection.Projection {
	t.Helper()
	p, err := projection.New(opts, rules...)
	require.NoError(t, err)
	return p
}

// serve starts a server, and returns a client of it with a projection.
func serve(t testing.TB, p *projection.Projection, h http.HandlerFunc) (*http.Client, string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return &http.Client{Transport: p.Transport(s.Client().Transport)}, s.URL
}

// answer returns a handler that answers all requests with a text.
func answer(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	}
}

func get(t testing.TB, c *http.Client, url string) (string, *http.Response, error) {
	t.Helper()
	resp, err := c.Get(url)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), resp, err
}

const (
	full      = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","uid":"u","resourceVersion":"7","managedFields":[{"manager":"m"}]},"spec":{"keep":1,"drop":{"x":[1,2]},"list":[{"name":"l","drop":1}]},"status":{"drop":true}}`
	projected = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","uid":"u","resourceVersion":"7"},"spec":{"keep":1,"list":[{"name":"l"}]}}`
)

func TestReads(t *testing.T) {
	const status = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":"a"}}`
	const errorEvent = `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old","reason":"Expired","code":410}}`
	const bookmark = `{"type":"BOOKMARK","object":{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}`
	for name, test := range map[string]struct{ path, body, want string }{
		"object":             {widgets + "/a", full, projected},
		"status for object":  {widgets + "/a", status, status},
		"list":               {widgets, `{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"1","continue":"c","remainingItemCount":2},"items":[` + full + "," + full + "]}", `{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"1","continue":"c","remainingItemCount":2},"items":[` + projected + "," + projected + "]}"},
		"sorted list":        {widgets + "?watch=false&limit=500", `{"apiVersion":"example.com/v1","items":[` + full + `],"kind":"WidgetList","metadata":{}}` + "\n", `{"apiVersion":"example.com/v1","items":[` + projected + `],"kind":"WidgetList","metadata":{}}`},
		"untyped items":      {widgets + "?watch=0", `{"items":[{"metadata":{"name":"x"},"status":1},null]}`, `{"items":[{"metadata":{"name":"x"}},null]}`},
		"no items":           {widgets, `{"items":[]}`, `{"items":[]}`},
		"null items":         {widgets, `{"items":null}`, `{"items":null}`},
		"other list":         {widgets, status, status},
		"table in list":      {widgets, `{"kind":"Table","columnDefinitions":[{"a":1}],"rows":[{"cells":[1]}]}`, `{"kind":"Table","columnDefinitions":[{"a":1}],"rows":[{"cells":[1]}]}`},
		"all namespaces":     {"/apis/example.com/v2/widgets", `{"items":[` + full + `]}`, `{"items":[` + projected + `]}`},
		"prefix":             {"/k8s/clusters/c-1/apis/example.com/v2/widgets", `{"items":[` + full + `]}`, `{"items":[` + projected + `]}`},
		"prefix with api":    {"/api/clusters/c/apis/example.com/v2/widgets", `{"items":[` + full + `]}`, `{"items":[` + projected + `]}`},
		"watch":              {widgets + "?watch=true", `{"type":"ADDED","object":` + full + "}\n" + `{"type":"MODIFIED","object":` + full + "}\n" + bookmark + "\n" + errorEvent + "\n", `{"type":"ADDED","object":` + projected + "}\n" + `{"type":"MODIFIED","object":` + projected + "}\n" + bookmark + "\n" + errorEvent + "\n"},
		"watch, type last":   {widgets + "?watch", `{"object":` + full + `,"type":"DELETED"}` + errorEvent, `{"object":` + projected + `,"type":"DELETED"}` + "\n" + errorEvent + "\n"},
		"watch of one":       {widgets + "?watch=TRUE&fieldSelector=metadata.name%3Da", "", ""},
		"object, not watch":  {widgets + "/a?watch=true", full, projected},
		"unknown event":      {widgets + "?watch=1", `{"type":"NEW","object":` + full + `}`, `{"type":"NEW","object":` + full + "}\n"},
		"other resource":     {"/apis/example.com/v1/gadgets", `{"items":[` + full + `]}`, `{"items":[` + full + `]}`},
		"other group":        {"/api/v1/widgets", `{"items":[` + full + `]}`, `{"items":[` + full + `]}`},
		"subresource":        {widgets + "/a/scale", full, full},
		"proxy":              {"/api/v1/namespaces/n/services/s/proxy" + widgets, full, full},
		"two watches":        {widgets + "?watch=0&watch=1", full, full},
		"slash at the end":   {widgets + "/", full, full},
		"empty element":      {"/apis//example.com/v1/widgets", full, full},
		"escaped slash":      {"/apis/example.com%2Fv1/widgets", full, full},
		"old watch":          {"/apis/example.com/v1/watch/widgets", full, full},
		"name with an index": {widgets + "/a:b", full, projected},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProjection(t, projection.Options{}, widgetRule)
			c, url := serve(t, p, answer(test.body))
			got, _, err := get(t, c, url+test.path)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestBroken(t *testing.T) {
	for name, test := range map[string]struct {
		path, body, err string
	}{
		"cut list":          {widgets, `{"items":[` + full, "unexpected EOF"},
		"cut object":        {widgets + "/a", full[:40], "unexpected EOF"},
		"cut event":         {widgets + "?watch=1", `{"type":"ADDED","object":` + full, "unexpected EOF"},
		"garbage after":     {widgets, `{"items":[]} {}`, "malformed"},
		"items no list":     {widgets, `{"items":{"a":` + full + `}}`, "malformed"},
		"item no object":    {widgets, `{"items":[` + full + `,1]}`, "malformed"},
		"item a list":       {widgets, `{"items":[[` + full + `]]}`, "malformed"},
		"list no object":    {widgets, `[` + full + `]`, "malformed"},
		"object no object":  {widgets + "/a", `[` + full + `]`, "malformed"},
		"two objects":       {widgets + "/a", full + full, "malformed"},
		"not JSON":          {widgets, `{"items":[` + full + `,}`, "malformed"},
		"event no object":   {widgets + "?watch=1", `[1]`, "malformed"},
		"event of a number": {widgets + "?watch=1", `{"type":"ADDED","object":1}`, "malformed"},
		"event no type":     {widgets + "?watch=1", `{"object":` + full + `}`, "no type"},
		"names twice":       {widgets, `{"items":[{"spec":{"keep":1,"keep":2}}]}`, "malformed"},
		"lists twice":       {widgets, `{"items":[],"items":[` + full + `]}`, "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProjection(t, projection.Options{}, widgetRule)
			c, url := serve(t, p, answer(test.body))
			got, _, err := get(t, c, url+test.path)
			require.ErrorContains(t, err, test.err)
			assert.False(t, json.Valid([]byte(got)), got)
			assert.Equal(t, uint64(1), p.Counts().Failed)
			if test.err == "unexpected EOF" {
				assert.Equal(t, io.ErrUnexpectedEOF, err, "client-go compares by identity")
			}
		})
	}
}
