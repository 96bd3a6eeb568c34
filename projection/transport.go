package projection

import (
	"net/http"
	"strings"
)

// A transport is the http.RoundTripper of a Projection.
type transport struct {
	*Projection
	next http.RoundTripper
}

// RoundTrip sends a request, projects the response to a read, and answers itself to a write that it
// refuses.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL == nil { // that below says so
		return t.next.RoundTrip(r)
	}
	to := t.target(r)
	if r.Method != http.MethodGet && r.Method != "" {
		r, refusal, err := t.guard(r, to)
		switch {
		case err != nil:
			return nil, err
		case refusal != "":
			t.count.refused.Add(1)
			return refused(r, refusal), nil
		}
		return t.next.RoundTrip(r)
	}
	if to.rule == nil && !to.odd {
		return t.next.RoundTrip(r)
	}
	form, why := formOf(r, to)
	out := r
	if why == "" {
		out, why = acceptJSON(r)
	}
	if why != "" {
		t.count.pass(why)
		return t.next.RoundTrip(r)
	}
	resp, err := t.next.RoundTrip(out)
	if err != nil || resp == nil {
		return resp, err
	}
	return t.project(resp, to.rule, form), nil
}

// A form is what is in the body of a response.
type form uint8

const (
	object form = iota
	list
	events
)

// formOf returns what the response to a read will be, or the reason to pass it on as it is.
func formOf(r *http.Request, to target) (_ form, why string) {
	watch := r.URL.Query()["watch"]
	switch {
	case to.odd:
		return 0, PassedPath
	case to.subresource != "":
		return 0, PassedSubresource
	case len(r.Header["Range"]) > 0:
		return 0, PassedRange
	case len(r.Header["Upgrade"]) > 0:
		return 0, PassedUpgrade
	case to.name != "":
		return object, ""
	case len(watch) > 1:
		return 0, PassedQuery
	case len(watch) == 0 || watch[0] == "0" || strings.EqualFold(watch[0], "false"):
		return list, "" // Convert_Slice_string_To_bool of k8s.io/apimachinery
	}
	return events, ""
}

// project makes the body of a response one that is projected, if it can be.
func (t *transport) project(resp *http.Response, r *rule, as form) *http.Response {
	encoding, why := contentEncoding(resp.Header), ""
	switch {
	case resp.StatusCode != http.StatusOK:
		why = PassedStatus
	case resp.Body == nil || resp.Body == http.NoBody: // there is nothing
		return resp
	case !isJSON(resp.Header):
		why = PassedType
	case encoding != "" && encoding != "gzip":
		why = PassedEncoding
	case len(resp.Header["Content-Range"]) > 0:
		why = PassedRange
	}
	if why != "" {
		t.count.pass(why)
		return resp
	}
	// The response stays the same value: the transport below sets its trailers when the body ends.
	resp.Body = t.newBody(resp.Body, encoding == "gzip", r, as)
	resp.ContentLength = -1
	resp.Uncompressed = resp.Uncompressed || encoding == "gzip"
	for _, name := range ofBody {
		delete(resp.Header, name)
	}
	return resp
}

// ofBody are headers that say of a body what is not true any more when it is projected.
var ofBody = []string{
	"Content-Length", "Content-Encoding", "Content-Md5", "Digest", "Content-Digest", "Repr-Digest",
	"Etag", "Last-Modified", "Accept-Ranges",
}

// WrappedRoundTripper is for k8s.io/apimachinery/pkg/util/net, which looks through transports.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

// CloseIdleConnections is for http.Client.
func (t *transport) CloseIdleConnections() {
	if next, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}
