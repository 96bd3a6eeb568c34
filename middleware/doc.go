// Package middleware prunes, defaults or checks the bodies of HTTP requests by
// the schemas of custom resources, as a kube-apiserver does, in front of any
// http.Handler.
//
//	catalog := schema.NewCatalog()
//	err := catalog.AddPath("crds/")
//	handler = middleware.New(request.ByPath(catalog), middleware.Options{})(handler)
//
// # What becomes of a request
//
// Package request judges the bodies of POST, PUT and PATCH. Its documentation
// says what is refused, with which answers, and how it differs from a
// kube-apiserver. The wrapped handler gets the pruned and defaulted object as
// JSON, with its Content-Length, or with the action request.Report the body as
// it was sent. Findings become Warning headers of the handler's answer. A body
// that cannot be decoded does not reach the handler: the middleware fails
// closed. In addition, it refuses
//
//	a method that is not on the list below   405
//	what overrides the method                400
//	Connection names a header of the body    400
//
// The answer to a refused request is a metav1.Status in JSON or problem details
// (RFC 9457), or is written by Options.Refuse.
//
// # What passes untouched
//
// A handler must not be able to take a request that was not judged for a write
// of a resource:
//
//   - GET, HEAD, DELETE and OPTIONS pass, whatever body they have. No other
//     method does, and the case of methods matters. Some frameworks take a
//     request for one with another method because of the headers
//     X-HTTP-Method-Override, X-HTTP-Method and X-Method-Override or the
//     parameter _method. These are refused with all methods.
//   - Requests pass for which the finder returns request.Pass. For paths,
//     request.ByPath and request.Unknown say which these are; by kind there are
//     none.
//   - Connections are switched to websocket (GET) and SPDY/3.1 (GET, POST)
//     only, and only if the finder returns request.Pass without looking into a
//     body. Otherwise the headers Upgrade and HTTP2-Settings are dropped, and
//     the request passes as one that does not ask for a switch. A connection of
//     h2c, for example, would carry further requests that nobody judges.
//   - From POST, PUT and PATCH the headers are dropped that make handlers and
//     gateways take a request for one with another path: X-Original-URL,
//     X-Original-URI, X-Rewrite-URL, X-Script-Name, and X-Forwarded- with
//     Prefix, Path and Uri.
//   - Headers with underscores are dropped that are Content-Type,
//     Content-Encoding, Content-Length, Content-Range, Transfer-Encoding or
//     Trailer to a reader who treats underscores as hyphens.
//   - Of the trailers of decoded requests those pass that were announced and
//     that say nothing about framing, routing, authentication, conditions or
//     the content (RFC 9110, section 6.5.1).
//
// A handler that obeys other headers of this sort needs a server in front of it
// that drops them.
//
// With Options.Stream the handler reads the body while it is decoded. The
// comment there describes the differences.
//
// # Authentication
//
// The body is judged before the wrapped handler knows who has sent it. Put
// authentication in front of the middleware.
//
// # Bodies are not logged
//
// The package logs nothing. An [Observer] is told of each body. Package request
// says which parts of an observation may be logged.
//
// # Memory
//
// The memory that requests hold is charged to Options.MaxHeldBytes, as package
// request describes. It does not include the connections and headers, which an
// http.Server bounds.
package middleware
