// Package middleware prunes, defaults or checks the bodies of HTTP requests by the
// schemas of custom resources, as a kube-apiserver does it, in front of any
// http.Handler.
//
//	catalog := schema.NewCatalog()
//	err := catalog.AddPath("crds/")
//	handler = middleware.New(request.ByPath(catalog), middleware.Options{})(handler)
//
// # What becomes of a request
//
// Bodies of POST, PUT and PATCH are judged by package request, whose documentation has what is refused, with which
// answers, and how it differs from a kube-apiserver. The handler behind gets the pruned and defaulted object, as JSON, with a
// Content-Length that is right, or the body as it was sent with the action request.Report; findings are headers Warning of
// its answer. What is not decoded does not get there: the middleware fails closed. Besides, it refuses
//
//	a method that is not on the list below   405
//	what overrides the method                400
//	Connection names a header of the body    400
//
// Refusals are answered with a metav1.Status in JSON, with problem details (RFC 9457), or by Options.Refuse.
//
// # What passes untouched
//
// A handler must not be able to take for a write of a resource what passes without having been looked at:
//
//   - GET, HEAD, DELETE and OPTIONS pass, whatever body they have; no other method does. Methods have case.
//     The headers X-HTTP-Method-Override, X-HTTP-Method and X-Method-Override and the parameter _method, by which
//     frameworks take a request for one with another method, are refused with all methods.
//   - What the finder finds nothing for passes. By path that is what is said at request.ByPath and request.Unknown; by kind there is no such thing.
//   - Connections are switched to websocket (GET) and SPDY/3.1 (GET, POST) only, and only where the finder finds nothing
//     and has no error, without looking into a body. In h2c there are requests, which nobody would see: Upgrade and
//     HTTP2-Settings are dropped otherwise, and the request passes as one that does not ask for it.
//   - Of POST, PUT and PATCH the headers are dropped by which handlers and gateways take a request for one with another path:
//     X-Original-URL, X-Original-URI, X-Rewrite-URL, X-Script-Name, and X-Forwarded- with Prefix, Path and Uri.
//   - Headers with underscores that are Content-Type, Content-Encoding, Content-Length, Content-Range, Transfer-Encoding or
//     Trailer for who takes these for hyphens are dropped.
//   - Of what is decoded those trailers pass that were announced, and that say nothing about framing,
//     routing, authentication, conditions or the content (RFC 9110 section 6.5.1).
//
// A handler that obeys other headers of this sort needs somebody in front who drops them.
//
// With Options.Stream the handler reads while the body is decoded: what is different then is said
// there.
//
// # Who comes first
//
// The body is judged before the handler behind knows who has sent it. Put authentication in front.
//
// # Bodies are not logged
//
// The package logs nothing. An [Observer] is told of each body: see package request, where it is said what may be logged.
//
// # Memory
//
// What requests hold is charged to Options.MaxHeldBytes, as package request says. Beyond it are the connections and
// headers, which an http.Server bounds.
package middleware
