package projection_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/projection"
)

// send sends a write, and returns the message of the refusal, or "" and what has arrived.
func send(t *testing.T, rule projection.Rule, method, path, contentType, body string) (message, arrived string) {
	t.Helper()
	p := newProjection(t, projection.Options{MaxObjectBytes: 2000}, rule)
	c, url := serve(t, p, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		arrived = string(text)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"Widget"}`)
	})
	r, err := http.NewRequest(method, url+path, bytes.NewReader([]byte(body)))
	require.NoError(t, err)
	r.Header.Set("Content-Type", contentType)
	resp, err := c.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	var status struct {
		Kind, APIVersion, Status, Message, Reason string
		Code                                      int
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&status))
	if resp.StatusCode == http.StatusOK {
		assert.Equal(t, uint64(0), p.Counts().Refused)
		return "", arrived
	}
	assert.Equal(t, http.StatusUnprocessableEntity, resp.StatusCode)
	assert.Equal(t, []string{"Status", "v1", "Failure", "Invalid"}, []string{status.Kind, status.APIVersion, status.Status, status.Reason})
	assert.Equal(t, 422, status.Code)
	assert.Equal(t, uint64(1), p.Counts().Refused)
	assert.Empty(t, arrived)
	message, ok := strings.CutPrefix(status.Message, method+" refused by the projection of this client, not by the server: ")
	assert.True(t, ok, status.Message)
	return message, ""
}

func TestWrites(t *testing.T) {
	const made = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","creationTimestamp":null,"labels":{"l":"v"}},"spec":{"drop":1,"list":[{"name":"l"}]}}`
	const jsonType, apply = "application/json", "application/apply-patch+yaml"
	withStatus := widgetRule
	withStatus.Keep = append([]string{"status"}, widgetRule.Keep...)
	all := widgetRule
	all.Keep = []string{"*"}
	inPart := widgetRule
	inPart.Keep = append([]string{"status.phase"}, widgetRule.Keep...)
	for name, test := range map[string]struct {
		method, path, contentType, body, refused string
		rule                                     projection.Rule
	}{
		"update":                {"PUT", widgets + "/a", jsonType, full, "send a patch", widgetRule},
		"update of another":     {"PUT", "/apis/example.com/v1/gadgets/a", jsonType, full, "", widgetRule},
		"update of its version": {"PUT", "/apis/example.com/v2/widgets/a", jsonType, projected, "send a patch", widgetRule},
		"update by odd path":    {"PUT", "/apis//example.com/v2/widgets/a", jsonType, projected, "read in several ways", widgetRule},
		"update with a slash":   {"PUT", widgets + "/a/", jsonType, projected, "read in several ways", widgetRule},
		"update with escapes":   {"PUT", "/apis/example.com/v1/%2577idgets/a", jsonType, projected, "read in several ways", widgetRule},
		"update with dots":      {"PUT", "/apis/example.com/v1/gadgets/../widgets/a", jsonType, projected, "read in several ways", widgetRule},
		"update with escaped /": {"PUT", "/apis/example.com/v1%2Fwidgets/a", jsonType, projected, "read in several ways", widgetRule},
		"update in capitals":    {"PUT", "/apis//example.com/v1/Widgets/a", jsonType, projected, "read in several ways", widgetRule},
		"odd, of another":       {"PUT", "/apis//example.com/v2/gadgets/a", jsonType, projected, "", widgetRule},
		"update of status":      {"PUT", widgets + "/a/status", jsonType, full, `by the path "status"`, widgetRule},
		"of status in part":     {"PUT", widgets + "/a/status", jsonType, full, `by the path "status"`, inPart},
		"of status kept":        {"PUT", widgets + "/a/status", jsonType, full, "", withStatus},
		"update of scale":       {"PUT", widgets + "/a/scale", jsonType, `{"kind":"Scale","metadata":{"uid":"u"}}`, "", widgetRule},
		"update of another sub": {"PUT", widgets + "/a/resize", jsonType, full, "subresource resize", withStatus},
		"update below a prefix": {"PUT", "/api/clusters/c" + widgets + "/a", jsonType, full, "send a patch", widgetRule},
		"update in lower case":  {"put", widgets + "/a", jsonType, full, "its method", widgetRule},
		"unknown method":        {"MERGE", widgets + "/a", jsonType, full, "its method", widgetRule},
		"unknown, of another":   {"MERGE", "/apis/example.com/v1/gadgets/a", jsonType, full, "", widgetRule},
		"unknown, by odd path":  {"MERGE", widgets + "/a/", jsonType, full, "read in several ways", widgetRule},
		"of status, all kept":   {"PUT", widgets + "/a/status", jsonType, full, "", all},
		"delete":                {"DELETE", widgets + "/a", jsonType, `{"preconditions":{"uid":"u"}}`, "", widgetRule},
		"create":                {"POST", widgets, jsonType, made, "", widgetRule},
		"create, no type":       {"POST", widgets, "", made, "", widgetRule},
		"create of read":        {"POST", widgets, jsonType, projected, "metadata.uid", widgetRule},
		"create of copy":        {"POST", widgets, "application/json; charset=utf-8", `{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"}}`, "metadata.creationTimestamp", widgetRule},
		"create of copy 2":      {"POST", widgets, jsonType, `{"metadata":{"uid":"","generation":2}}`, "metadata.generation", widgetRule},
		"create in protobuf":    {"POST", widgets, "application/vnd.kubernetes.protobuf", "k8s\x00", "only JSON", widgetRule},
		"create of no JSON":     {"POST", widgets, jsonType, `{`, "not JSON", widgetRule},
		"create, too large":     {"POST", widgets, jsonType, `{"a":"` + strings.Repeat("x", 2000) + `"}`, "more than 2000 bytes", widgetRule},
		"create, just enough":   {"POST", widgets, jsonType, `{"a":"` + strings.Repeat("x", 2000-len(`{"a":""}`)) + `"}`, "", widgetRule},
		"eviction":              {"POST", widgets + "/a/eviction", jsonType, `{"metadata":{"uid":"u"}}`, "", widgetRule},
		"apply":                 {"PATCH", widgets + "/a", apply, "metadata: {name: a}\nspec: {drop: 1}", "", widgetRule},
		"apply of read":         {"PATCH", widgets + "/a", apply, "metadata: {name: a, uid: u}\nspec: {keep: 1}", "metadata.uid", widgetRule},
		"apply of read, JSON":   {"PATCH", widgets + "/a/status", apply, projected, "metadata.uid", widgetRule},
		"apply of no YAML":      {"PATCH", widgets + "/a", apply, "{", "cannot be read", widgetRule},
		"apply in CBOR":         {"PATCH", widgets + "/a", "application/apply-patch+cbor", "x", "cannot be judged", widgetRule},
		"proxied":               {"PUT", "/api/v1/namespaces/n/services/s/proxy" + widgets + "/a", jsonType, full, "", widgetRule},
	} {
		t.Run(name, func(t *testing.T) {
			message, arrived := send(t, test.rule, test.method, test.path, test.contentType, test.body)
			if test.refused != "" {
				assert.Contains(t, message, test.refused)
				return
			}
			assert.Empty(t, message)
			assert.Equal(t, test.body, arrived)
		})
	}
}

