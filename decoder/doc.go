// Package decoder decodes JSON and YAML against a compiled structural schema.
// In one walk over the bytes it prunes unknown fields, inserts defaults, and
// reports unknown and duplicate fields with their paths and positions.
//
//	p, err := crd.Program("v1") // of schema.ParseCRD, or schema.Compile
//	d := decoder.New(p)
//	out, err := d.AppendJSON(nil, body)
//	for _, f := range d.Findings() { ... }
//
// # Entry points
//
// [Decoder.AppendJSON] and [Decoder.AppendYAML] turn bytes into bytes.
// [Decoder.Unmarshal] and [Decoder.UnmarshalYAML] store the result in maps and
// other Go values. A [Reader] or a [Writer] prunes a document as it arrives, in
// bounded memory; the documentation of Reader says how its results differ.
// Package tokens reads the tokens of a result. A [Sequence] decodes the objects
// of a stream, or the items of a list, one at a time and each against the
// program for its kind. All of them give the same values and findings.
//
// Any number of goroutines can share a [schema.Program]. A Decoder serves one
// goroutine at a time, and a [Pool] has a decoder for each.
//
// # Terminology
//
// A field is what the schema declares. A name is what the document holds, and a
// member is a name with its value. To prune is to drop members whose names are
// unknown. A finding is reported and does not stop decoding. A fatal error
// stops it, and then there is no result. Package errors defines both.
//
// # Where decisions are made
//
// The program decides what becomes of each value: package schema compiles into
// it whether the semantics are those of the deployed server or of the KEPs,
// where pruning resumes, and what happens to a null. A [Decoder] runs the
// program. Its options decide how strict it is about findings
// ([FieldValidation]) and how much a document may cost ([Limits]).
//
// # Safety
//
// Pruning is a security measure. The next reader of the output must not read it
// differently, and therefore these rules hold:
//
//   - Everything is validated, including what is dropped: the grammar of RFC
//     8259, UTF-8, surrogate pairs, and that numbers are in the range of
//     float64.
//   - Names are compared byte by byte after unescaping. No object of a result
//     has the same name twice: the last value wins as a whole, and earlier ones
//     leave no trace.
//   - There is exactly one document. Anything after it is an error.
//   - No text of the document appears in an error message unescaped.
//   - Time and memory are linear in the sizes of the document and of the
//     result, for every document. The bytes that defaults add are limited.
//
// # How it differs from the API server
//
// The values, and the texts and the order of the findings, are those of a
// kube-apiserver (v0.37 of k8s.io/apiextensions-apiserver), with these
// exceptions. A [ServerMode] removes them:
//
//   - Input that the server would alter is refused: invalid UTF-8 and lone
//     surrogates, both of which the server replaces with U+FFFD.
//   - Numbers and strings keep the text that was sent. The server writes 1e3 as
//     1000, and integers beyond int64 as float64.
//   - metadata is pruned to the fields of ObjectMeta, and values of wrong types
//     in it are an error, but it is not normalised. The server also drops empty
//     members, rewrites times, and refuses strings that are not times.
//   - apiVersion and kind may be absent.
//   - Numbers and names are limited in length.
//   - Paths have a single spelling, in which a dot precedes every name. For
//     unknown fields in the metadata of an embedded resource, the server writes
//     the map keys on the way there in brackets.
//   - The server first reads apiVersion and kind without regard to case, and
//     fails if one of them is not a string, even where a later one replaces it.
//
// These differences remain in every mode:
//
//   - Names that are empty or not graphic are quoted and escaped in paths.
//   - Findings are limited, to 100 by default, and dropped nulls can be
//     reported.
package decoder
