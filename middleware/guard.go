package middleware

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/request"
)

// isWrite reports whether a schema judges the body of a request. The case of a method matters (RFC
// 9110 section 9.1).
func isWrite(method string) bool {
	isWrite, _ := request.JudgeMethod(method)
	return isWrite
}

// guard refuses requests that the handler may read differently than the middleware does, whatever
// they are about. It returns the request without headers that would make the handler do so.
func (h *handler) guard(r *http.Request) (*http.Request, *request.StatusError) {
	// Only clients leave the method empty, and mean GET.
	isWrite, refused := request.JudgeMethod(cmp.Or(r.Method, http.MethodGet))
	if refused != nil {
		return r, refused
	}
	isUpgrade := h.isUpgrade(r)
	var drop []string
	for name := range r.Header {
		switch plain := withoutUnderscores(name); {
		case slices.Contains(methodHeaders, plain):
			return r, request.BadRequest("the header " + plain +
				" is refused: the method of a request is that of its first line")
		case plain == "Upgrade" && !isUpgrade, plain == "Http2-Settings",
			(isUpgrade || isWrite) && slices.Contains(pathHeaders, plain),
			plain != name && slices.Contains(bodyHeaders, plain):
			drop = append(drop, name)
		}
	}
	if namesMethod(r.URL.RawQuery) {
		return r, request.BadRequest("the parameter _method is refused: " +
			"the method of a request is that of its first line")
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

// Names of headers, in the form of http.CanonicalHeaderKey.
var (
	// methodHeaders override the method in frameworks. A request with one is refused, because it
	// would mean something else without it.
	methodHeaders = []string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override"}
	// pathHeaders override the path or remove its start, in frameworks and after gateways. They are
	// dropped, because gateways set them for links.
	pathHeaders = []string{"X-Original-Url", "X-Original-Uri", "X-Rewrite-Url", "X-Script-Name",
		"X-Forwarded-Prefix", "X-Forwarded-Path", "X-Forwarded-Uri"}
	// bodyHeaders say how a body is read. For CGI and its successors, Content_Type is Content-Type.
	bodyHeaders = []string{"Content-Type", "Content-Encoding", "Content-Length", "Content-Range", "Transfer-Encoding",
		"Trailer"}
)

// withoutUnderscores returns a name as it is read by those who take underscores for hyphens.
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
	isSeparator := func(r rune) bool { return r == '&' || r == ';' }
	for pair := range strings.FieldsFuncSeq(query, isSeparator) {
		name, _, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err == nil && strings.EqualFold(strings.TrimSpace(name), "_method") {
			return true
		}
	}
	return false
}

// connectionOptions returns the names in the header Connection, in lower case (RFC 9110 section
// 7.6.1).
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

// isOfBody reports whether an option of Connection removes a header that the body needs.
func isOfBody(option string) bool {
	return strings.HasPrefix(option, "content-") || option == "transfer-encoding"
}

// upgradable has the protocols to which a connection may be switched, in lower case, with the
// methods that may ask for them. They are those of kubectl exec, attach and port-forward. None of
// them carries requests of HTTP, as h2c does.
var upgradable = map[string][]string{
	"websocket": {http.MethodGet}, // RFC 6455 section 4.1
	"spdy/3.1":  {http.MethodGet, http.MethodPost},
}

// isUpgrade reports whether a request may switch protocols: to one of the list, if there is no
// schema for the path. For a POST, serving it finds that out.
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

// dropUpgrade removes the headers that ask for another protocol.
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

// safeTrailers returns the trailers that were announced and by which nobody reads a request (RFC
// 9110 section 6.5.1). Digests, which RFC 9530 sections 2 and 3 allow in trailers, are those of the
// body that was sent.
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

// isUnsafe reports whether a field is about framing, routing, conditions, the sender or the
// content.
func isUnsafe(name string) bool {
	prefixes := []string{"Content-", "If-", "Proxy-", "X-Forwarded-", "X-Remote-", "Impersonate-"}
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return slices.Contains(unsafeTrailers, name) || slices.Contains(methodHeaders, name) ||
		slices.Contains(pathHeaders, name)
}

var unsafeTrailers = []string{
	"Authorization", "Cache-Control", "Connection", "Cookie", "Expect", "Forwarded", "Host",
	"Http2-Settings", "Keep-Alive", "Max-Forwards", "Pragma", "Range", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}