func TestMergePatches(t *testing.T) {
	for patch, refused := range map[string]string{
		`{}`: "", `null`: "", `{"spec":{}}`: "", `{"spec":null}`: "",
		`{"spec":{"keep":2}}`:              "",
		`{"spec":{"keep":{"any":[1]}}}`:    "",
		`{"spec":{"drop":null}}`:           "",
		`{"spec":{"drop":1}}`:              "it sets spec.drop, which was projected away",
		`{"other":{}}`:                     "it sets other,",
		`{"spec":{"list":[{"name":"x"}]}}`: "it replaces spec.list, of which only a part",
		`{"spec":{"list":[]}}`:             "",
		`{"spec":{"list":null}}`:           "",
		`{"spec":{"list":{"a":1}}}`:        "it replaces spec.list",
		`{"spec":{"names":["a"]}}`:         "",
		`{"spec":1}`:                       "it replaces spec,",
		`{"spec":[]}`:                      "it replaces spec,",
		`{"spec":{"map":{"k":{"v":[1]}}}}`: "",
		`{"spec":{"map":{"k":{"w":1}}}}`:   "it sets spec.map.k.w",
		`{"spec":{"map":{"k":1}}}`:         "it replaces spec.map.k",
		`{"metadata":{"annotations":{"a":"b"},"finalizers":["f"]}}`: "",
		`{"metadata":{"resourceVersion":"7","labels":null}}`:        "",
		`{"metadata":{"managedFields":[{}]}}`:                       "it sets metadata.managedFields",
		`{"metadata":{"managedFields":null}}`:                       "",
		`{"status":{"x":1}}`:                                        "it sets status",
		`{"spec":{"$patch":"replace"}}`:                             "spec.$patch may replace",
		`{"spec":{"$setElementOrder/list":[{"name":"l"}]}}`:         "",
		`[1]`: "no JSON object",
		`{`:   "no JSON object",
	} {
		for _, contentType := range []string{"application/merge-patch+json", "application/strategic-merge-patch+json; charset=utf-8"} {
			message, arrived := send(t, widgetRule, "PATCH", widgets+"/a", contentType, patch)
			if refused == "" {
				assert.Empty(t, message, patch)
				assert.Equal(t, patch, arrived)
			} else {
				assert.Contains(t, message, refused, patch)
			}
		}
	}
}

