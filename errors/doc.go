// Package errors says what decoding can report, and where.
//
// # Terminology
//
// A [Finding] is something reported that does not stop decoding: an unknown
// field that was pruned, a name that stands twice in one object. A fatal error
// is one after which there is no result: [SyntaxError], [LimitError],
// [TypeError] and [SchemaErrors]. [StrictError] stands between the two: it is
// returned together with a complete result, as the Kubernetes API server does
// it, and holds the findings that strict field validation refuses.
//
// A [Path] leads from the root of a document to the member or element that is
// meant. A [Position] is a place in the bytes that were read: JSON or YAML.
//
// The package imports nothing of this module but how paths are encoded. As its name hides
// the standard errors package, import one of them under another name where both are
// needed.
package errors
