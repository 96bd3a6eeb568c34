// Package errors defines the findings and errors that decoding can report, and
// the paths and positions in them.
//
// # Terminology
//
// A [Finding] is reported and does not stop decoding. Examples are an unknown
// field that was pruned, and a name that occurs twice in one object. A fatal
// error is one after which there is no complete result: [SyntaxError],
// [LimitError], [TypeError], [ObjectError], [DuplicateError], [IOError] and
// [SchemaErrors] are fatal. A [StrictError] is between the two. It is returned
// together with a complete result, as the Kubernetes API server does it, and
// holds the findings that strict field validation refuses.
//
// A [Path] leads from the root of a document to a member or an element. A
// [Position] is a place in the bytes that were read, which are JSON or YAML.
//
// Of this module the package imports only the encoding of paths. Its name hides
// the standard errors package: import one of them under another name where both
// are needed.
package errors