// TestMergePatchOfType judges by the fields of a Go type.
func TestMergePatchOfType(t *testing.T) {
	rule := projection.Rule{Group: "example.com", Resource: "widgets", Type: reflect.TypeFor[struct {
		Spec struct {
			Names []string             `json:"names"`
			Map   map[string]string    `json:"map"`
			Items []struct{ Name int } `json:"items"`
			Bytes []byte               `json:"bytes"`
			Data  map[string][]byte    `json:"data"`
		} `json:"spec"`
	}]()}
	message, _ := send(t, rule, "PATCH", widgets+"/a", "application/merge-patch+json", `{"spec":{"names":["a"],"map":{"x":"y"},"bytes":"AA==","data":{"k":"AA=="}}}`)
	assert.Empty(t, message)
	message, _ = send(t, rule, "PATCH", widgets+"/a", "application/merge-patch+json", `{"spec":{"items":[{"Name":1}]}}`)
	assert.Contains(t, message, "it replaces spec.items")
}

func TestJSONPatches(t *testing.T) {
	for patch, refused := range map[string]string{
		`[]`: "",
		`[{"op":"add","path":"/spec/keep","value":1}]`:                                                                                                       "",
		`[{"op":"replace","path":"/spec/keep/deep/0","value":1}]`:                                                                                            "",
		`[{"op":"replace","path":"/spec","value":{}}]`:                                                                                                       "it replaces /spec",
		`[{"op":"replace","path":"","value":{}}]`:                                                                                                            "of which only a part",
		`[{"op":"add","path":"/spec/drop","value":1}]`:                                                                                                       "it sets /spec/drop",
		`[{"op":"remove","path":"/spec/drop"},{"op":"remove","path":"/spec"}]`:                                                                               "",
		`[{"op":"add","path":"/spec/list/-","value":{"name":"n"}}]`:                                                                                          "",
		`[{"op":"add","path":"/spec/list/0","value":{"name":"n"}}]`:                                                                                          "",
		`[{"op":"replace","path":"/spec/list/0","value":{"name":"n"}}]`:                                                                                      "it replaces /spec/list/0",
		`[{"op":"replace","path":"/spec/list/0/name","value":"n"}]`:                                                                                          "",
		`[{"op":"replace","path":"/spec/list/0/drop","value":"n"}]`:                                                                                          "it sets",
		`[{"op":"replace","path":"/spec/list/-1","value":{}}]`:                                                                                               "it sets",
		`[{"op":"replace","path":"/spec/list","value":[]}]`:                                                                                                  "",
		`[{"op":"replace","path":"/spec/list","value":[{}]}]`:                                                                                                "it replaces",
		`[{"op":"replace","path":"/spec/names","value":["x"]}]`:                                                                                              "",
		`[{"op":"add","path":"/spec/map/a~1b","value":{"v":1}}]`:                                                                                             "it replaces",
		`[{"op":"add","path":"/spec/map/a~1b/v","value":1}]`:                                                                                                 "",
		`[{"op":"move","from":"/spec/keep","path":"/spec/drop"}]`:                                                                                            "it sets",
		`[{"op":"copy","from":"/spec/drop","path":"/spec/keep"}]`:                                                                                            "",
		`[{"op":"copy","from":"/spec/drop","path":"/spec"}]`:                                                                                                 "it replaces",
		`[{"op":"test","path":"/spec/drop","value":1},{"op":"replace","path":"/spec/drop","value":2}]`:                                                       "",
		`[{"op":"test","path":"/spec","value":{}},{"op":"replace","path":"/spec/drop","value":2}]`:                                                           "",
		`[{"op":"test","path":"/spe","value":1},{"op":"replace","path":"/spec/drop","value":2}]`:                                                             "it sets",
		`[{"op":"test","path":"/spec/list/0","value":{"name":"l"}},{"op":"replace","path":"/spec/list/0","value":{}}]`:                                       "",
		`[{"op":"test","path":"/spec/list/0","value":{"name":"l"}},{"op":"remove","path":"/spec/list/0"},{"op":"replace","path":"/spec/list/0","value":{}}]`: "it replaces",
		`[{"op":"test","path":"/spec/list/0","value":{"name":"l"}},{"op":"add","path":"/spec/list/0","value":{}},{"op":"replace","path":"/spec/list/0","value":{}}]`:           "it replaces",
		`[{"op":"test","path":"/spec/list/0","value":{"name":"l"}},{"op":"move","from":"/spec/list/0","path":"/spec/keep"},{"op":"replace","path":"/spec/list/0","value":{}}]`: "it replaces",
		`[{"op":"test","path":"/spec/list/0","value":{"name":"l"}},{"op":"replace","path":"/spec/list/0","value":{}},{"op":"replace","path":"/spec/list/0","value":{}}]`:       "",
		// What libraries make of a renamed element, of one that was taken away, of one that has moved, and of a new list.
		`[{"op":"remove","path":"/spec/list/0"},{"op":"add","path":"/spec/list/0","value":{"name":"n"}}]`:                                                                        "which may mix them up",
		`[{"op":"remove","path":"/spec/list/1"},{"op":"replace","path":"/spec/list/0/name","value":"n"}]`:                                                                        "which may mix them up",
		`[{"op":"add","path":"/spec/list/2","value":{"name":"n"}},{"op":"remove","path":"/spec/list/0"}]`:                                                                        "which may mix them up",
		`[{"op":"replace","path":"/spec/list","value":[]},{"op":"add","path":"/spec/list/-","value":{"name":"n"}}]`:                                                              "which may mix them up",
		`[{"op":"test","path":"/spec/list/0","value":{"name":"l"}},{"op":"remove","path":"/spec/list/0"},{"op":"add","path":"/spec/list/0","value":{}}]`:                         "",
		`[{"op":"add","path":"/spec/list/1","value":{"name":"l"}},{"op":"replace","path":"/spec/list/0/name","value":"n"}]`:                                                      "which may mix them up",
		`[{"op":"add","path":"/spec/list/1","value":{"name":"m"}},{"op":"test","path":"/spec/list/0/name","value":"l"},{"op":"replace","path":"/spec/list/0/name","value":"n"}]`: "",
		`[{"op":"replace","path":"/spec/list/0/name","value":"n"},{"op":"replace","path":"/spec/list/1/name","value":"m"}]`:                                                      "",
		`[{"op":"remove","path":"/spec/map"},{"op":"replace","path":"/spec/list/0/name","value":"n"}]`:                                                                           "",
		`[{"op":"remove","path":"/spec/list"},{"op":"add","path":"/spec/list","value":[]},{"op":"add","path":"/spec/list/0","value":{"name":"n"}}]`:                              "which may mix them up",
		`[{"op":"move","from":"/spec/list/0","path":"/spec/list/1"},{"op":"add","path":"/spec/list/-","value":{}}]`:                                                              "",
		`[{"op":"remove","path":"/spec/list/1"},{"op":"remove","path":"/spec/list/0"},{"op":"remove","path":"/spec/keep"},{"op":"replace","path":"/spec/names/0","value":"n"}]`:  "",
		`[{"op":"remove","path":"/spec/names/1"},{"op":"remove","path":"/spec/drop"},{"op":"replace","path":"/spec/list/0/name","value":"n"}]`:                                   "",
		`[{"op":"copy","from":"/metadata/finalizers","path":"/spec/list","value":[]}]`:                                                                                           "it replaces /spec/list",
		`[{"op":"replace","path":"/metadata/annotations","value":{}}]`:                                                                                                           "",
		`[{"op":"replace","path":"/metadata","value":{}}]`:                                                                                                                       "it replaces",
		`[{"op":"replace","path":"kind/spec/drop","value":{}}]`:                                                                                                                  "start with a slash",
		`[{"op":"merge","path":"/spec/keep","value":{}}]`:                                                                                                                        "unknown kind",
		`[{"path":"/spec/keep","value":{}}]`:       "no op",
		`[{"op":"add","value":{}}]`:                "no op or no path",
		`{}`:                                       "no list of operations",
		`[{"op":"add","path":"","value":{}}]`:      "of which only a part",
		`[{"op":"add","path":"/spec","value":{}}]`: "it replaces /spec",
	} {
		message, arrived := send(t, widgetRule, "PATCH", widgets+"/a", "application/json-patch+json", patch)
		if refused == "" {
			assert.Empty(t, message, patch)
			assert.Equal(t, patch, arrived)
		} else {
			assert.Contains(t, message, refused, patch)
		}
	}
}

