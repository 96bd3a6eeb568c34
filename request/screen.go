package request

import (
	"net/url"
	"slices"
	"strings"
)

// A Screening says what of a request may be passed on besides its body.
type Screening struct {
	// Write is set if a schema judges the body: if the method is POST, PUT
	// or PATCH.
	Write bool
	// Upgrade is set if the request asks for another protocol and may do
	// so. Nobody judges what the connection carries then.
	Upgrade bool
	// Drop has the names of the headers to drop, as they were given. If one
	// of them is Upgrade, the options upgrade and http2-settings of the
	// header Connection are to be dropped, too.
	Drop []string
}

// Screen refuses requests that their recipient may read differently than a
// [Gate] does, whatever they are about, and says which headers to drop from the
// others. It refuses methods as [JudgeMethod] does, what overrides the method,
// and options of Connection that remove a header of a body. Package middleware
// describes what is dropped.
//
// The query is the one of the request target, not decoded. The names in header
// are canonical, such as Content-Type. passes is called if the request asks for
// a protocol of the list without a body; it reports whether the request passes
// whatever its body is, as [Finder.Passes] does. Screen changes nothing.
func Screen(method, query string, header map[string][]string, passes func() bool) (s Screening, refused *StatusError) {
	if s.Write, refused = JudgeMethod(method); refused != nil {
		return s, refused
	}
	// Whether a POST passes is found out when it is judged.
	s.Upgrade = mayUpgrade(method, header["Upgrade"]) && (s.Write || passes())
	for name := range header {
		switch plain := withoutUnderscores(name); {
		case slices.Contains(methodHeaders, plain):
			return s, BadRequest("the header " + plain +
				" is refused: the method of a request is that of its first line")
		case plain == "Upgrade" && !s.Upgrade, plain == "Http2-Settings",
			(s.Upgrade || s.Write) && slices.Contains(pathHeaders, plain),
			plain != name && slices.Contains(bodyHeaders, plain):
			s.Drop = append(s.Drop, name)
		}
	}
	if namesMethod(query) {
		return s, BadRequest("the parameter _method is refused: " +
			"the method of a request is that of its first line")
	}
	if s.Write && slices.ContainsFunc(ConnectionOptions(header["Connection"]), isOfBody) {
		return s, BadRequest("the header Connection names one that says how the body is read")
	}
	return s, nil
}

// Names of headers in canonical form.
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
	// digests are those of the body as it was sent.
	digests = []string{"Content-Md5", "Digest", "Content-Digest", "Repr-Digest"}
	// unchanged, and changed, are the headers that do not apply to a body that is passed on. Expect
	// takes effect when the body is read.
	unchanged = []string{"Expect", "Content-Length", "Upgrade", "Http2-Settings"}
	changed   = slices.Concat(unchanged, []string{"Content-Encoding"}, digests)
)

// Stale returns the names, in canonical form, of the headers that do not apply
// to a request whose body was judged. isChanged says that the body is not what
// was sent, as [Result.Changed] does. The caller must not change the result.
func Stale(isChanged bool) []string {
	if isChanged {
		return changed
	}
	return unchanged
}

// withoutUnderscores returns a name as it is read by those who take underscores for hyphens.
func withoutUnderscores(name string) string {
	if !strings.Contains(name, "_") {
		return name
	}
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	b := []byte(name)
	for i := range b {
		if (i == 0 || b[i-1] == '-') && 'a' <= b[i] && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
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

// ConnectionOptions returns the names in the values of the header Connection, in
// lower case (RFC 9110, section 7.6.1).
func ConnectionOptions(values []string) (options []string) {
	for _, value := range values {
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
	"websocket": {"GET"}, // RFC 6455 section 4.1
	"spdy/3.1":  {"GET", methodPost},
}

// mayUpgrade reports whether a method may switch to the protocols that a request asks for.
func mayUpgrade(method string, protocols []string) bool {
	return len(protocols) == 1 && slices.Contains(upgradable[strings.ToLower(protocols[0])], method)
}

// SafeTrailers returns those of the announced trailers that may be passed on
// with a judged body: nobody reads a request by them (RFC 9110, section 6.5.1).
// Digests, which RFC 9530, sections 2 and 3, allows in trailers, are those of
// the body as it was sent, and pass only if it is not changed. The names are
// canonical.
func SafeTrailers(announced []string, isChanged bool) (safe []string) {
	for _, name := range announced {
		plain := withoutUnderscores(name)
		if isDigest := slices.Contains(digests, plain); isDigest && !isChanged || !isDigest && !isUnsafe(plain) {
			safe = append(safe, name)
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
