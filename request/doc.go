// Package request judges the bodies of requests by the schemas of custom resources, as a kube-apiserver does it, whatever carries
// them: it knows neither connections nor net/http. Package middleware is what it is for net/http; an adapter to
// another protocol, such as Envoy's ext_proc, fasthttp or gRPC, is a few lines.
//
//	gate := request.NewGate(request.Options{})
//	find := request.ByPath(catalog)
//
//	x := gate.Begin(request.Request{Method: "POST", URL: u, Header: header, ContentLength: -1, Body: body})
//	defer x.Close()
//	result, refused := x.Judge(find)
//	switch {
//	case refused != nil:
//		answer := x.Answer(refused) // a code, headers, and the bytes of a metav1.Status
//	case result.Untouched:
//		// the request passes as it is
//	default:
//		// result.Body and result.ContentType are passed on, result.Warnings go into the answer
//	}
//
// # What becomes of a request
//
// Bodies of POST, PUT and PATCH are decoded. A [Finder] says by which schema, from the path of the request
// or from the type of the object. The result is the pruned and defaulted object, as JSON, or the body as it
// was sent with the action [Report]. What is not decoded is refused: a gate fails closed.
//
//	the request                              what is returned, with the texts of the API server
//	fieldValidation=Strict, with findings    400, strict decoding error
//	fieldValidation=Warn, which is default   Result.Warnings: 299, for each finding, within the server's budget
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
//	a body that does not come in time        408: where reading fails with os.ErrDeadlineExceeded
//	no schema for it, by kind                400
//	a path that others may read otherwise    400: see [ByPath]
//	no schema for it, by path                403 where [Paths] says so
//	a method that is not on the list         405: see [JudgeMethod]
//	a Content-Range                          400
//
// A refusal is a value, [StatusError]; an [Answer] says it as metav1.Status in JSON, or as problem details (RFC 9457).
//
// # What is left to the adapter
//
// Whoever gets the body must not be able to take for a write of a resource what passes without having been looked at, nor read
// a body otherwise than it was judged:
//
//   - What is passed on has the ContentType and the length of the result, and no Content-Encoding and digests of
//     what was sent where it has changed.
//   - What overrides the method or the path of a request is refused or dropped: headers such as X-HTTP-Method-Override and
//     X-Original-URL, and the parameter _method. So are headers with underscores, trailers, upgrades to other
//     protocols, and what else package middleware has a list of.
//   - A body that is cut off ends in an error.
//
// # Bodies are not logged
//
// The package logs nothing. An [Observation] has what was found in a body, in which
// there are names from the body and no values. But the message of a [StatusError] repeats a part of
// the body, as the server's texts do: its first 30 bytes, or up to 1 KiB where there is no kind.
// It is meant for the sender; log its code and reason.
//
// # Memory
//
// What requests hold is charged to Options.MaxHeldBytes before it is taken: bodies, results, what decoding them takes, aliases of
// YAML and defaults among that, findings, and answers. A request for which there is no room gets a 503, whatever is
// in its body. What is kept for the next requests is within the limit. Beyond it is, for each processor, what decoding a few bodies
// takes before it asks: up to some times their largest scalar. Garbage comes on top, as much as is live with GOGC=100;
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
//   - Merge patches are checked without the object that they are for: see [CheckPatches].
package request
