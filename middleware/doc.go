// Package middleware prunes, defaults or checks the bodies of HTTP requests by the
// schemas of custom resources, as a kube-apiserver does it, in front of any
// http.Handler.
//
//	catalog := schema.NewCatalog()
//	err := catalog.AddPath("crds/")
//	handler = middleware.New(middleware.ByPath(catalog), middleware.Options{})(handler)
//
// # What becomes of a request
//
// Bodies of POST, PUT and PATCH are decoded. A [Finder] says by which schema, from the path of the request
// or from the type of the object. The handler behind gets the pruned and defaulted object, as JSON, with a
// Content-Length that is right, or the body as it was sent with the action [Report]. What
// is not decoded does not get there: the middleware fails closed.
//
//	the request                              the answer, with the texts of the API server
//	fieldValidation=Strict, with findings    400, strict decoding error
//	fieldValidation=Warn, which is default   Warning: 299, for each finding, within the server's budget
//	fieldValidation=Ignore                   nothing is looked for
//	fieldValidation is something else        422
//	a body that cannot be decoded            400
//	of another apiVersion, of another kind   400, 422
//	beyond Options.MaxBytes                  413
//	neither JSON nor YAML                    415
//	a charset other than UTF-8, with Report  415
//	a content encoding                       415, but for gzip with Options.Gzip
//	a patch that cannot be checked           415, but with [PassPatches]
//	more than Options.MaxHeldBytes at once   503, with Retry-After
//	a body that does not come in time        408
//	no schema for it, by kind                400
//	a path that others may read otherwise    400: see [ByPath]
//	no schema for it, by path                403 where [Paths] says so
//	a method that is not on the list below   405
//	what overrides the method                400
//	a Content-Range                          400
//	Connection names a header of the body    400
//
// Answers are metav1.Status in JSON, or problem details (RFC 9457).
//
// # What passes untouched
//
// A handler must not be able to take for a write of a resource what passes without having been looked at:
//
//   - GET, HEAD, DELETE and OPTIONS pass, whatever body they have; no other method does. Methods have case.
//     The headers X-HTTP-Method-Override, X-HTTP-Method and X-Method-Override and the parameter _method, by which
//     frameworks take a request for one with another method, are refused with all methods.
//   - What the finder finds nothing for passes. By path that is what is said at [ByPath] and [Unknown]; by kind there is no such thing.
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
// # Bodies are not logged
//
// The package logs nothing. An [Observer] is told of each body, with what was found in it, in which
// there are names from the body and no values. But the message of a [StatusError] repeats a part of
// the body, as the server's texts do: its first 30 bytes, or up to 1 KiB where there is no kind.
// It is meant for the sender; log its code and reason.
//
// # Memory
//
// What requests hold is charged to Options.MaxHeldBytes before it is taken: bodies, results, what decoding them takes, aliases of
// YAML and defaults among that, findings, and answers. A request for which there is no room gets a 503, whatever is
// in its body. What is kept for the next requests is within the limit. Beyond it are
// the connections and headers, which an http.Server bounds, and for each processor what decoding a few bodies takes before
// it asks: up to some times their largest scalar. Garbage comes on top, as much as is live with GOGC=100;
// GOMEMLIMIT has it collected earlier.
//
// # How it differs from a kube-apiserver
//
//   - What differs in decoding is said in package decoder, and most of it is taken back by
//     decoder.ServerRequests. Espalier has its own texts for YAML that is malformed, for
//     the metadata of embedded resources, and for what only it refuses.
//   - Findings are limited to 256 where nothing else is set. Under Strict the server has no
//     limit for unknown fields; under Warn both cut warnings long before that.
//   - Names that are not graphic are escaped in findings, so that warnings about them
//     are sent. The server drops these.
//   - Aliases and merge keys of YAML may add 64 KiB, and 16 bytes for each byte of the body, where decoder.Limits.AliasFactor
//     says nothing else. The server has a limit for how many of its nodes come from aliases, which such documents are seldom near.
//   - A mistake in metadata of more than 256 KiB is told in Espalier's words.
//   - Answers are in JSON whatever the client accepts.
//   - A body that is of another type than the path says is refused for that first.
//   - The body is judged before the handler behind knows who has sent it. Put authentication in front.
//   - Merge patches are checked without the object that they are for: see [CheckPatches].
package middleware
