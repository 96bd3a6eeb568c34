// Package yamlbridge turns a YAML document into JSON, and remembers where each
// name and value stood.
//
// # Dialect
//
// Scalars are read as the Kubernetes API server reads them (sigs.k8s.io/yaml
// over go.yaml.in/yaml/v2), which is neither YAML 1.1 nor 1.2: yes, on and y are
// booleans; 0777 and 0o777 are octal; 1_000 is 1000; 1e3 and 1000.0 are the
// integer 1000; 190:20:30 and dates are strings. Keys become strings as they do
// there: 0x10 is the name "16", yes is "true".
//
// What that server mangles, ignores or decides at random is refused instead:
// a second document, tags outside the core ones, !!binary that is not UTF-8,
// numbers beyond a float64, UTF-16.
//
// # Names that stand twice
//
// All members of a mapping are written, in their order, also where names are
// equal or become equal as strings (1 and "1"). Whoever reads the JSON finds
// them by name, and their lines through the [SourceMap].
//
// # Anchors, aliases and merge keys
//
// Aliases are expanded by copy. Merge keys follow the YAML rule (yaml.org/type/
// merge.html): an explicit key wins wherever it stands, the earlier mapping of a
// list wins over the later, and overriding a merged member is no duplicate.
// Where a mapping has several merge keys, the later wins over the earlier, as
// on the API server. What is copied on behalf of aliases and merge keys is
// bounded by [MaxAliasBytes].
//
// # The reader
//
// The grammar is read by gopkg.in/yaml.v3, of which only the node tree is used,
// never what it makes of a scalar. These are its doing: it takes U+0085, U+2028
// and U+2029 for line breaks when it parses (positions do not); it refuses the
// escapes \/ and \ud83d\ude00 (a surrogate pair), so that these are read only in
// documents that are JSON throughout; the column of a syntax error is that of the
// first character of its line.
package yamlbridge

import "bytes"

const (
	// MaxDepth is how deeply mappings and sequences may nest, those that
	// aliases bring in included.
	MaxDepth = 10_000
	// MaxAliasBytes is how many bytes of JSON aliases and merge keys may add to
	// one document. Members that a merge key offers and that are overridden
	// count with their names.
	MaxAliasBytes = 10 << 20
	// MaxNumberBytes is how long the text of a number may be.
	MaxNumberBytes = 1_000
)

// AppendJSON appends the JSON form of the one YAML document in src to dst and
// returns the extended buffer. It fills m with the positions unless m is nil.
// A src without a document, or with an empty one, gives null.
//
// The JSON is compact and valid UTF-8; objects may hold a name more than once.
// Numbers are written by their value, as encoding/json writes it.
//
// The error is a [*errors.SyntaxError] or a [*errors.LimitError]; dst is then
// returned as it was, and m holds no positions. Limits are [MaxDepth],
// [MaxAliasBytes] and [MaxNumberBytes]. A panic inside yaml.v3 is a SyntaxError,
// too.
//
// The result does not alias src, but m does until its next use. Concurrent calls
// are safe with different dst and m.
func AppendJSON(dst, src []byte, m *SourceMap) ([]byte, error) {
	if m == nil {
		m = new(SourceMap)
	}
	m.reset(src)
	out, err := appendJSON(dst, src, m)
	if err != nil {
		m.marks = m.marks[:0]
		return dst, err
	}
	return out, nil
}

const bom = "\uFEFF"

func appendJSON(dst, src []byte, m *SourceMap) ([]byte, error) {
	// A UTF-32 little-endian mark starts with the one of UTF-16.
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff"} {
		if bytes.HasPrefix(src, []byte(mark)) {
			return nil, m.syntaxError(0, "UTF-16 or UTF-32; only UTF-8 is read")
		}
	}
	c := newCutter(src)
	doc, ok := c.next()
	if second, more := c.next(); more {
		return nil, m.syntaxError(second.open, secondDocument)
	}
	text := src[doc.start:doc.end]
	base := doc.start
	if bytes.HasPrefix(text, []byte(bom)) {
		text, base = text[len(bom):], base+len(bom)
	}
	if off, msg := checkCharacters(src, base); msg != "" {
		return nil, m.syntaxError(off, msg)
	}
	e := emitter{m: m, cursor: newCursor(text, base), out: dst, base: len(dst), budget: MaxAliasBytes}
	if ok {
		root, err := parse(asYAML11(text, doc.version-base))
		if err != nil {
			if root = parseEscapedJSON(text, err); root == nil {
				return nil, translate(err, m, &e.cursor)
			}
		}
		if root != nil {
			return e.emit(root)
		}
	}
	e.mark(0)
	return append(dst, "null"...), nil
}
