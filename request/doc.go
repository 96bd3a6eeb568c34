// Package request judges the bodies of requests by the schemas of custom
// resources, as a kube-apiserver does. It does not depend on what carries the
// requests, and knows neither connections nor net/http. Package middleware
// applies it to net/http. An adapter to another protocol or server, such as
// Envoy's ext_proc, fasthttp or gRPC, is a few lines.
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
// The bodies of POST, PUT and PATCH are decoded. A [Finder] selects the schema,
// by the path of the request or by the type of the object. The result is the
// pruned and defaulted object as JSON or, with the action [Report], the body as
// it was sent. A body that cannot be decoded is refused: a gate fails closed.
//
//	the request                              the answer, with the texts of the API server
//	fieldValidation=Strict, with findings    400, strict decoding error
//	fieldValidation=Warn, the default        Result.Warnings: 299, for each finding, within the server's budget
//	fieldValidation=Ignore                   findings are not looked for
//	fieldValidation is something else        422
//	a body that cannot be decoded            400
//	of another apiVersion, of another kind   400, 422
//	an object to create with invalid values  422, with decoder.ValidateCreate
//	beyond Options.MaxBytes                  413
//	neither JSON nor YAML                    415
//	a charset other than UTF-8, with Report  415
//	a content encoding                       415, except for gzip with Options.Gzip
//	a patch that cannot be checked           415, except with PassPatches
//	more than Options.MaxHeldBytes at once   503, with Retry-After
//	a body that does not come in time        408: if reading fails with os.ErrDeadlineExceeded
//	no schema for it, by kind                400
//	a path that others may read otherwise    400: see ByPath
//	no schema for it, by path                403 if Paths says so
//	a method that is not on the list         405: see JudgeMethod
//	a Content-Range                          400
//
// A refusal is a value, a [StatusError]. An [Answer] presents it as
// metav1.Status in JSON, or as problem details (RFC 9457).
//
// # Values
//
// By default values are accepted, for the server to validate. With the option
// decoder.ValidateCreate for its decoders, an object that POST creates is
// validated as well, after everything else:
//
//	catalog := schema.NewCatalog(validation.Values())
//	find := request.ByPath(catalog, decoder.ValidateCreate)
//
// The answer is that of the API server: the reason Invalid, with a cause for
// each value. The warnings are those of the server as well: about owner
// references that repeat and, if the object is valid, about the names of its
// finalizers. With the action [Report] the object passes, and each invalid value
// is a warning.
//
// PUT and PATCH, also of a status, are not refused for values. The server
// excuses an invalid value that the stored object has as well, and a patch may
// be anything without the object that it applies to. Rules in CEL are evaluated
// if validation.Values has a compiler for them. The namespace of the path is not
// compared with the object's. A kube-apiserver validates after mutating
// admission, which a body here has not been through.
//
// A finder refuses a catalog that was made without validation.Values: it panics
// or, if the catalog was empty then, answers with 500.
//
// # What is left to the adapter
//
// The recipient of the body must not be able to take a request that was not
// judged for a write of a resource, or to read a body otherwise than it was
// judged. The adapter is therefore responsible for the following:
//
//   - The request that is passed on has the ContentType and the length of the
//     result. If the body has changed, the request has neither the
//     Content-Encoding nor the digests that were sent.
//   - Whatever overrides the method or the path of a request is refused or
//     dropped: headers such as X-HTTP-Method-Override and X-Original-URL, and
//     the parameter _method. The same applies to headers with underscores, to
//     trailers, to upgrades to other protocols, and to the rest of the list in
//     package middleware.
//   - A body that is cut off ends in an error.
//
// # Bodies are not logged
//
// The package logs nothing. An [Observation] has the findings of a body, which
// contain names of the body. Those about invalid values contain the values, too:
// log their path and rule instead. The message of a [StatusError] repeats a part
// of the body, as the server's texts do: its first 30 bytes, up to 1 KiB if
// there is no kind, or each invalid value. The message is meant for the sender;
// log its code and reason instead.
//
// # Memory
//
// The memory that requests hold is charged to Options.MaxHeldBytes before it is
// allocated: bodies, results, the memory of decoding (with aliases of YAML and
// defaults), findings, and answers. A request for which there is no room gets a
// 503, whatever is in its body. Memory that is kept for the next requests
// counts towards the limit. For each processor, a few bodies may be decoded
// that have not yet asked for room. What that takes is not counted: up to a few
// times their largest scalar. Garbage comes in addition, as much as is live
// with GOGC=100; GOMEMLIMIT makes the collector run earlier.
//
// # How it differs from a kube-apiserver
//
//   - Package decoder describes the differences in decoding.
//     decoder.ServerRequests removes most of them. Espalier has its own texts
//     for malformed YAML, for the metadata of embedded resources, and for what
//     only Espalier refuses.
//   - Findings are limited, to 256 by default. Under Strict the server has no
//     limit for unknown fields. Under Warn both cut off warnings long before
//     that.
//   - Names that are not graphic are escaped in findings, so that warnings
//     about them can be sent. The server drops such warnings.
//   - Aliases and merge keys of YAML may add 64 KiB and 16 bytes for each byte
//     of the body, unless decoder.Limits.AliasFactor says otherwise. The server
//     limits how many of its nodes may come from aliases; such documents seldom
//     come near that limit.
//   - A mistake in metadata of more than 256 KiB is described in Espalier's
//     words.
//   - Answers are in JSON, whatever the client accepts.
//   - A body of another type than the path says is refused for that reason
//     first.
//   - Merge patches are checked without the object that they apply to: see
//     [CheckPatches].
package request
