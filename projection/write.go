package projection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// NOTE: there is no mark in objects that says that they were projected. A controller could remove
// it, copy it to other objects, or store it. The rule is the mark: whatever a client with this
// transport has read of the rule's resource was projected, unless it was passed on, which is rare.
// So an update is always refused, and other writes are judged by what they would replace. What a
// server has given to an object (its uid and its times) tells an object that was read from one that
// was made.

// guard judges a request that is no GET. It returns the request to send, or why it is refused.
func (t *transport) guard(r *http.Request, to target) (_ *http.Request, refusal string, err error) {
	switch {
	case to.rule == nil && !to.odd || neverWrites(r.Method):
		return r, "", nil
	case to.odd:
		return r, "its path may be read in several ways, and one of them may be a resource whose reads are projected", nil
	case to.subresource == "proxy" || to.subresource == "scale":
		return r, "", nil
	case r.Method == http.MethodPut:
		return r, to.rule.judgePut(to), nil
	case r.Method == http.MethodPost && to.subresource != "": // an eviction, or a binding
		return r, "", nil
	case r.Method != http.MethodPost && r.Method != http.MethodPatch: // "put" is one to some servers
		return r, "nobody knows what its method does", nil
	}
	text, out, err := t.readBody(r)
	switch {
	case err != nil:
		return r, "", err
	case text == nil:
		return r, fmt.Sprintf("its body is compressed or has more than %d bytes, so that it cannot be judged", t.opts.MaxObjectBytes), nil
	case r.Method == http.MethodPost:
		return out, to.rule.judgeCreate(r.Header.Get("Content-Type"), text), nil
	}
	return out, to.rule.judgePatch(r.Header.Get("Content-Type"), text), nil
}

// neverWrites reports whether requests of a method store no object.
func neverWrites(method string) bool {
	switch method {
	case http.MethodDelete, http.MethodHead, http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return true
	}
	return false
}

// readBody reads the body of a request, and returns it with a request that has it again. The text
// is nil if the body is compressed or too large.
func (t *transport) readBody(r *http.Request) (text []byte, out *http.Request, err error) {
	if r.Body == nil || r.Body == http.NoBody {
		return []byte{}, r, nil
	}
	defer r.Body.Close()
	if contentEncoding(r.Header) != "" {
		return nil, r, nil
	}
	text, err = io.ReadAll(io.LimitReader(r.Body, int64(t.opts.MaxObjectBytes)+1))
	if err != nil {
		return nil, r, err
	}
	if len(text) > t.opts.MaxObjectBytes {
		return nil, r, nil
	}
	out = r.Clone(r.Context())
	out.Body = io.NopCloser(bytes.NewReader(text))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	out.ContentLength, out.TransferEncoding = int64(len(text)), nil
	return text, out, nil
}

// judgePut returns why an update is refused, or "".
func (r *rule) judgePut(to target) string {
	switch {
	case to.subresource == "":
		return "an update would remove the fields that were projected away: send a patch"
	case to.subresource != "status":
		return "an update of the subresource " + to.subresource + " may remove fields that were projected away: send a patch"
	case !keepsWhole(memberOf(r.schema, "status")):
		return `an update of the status would remove the fields of it that were projected away: send a patch, or keep all of it, by the path "status"`
	}
	return ""
}

// judgeCreate returns why the creation of an object is refused, or "".
func (r *rule) judgeCreate(contentType string, text []byte) string {
	if media := mediaType(contentType); media != "application/json" && media != "" {
		return "only JSON can be judged, and an object that was read is not complete: send the object in JSON"
	}
	if !json.Valid(text) {
		return "its body is not JSON"
	}
	return judgeSource(text, "create it from what was made here, without metadata.")
}

// judgeApply does the same for server-side apply, whose bodies are YAML or JSON.
func (r *rule) judgeApply(text []byte) string {
	object, err := (&yamlbridge.Reader{Dialect: yamlbridge.Server}).AppendJSON(nil, text)
	if err != nil {
		return "its body cannot be read: " + err.Error()
	}
	return judgeSource(object, "apply the fields that are meant, without metadata.")
}

// judgeSource returns why an object is refused that a server has sent, or "".
func judgeSource(object []byte, advice string) string {
	metadata := apiserver.Member(object, "metadata")
	for _, name := range []string{"uid", "creationTimestamp", "generation"} {
		switch value := string(apiserver.Member(metadata, name)); value {
		case "", "null", `""`, "0":
		default:
			return "it has metadata." + name + ", so that it was read, and lacks the fields that were projected away: " + advice + name
		}
	}
	return ""
}

// mediaType returns a media type without its parameters, as the API server cuts it off.
func mediaType(contentType string) string {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.TrimSpace(media)
}

// refused returns the answer to a request that is refused: a metav1.Status. It closes the body of
// the request.
func refused(r *http.Request, why string) *http.Response {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	text := []byte(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":`)
	text = jsonwire.AppendQuoted(text, r.Method+" refused by the projection of this client, not by the server: "+why)
	text = append(text, `,"reason":"Invalid","code":422}`+"\n"...)
	return &http.Response{
		Status: "422 Unprocessable Entity", StatusCode: http.StatusUnprocessableEntity,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}, "Cache-Control": {"no-cache, private"}},
		Body:          io.NopCloser(bytes.NewReader(text)),
		ContentLength: int64(len(text)),
		Request:       r,
	}
}
