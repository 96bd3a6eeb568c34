package request

import (
	"context"
	"io"
	"net/url"
)

// A Request is what a [Gate] has to know of a request.
type Request struct {
	// Context is that of the request: for finders, and for bodies that are decoded while they are read. Nil
	// is context.Background.
	Context context.Context
	// Method has case: see [JudgeMethod].
	Method string
	// Host is what the request was sent to, for finders that ask for it.
	Host string
	// URL is the request target as it was sent, read by url.ParseRequestURI: its escapes are still to be decoded. It
	// must not be nil.
	URL *url.URL
	// Header has the headers. Nil is none.
	Header Header
	// ContentLength is how many bytes the body has, before decompression, or -1 where nobody knows. It is what
	// the sender says: nothing is taken for it, and a wrong one does no harm.
	ContentLength int64
	// Body is read to its end, unless the request is refused before, or passes untouched. Nil is an empty one. A
	// body that ends early must end in an error and not in io.EOF.
	Body io.Reader
}

// A Header has the headers of a request, as http.Header and textproto.MIMEHeader have them.
type Header interface {
	// Values returns the values of a header, in their order. Names have no case; they are asked for in
	// canonical form, such as Content-Type.
	Values(name string) []string
}

// values returns the values of a header.
func (r *Request) values(name string) []string {
	if r.Header == nil {
		return nil
	}
	return r.Header.Values(name)
}

// A Result is what is passed on of a request that is not refused.
type Result struct {
	// Untouched says that the request passes as it is, and nothing else is said of it: there is no resource for it,
	// and its body was not read.
	Untouched bool
	// Body is passed on in place of what was sent. It may be read until [Exchange.Close], and must not
	// be changed.
	Body []byte
	// ContentType is the type of Body, without parameters; or nothing where there is no resource for the request, which
	// then has the type that was sent.
	ContentType string
	// Changed says that Body is not what was sent, so that neither Content-Encoding nor digests of the request hold.
	Changed bool
	// Warnings are the values of a header Warning for each finding, within the budget of a kube-apiserver.
	Warnings []string
}
