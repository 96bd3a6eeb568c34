// Package extproc prunes, defaults or checks the bodies of requests in Envoy, by
// the schemas of custom resources, as a kube-apiserver does. It is an external
// processor: a server to which Envoy's filter ext_proc sends requests, and which
// says what becomes of them.
//
//	catalog := schema.NewCatalog()
//	err := catalog.AddPath("crds/")
//	processor := extproc.New(request.ByPath(catalog), extproc.Options{})
//	server := extproc.NewServer(processor)
//	err = server.ListenAndServe()
//
// # What becomes of a request
//
// It is what package middleware makes of the same request. Package request
// judges bodies, headers, methods and paths for both, and its documentation says
// what is refused, and with which answers. A refusal is an ImmediateResponse with
// a metav1.Status or problem details. Findings become warnings in one header of
// the response, because Envoy limits the number of headers.
//
// # Modes
//
// What happens depends on the request_body_mode of Envoy's filter:
//
//	BUFFERED              the body is judged as a whole; the request that is passed on has its length
//	BUFFERED_PARTIAL      the same; a body of which Envoy sends only a part is refused with 413
//	STREAMED              the headers are passed on at once, and the result with the last part of the body
//	FULL_DUPLEX_STREAMED  nothing is passed on before the body was judged; trailers are supported
//	NONE, GRPC            what has a schema is refused with 500, because its body is not seen
//
// With Options.Stream, JSON is decoded while it comes, in the modes STREAMED and
// FULL_DUPLEX_STREAMED, and so needs little memory.
//
// In the modes STREAMED and BUFFERED_PARTIAL the type of the body is passed on
// before the body is known. A finder that looks into bodies and then lets some
// pass untouched is of no use there: these are refused with 500. In all modes
// but FULL_DUPLEX_STREAMED, requests with trailers are refused if they have a
// schema.
//
// Responses pass untouched, but for warnings. A response_body_mode other than
// NONE works and is of no use.
//
// # What Envoy must do
//
// A request is judged only if Envoy asks, and heeds the answer:
//
//   - failure_mode_allow, disable_immediate_response and observability_mode must
//     not be set.
//   - request_header_mode and response_header_mode must be SEND, the default.
//   - request_trailer_mode must be SEND, which is not the default. Otherwise a
//     client that sends trailers ends its request without this processor: in
//     mode STREAMED with the part of the result that was passed on so far, which
//     may be none, and in the BUFFERED modes, after no body, with its trailers.
//   - mutation_rules must allow all that they allow by default.
//   - Envoy must send protocol_config, as it does from version 1.34 on. From 1.35
//     on it also refuses a request if an answer comes when it waits for none.
//   - Filters that change the path, the method or the body come before this one.
//   - message_timeout is 200 ms by default, which large bodies can exceed.
//
// What can be noticed of this ends the stream with an error, for which Envoy
// refuses the request. Messages that are malformed or out of order do the same,
// and so does a stream that ends before the body.
//
// # Memory
//
// The memory that requests hold is charged to Options.MaxHeldBytes, as package
// request describes. A body is charged while it is read from the connection,
// however large the message is that it comes in. Where there is no room, the
// request is refused with 503. A request without a body or without a schema needs
// no room, and neither does a response. A result is charged until the connection
// has taken it.
//
// Connections, streams and headers are not charged. The server of [NewServer]
// bounds them: a connection may have 1 000 streams and up to 4 MiB that nobody
// has read yet, and a stream takes some 32 KiB, and headers of up to 128 KiB.
//
// Package request says what may be logged; this package logs nothing.
package extproc