// TestBodies sends bodies that cannot be read, and none.
func TestBodies(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	rt := p.Transport(respond(strings.NewReader("{}")))
	lost := errors.New("lost")
	r := newRequest(http.MethodPatch, widgets+"/a", "application/merge-patch+json", nil)
	r.Body = io.NopCloser(iotest.ErrReader(lost))
	_, err := rt.RoundTrip(r)
	require.ErrorIs(t, err, lost)
	r = newRequest(http.MethodPatch, widgets+"/a", "application/merge-patch+json", []byte("{}"))
	r.Header.Set("Content-Encoding", "gzip")
	resp, err := rt.RoundTrip(r)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Contains(t, string(text), "its body is compressed")
	r = newRequest(http.MethodPost, widgets, "application/json", nil)
	below := &closable{Reader: strings.NewReader("{}")}
	r.Body, r.ContentLength, r.TransferEncoding = below, -1, []string{"chunked"}
	var sent [2]string
	resp, err = p.Transport(roundTrip(func(r *http.Request) (*http.Response, error) {
		assert.True(t, below.closed)
		assert.Equal(t, int64(2), r.ContentLength)
		assert.Empty(t, r.TransferEncoding)
		for i := range sent {
			text, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			sent[i] = string(text)
			r.Body, err = r.GetBody()
			require.NoError(t, err)
		}
		return respond(strings.NewReader("{}"))(r)
	})).RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, [2]string{"{}", "{}"}, sent, "a connection that was closed is tried again")
}

// A closable body notes that it was closed.
type closable struct {
	io.Reader
	closed bool
}

func (c *closable) Close() error {
	c.closed = true
	return nil
}
