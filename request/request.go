package request

import (
	"context"
	"io"
	"net/url"
)

// A Request has what a [Gate] needs to know of a request.
type Request struct {
	// Context is the context of the request. It is for finders, and for
	// bodies that are decoded while they are read. Nil means
	// context.Background.
	Context context.Context
	// Method is the method; its case matters: see [JudgeMethod].
	Method string
	// Host is the host that the request was sent to, for finders that need
	// it.
	Host string
	// URL is the request target as it was sent, parsed by
	// url.ParseRequestURI; its escapes must not have been decoded before.
	// URL must not be nil.
	URL *url.URL
	// Header has the headers. Nil means that there are none.
	Header Header
	// ContentLength is the number of bytes of the body before
	// decompression, or -1 if it is not known. It is what the sender
	// claims: no memory is allocated because of it, and a wrong one does no
	// harm.
	ContentLength int64
	// Body is read to its end, unless the request is refused before that or
	// passes untouched. Nil means an empty body. A body that ends early
	// must end in an error other than io.EOF.
	Body io.Reader
	// Stream says that the body will be decoded by [Exchange.Stream] where
	// CanStream allows it. A [Peek] then reads no more of a JSON object than
	// it needs.
	Stream bool
}

// A Header has the headers of a request, as http.Header and
// textproto.MIMEHeader have them.
type Header interface {
	// Values returns the values of a header, in their order. The case of
	// names does not matter; the gate passes them in canonical form, such
	// as Content-Type.
	Values(name string) []string
}

// values returns the values of a header.
func (r *Request) values(name string) []string {
	if r.Header == nil {
		return nil
	}
	return r.Header.Values(name)
}

// A Result is what to pass on of a request that is not refused.
type Result struct {
	// Untouched is set if the request passes as it is: there is no resource
	// for it, and its body was not read. The other fields are then empty.
	Untouched bool
	// Body is passed on in place of the body that was sent. It is valid
	// until [Exchange.Close] and must not be changed.
	Body []byte
	// ContentType is the type of Body, without parameters. It is empty if
	// there is no resource for the request, which then keeps the type that
	// was sent.
	ContentType string
	// Changed is set if Body is not what was sent. Neither the
	// Content-Encoding nor the digests of the request then apply.
	Changed bool
	// Warnings are the values of the Warning headers, one for each finding,
	// and those about an object that is created, within the budget of a
	// kube-apiserver.
	Warnings []string
}
