package request

import (
	"mime"
	"strings"
)

// A form says how a body is read.
type form uint8

const (
	jsonObject form = iota
	yamlObject
	mergePatch
	applyPatch
	otherPatch // no schema applies to it
)

func (f form) isPatch() bool { return f >= mergePatch }
func (f form) isYAML() bool  { return f == yamlObject || f == applyPatch }

// passedOnAs returns the Content-Type of results. Parameters that were sent do not apply to
// results: a charset, for example, would be wrong.
func (f form) passedOnAs() string {
	switch f {
	case mergePatch:
		return typeMerge
	case applyPatch:
		return typeApply
	}
	return typeJSON
}

// readAs returns the Content-Type of bodies that pass as they were sent: the type by which they
// were read, without parameters.
func (f form) readAs() string {
	if f == yamlObject {
		return typeYAML
	}
	return f.passedOnAs()
}

// isInUTF8 reports whether the parameters of the Content-Type allow a body to be read as UTF-8,
// which the decoder does. If such a body passes as it was sent, its recipient must not read it in
// another charset.
func isInUTF8(r *Request) bool {
	value := first(r.values("Content-Type"))
	if value == "" {
		return true
	}
	_, parameters, err := mime.ParseMediaType(value)
	charset := strings.ToLower(parameters["charset"])
	return err == nil && (charset == "" || charset == "utf-8" || charset == "utf8")
}

// first returns the first value of a header, or an empty text if there is none.
func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// The media types. Those of patches have names in k8s.io/apimachinery/pkg/types.
const (
	typeJSON  = "application/json"
	typeYAML  = "application/yaml"
	typeMerge = "application/merge-patch+json"
	typeApply = "application/apply-patch+yaml"
)

// formOf returns how the body of a request is read, by its Content-Type. As in the API server,
// parameters do not matter, no type means JSON, and the case of the types of patches matters.
func formOf(r *Request) (form, *StatusError) {
	types := r.values("Content-Type")
	if len(types) > 1 {
		return 0, unsupported(r.Method)
	}
	value := first(types)
	if r.Method == methodPatch {
		if i := strings.IndexByte(value, ';'); i > 0 {
			value = value[:i]
		}
		switch value {
		case typeMerge:
			return mergePatch, nil
		case typeApply:
			return applyPatch, nil
		}
		return otherPatch, nil
	}
	if value == "" || value == typeJSON {
		return jsonObject, nil
	}
	switch media, _, err := mime.ParseMediaType(value); {
	case err != nil:
	case media == typeJSON:
		return jsonObject, nil
	case media == typeYAML:
		return yamlObject, nil
	}
	return 0, unsupported(r.Method)
}

// unsupported returns the answer to media types that are not decoded. A header names those that
// are: Accept-Patch (RFC 5789 section 3.1) or Accept (RFC 9110 section 15.5.16).
func unsupported(method string) *StatusError {
	header, accepted := "Accept", typeJSON+", "+typeYAML
	if method == methodPatch {
		header, accepted = "Accept-Patch", typeMerge+", "+typeApply
	}
	return &StatusError{
		Code:    statusUnsupportedMedia,
		Reason:  "UnsupportedMediaType",
		Message: "the body of the request was in an unknown format - accepted media types include: " + accepted,
		Header:  map[string]string{header: accepted},
	}
}

// isGzip reports whether the body is compressed. It refuses encodings other than gzip, and gzip
// unless it is wanted.
func isGzip(r *Request, wanted bool) (bool, *StatusError) {
	encoding := strings.ToLower(strings.TrimSpace(strings.Join(r.values("Content-Encoding"), ",")))
	accepted := "identity"
	if wanted {
		accepted = "gzip, identity"
	}
	switch {
	case encoding == "" || encoding == "identity":
		return false, nil
	case wanted && (encoding == "gzip" || encoding == "x-gzip"): // RFC 9110 section 8.4.1.3
		return true, nil
	}
	return false, &StatusError{
		Code:    statusUnsupportedMedia,
		Reason:  "UnsupportedMediaType",
		Message: "the content encoding of the request is not supported - accepted encodings include: " + accepted,
		Header:  map[string]string{"Accept-Encoding": accepted}, // RFC 9110 section 12.5.3
	}
}
