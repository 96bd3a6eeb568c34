package projection

import (
	"mime"
	"net/http"
	"strings"
)

// acceptJSON returns the request with the media types left that are projected, or the reason to
// pass it on as it is. Others would be preferred by the server: protobuf for built-in kinds, and
// CBOR. A request without a header Accept is answered in JSON.
func acceptJSON(r *http.Request) (*http.Request, string) {
	values := r.Header["Accept"]
	if len(values) == 0 {
		return r, ""
	}
	var kept []string
	for clause := range strings.SplitSeq(strings.Join(values, ","), ",") {
		media, params, err := mime.ParseMediaType(clause)
		switch {
		case err != nil && strings.TrimSpace(clause) != "":
			return nil, PassedAccept
		case err != nil:
		case params["as"] != "":
			return nil, PassedTable
		case media == "application/json":
			kept = append(kept, strings.TrimSpace(clause))
		case media == "*/*" || media == "application/*":
			kept = append(kept, "application/json")
		}
	}
	accept := strings.Join(kept, ",")
	switch {
	case accept == "":
		return nil, PassedAccept
	case len(values) == 1 && values[0] == accept:
		return r, ""
	}
	r = r.Clone(r.Context())
	r.Header["Accept"] = []string{accept}
	return r, ""
}

// isJSON reports whether a response is in JSON, and not in another form of an object.
func isJSON(h http.Header) bool {
	values := h["Content-Type"]
	if len(values) != 1 {
		return false
	}
	media, params, err := mime.ParseMediaType(values[0])
	charset := strings.ToLower(params["charset"])
	return err == nil && media == "application/json" && params["as"] == "" && (charset == "" || charset == "utf-8")
}

// contentEncoding returns the encoding of a response, in lower case, and "" for none.
func contentEncoding(h http.Header) string {
	switch encoding := strings.ToLower(strings.TrimSpace(strings.Join(h["Content-Encoding"], ","))); encoding {
	case "identity":
		return ""
	case "x-gzip": // RFC 9110 section 8.4.1.3
		return "gzip"
	default:
		return encoding
	}
}
