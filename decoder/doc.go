// Package decoder decodes JSON and YAML against a compiled structural schema: it
// prunes unknown fields, inserts defaults, and reports unknown and duplicate
// fields with their paths and positions, in one walk over the bytes.
//
//	p, err := crd.Program("v1") // of schema.ParseCRD, or schema.Compile
//	d := decoder.New(p)
//	out, err := d.AppendJSON(nil, body)
//	for _, f := range d.Findings() { ... }
//
// # Ways in and out
//
// [Decoder.AppendJSON] and [Decoder.AppendYAML] turn bytes into bytes,
// [Decoder.Unmarshal] and [Decoder.UnmarshalYAML] into maps and other Go values. A
// [Reader] and a [Writer] prune a document as it comes, in bounded memory; what differs is said at Reader.
// Package tokens has the tokens of the result. A [Sequence] decodes the objects of a stream, or
// the items of a list, one at a time and each against the program for its kind. All give the
// same values and findings.
//
// A [schema.Program] is for any number of goroutines, a Decoder for one at a time: a [Pool]
// has one for each.
//
// # Terminology
//
// A field is what the schema declares, a name is what the document holds; a
// member is a name and a value. To prune is to drop members with unknown names.
// A finding is reported and does not stop decoding; a fatal error does, and then
// there is no result. Package errors has both.
//
// # What is decided, and where
//
// What becomes of each value is compiled into the program (package schema): the
// semantics of the deployed server or of the KEPs, where pruning starts again, what
// happens to a null. A [Decoder] runs it, and decides how strict it is about
// findings ([FieldValidation]) and what it may cost ([Limits]).
//
// # Safety
//
// Pruning is a security measure, so that what reaches the output must not be read
// differently by whoever reads it next:
//
//   - Everything is validated, what is dropped as well: the grammar of RFC 8259,
//     UTF-8, pairs of surrogates, numbers in the range of float64.
//   - Names are compared after unescaping, byte by byte. No object of a result
//     has a name twice: the last value wins, as a whole, and earlier ones leave
//     no trace.
//   - There is one document. Anything after it is an error.
//   - Nothing of the document stands in an error text unescaped.
//   - Time and memory are linear in the size of the document and of the result,
//     whatever the document is; what defaults add is limited.
//
// # How it differs from the API server
//
// The values are those of a kube-apiserver (v0.37 of k8s.io/apiextensions-apiserver)
// and so are the texts and the order of findings, with these exceptions, which
// a [ServerMode] takes back:
//
//   - What the server mangles is refused: invalid UTF-8 and surrogates without a
//     partner, which it replaces with U+FFFD.
//   - The text of numbers and strings is kept as it was sent. The server writes
//     1e3 as 1000, and integers beyond int64 as their float64.
//   - metadata is pruned to the fields of ObjectMeta, and values of wrong types in
//     it are an error, but it is not normalised: the server also drops empty
//     members, rewrites times, and refuses what is no time.
//   - apiVersion and kind may be absent.
//   - Numbers and names are limited in length.
//   - Paths have one spelling, in which all names follow a dot. For what is unknown
//     in the metadata of an embedded resource, the server writes the keys of maps
//     on the way there in brackets.
//   - The server reads apiVersion and kind a first time without regard to case, and fails if
//     one of them is no string, also where a later one replaces it.
//
// These hold in both:
//
//   - Names that are empty or not graphic are quoted and escaped in paths.
//   - Findings are limited to 100, and nulls that are dropped can be reported.
package decoder
