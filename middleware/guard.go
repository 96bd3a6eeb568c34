package middleware

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/request"
)

// isWrite reports whether the body of a request is for a schema. Methods have case (RFC 9110 section 9.1).
func isWrite(method string) bool {
	isWrite, _ := request.JudgeMethod(method)
	return isWrite
}

// guard refuses requests that the handler may take for others than the middleware does, whatever
// they are about, and returns the request without the headers that would make it do so.
func (h *handler) guard(r *http.Request) (*http.Request, *request.StatusError) {
	isWrite, refused := request.JudgeMethod(cmp.Or(r.Method, http.MethodGet)) // no server has none; clients mean GET with it
	if refused != nil {
		return r, refused
	}
	isUpgrade := h.isUpgrade(r)
	var drop []string
	for name := range r.Header {
		switch plain := withoutUnderscores(name); {
		case slices.Contains(methodHeaders, plain):
			return r, request.BadRequest("the header " + plain + " is refused: the method of a request is that of its first line")
		case plain == "Upgrade" && !isUpgrade, plain == "Http2-Settings",
			(isUpgrade || isWrite) && slices.Contains(pathHeaders, plain),
			plain != name && slices.Contains(bodyHeaders, plain):
			drop = append(drop, name)
		}
	}
	if namesMethod(r.URL.RawQuery) {
		return r, request.BadRequest("the parameter _method is refused: the method of a request is that of its first line")
	}
	if isWrite && slices.ContainsFunc(connectionOptions(r.Header), isOfBody) {
		return r, request.BadRequest("the header Connection names one that says how the body is read")
	}
	if len(drop) == 0 {
		return r, nil
	}
	out := new(http.Request)
	*out = *r
	out.Header = r.Header.Clone()
	for _, name := range drop {
		delete(out.Header, name)
	}
	if !isUpgrade {
		dropUpgrade(out.Header)
	}
	return out, nil
}

// Names of headers, as http.CanonicalHeaderKey has them.
var (
	// methodHeaders override the method, in frameworks. A request is refused that has one: without it, the request would mean
	// something else.
	methodHeaders = []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"}
	// pathHeaders override the path or take away its start, in frameworks and behind gateways.
	// They are dropped, as gateways set them for links.
	pathHeaders = []string{"X-Original-Url", "X-Original-Uri", "X-Rewrite-Url", "X-Script-Name",
		"X-Forwarded-Prefix", "X-Forwarded-Path", "X-Forwarded-Uri"}
	// bodyHeaders say how a body is read. To CGI and what followed it Content_Type is the same as Content-Type.
	bodyHeaders = []string{"Content-Type", "Content-Encoding", "Content-Length", "Content-Range", "Transfer-Encoding",
		"Trailer"}
)

// withoutUnderscores returns a name as whoever takes underscores for hyphens reads it.
func withoutUnderscores(name string) string {
	if !strings.Contains(name, "_") {
		return name
	}
	return http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
}

// namesMethod reports whether a query has the parameter by which frameworks override the method.
func namesMethod(query string) bool {
	if query == "" {
		return false
	}
	query = strings.ToLower(query)
	if !strings.Contains(query, "method") && !strings.Contains(query, "%") {
		return false
	}
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		name, _, _ := strings.Cut(pair, "=")
		if name, err := url.QueryUnescape(name); err == nil && strings.EqualFold(strings.TrimSpace(name), "_method") {
			return true
		}
	}
	return false
}

// connectionOptions are what the header Connection names, in lower case (RFC 9110 section 7.6.1).
func connectionOptions(h http.Header) (options []string) {
	for _, value := range h["Connection"] {
		for option := range strings.SplitSeq(value, ",") {
			if option = strings.ToLower(strings.TrimSpace(option)); option != "" {
				options = append(options, option)
			}
		}
	}
	return options
}

// isOfBody reports whether an option of Connection takes away a header that the body needs.
func isOfBody(option string) bool {
	return strings.HasPrefix(option, "content-") || option == "transfer-encoding"
}

// upgradable are the protocols to which a connection may be switched, in lower case, with what they are
// asked for with: those of kubectl exec, attach and port-forward. In none of them are there requests
// of HTTP, as there are in h2c.
var upgradable = map[string][]string{
	"websocket": {http.MethodGet}, // RFC 6455 section 4.1
	"spdy/3.1":  {http.MethodGet, http.MethodPost},
}

// isUpgrade reports whether a request may switch protocols: to one of the list, where the path is for
// no schema. Of a POST the rest finds that out.
func (h *handler) isUpgrade(r *http.Request) bool {
	protocols := r.Header["Upgrade"]
	if len(protocols) != 1 || !slices.Contains(upgradable[strings.ToLower(protocols[0])], r.Method) {
		return false
	}
	if r.Method == http.MethodPost {
		return true
	}
	seen := seenAs(r)
	return h.find.Passes(&seen)
}

// dropUpgrade makes a request one that does not switch protocols.
func dropUpgrade(h http.Header) {
	delete(h, "Upgrade")
	delete(h, "Http2-Settings")
	options := slices.DeleteFunc(connectionOptions(h), func(option string) bool {
		return option == "upgrade" || option == "http2-settings"
	})
	if _, ok := h["Connection"]; ok {
		delete(h, "Connection")
		if len(options) > 0 {
			h.Set("Connection", strings.Join(options, ", "))
		}
	}
}

// safeTrailers returns of trailers those that were announced, and that nobody reads a request by (RFC 9110
// section 6.5.1). Digests are of what was sent: RFC 9530 sections 2 and 3 have them there, too.
func safeTrailers(trailers http.Header, announced []string, changed bool) http.Header {
	var safe http.Header
	for _, name := range announced {
		plain := withoutUnderscores(name)
		if isDigest := slices.Contains(digests, plain); isDigest && !changed || !isDigest && !isUnsafe(plain) {
			if safe == nil {
				safe = http.Header{}
			}
			safe[name] = slices.Clone(trailers[name])
		}
	}
	return safe
}

// isUnsafe reports whether a field is about framing, routing, conditions, who sends, or the content.
func isUnsafe(name string) bool {
	for _, prefix := range []string{"Content-", "If-", "Proxy-", "X-Forwarded-", "X-Remote-", "Impersonate-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains(unsafeTrailers, name) || slices.Contains(methodHeaders, name) || slices.Contains(pathHeaders, name)
}

var unsafeTrailers = []string{"Authorization", "Cache-Control", "Connection", "Cookie", "Expect", "Forwarded", "Host",
	"Http2-Settings", "Keep-Alive", "Max-Forwards", "Pragma", "Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}
