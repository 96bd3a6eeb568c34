package fuzz

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/espalier-dev/espalier/schema"
)

// NewDocument returns the document of the seed, which mostly follows the schema, and the rules that
// it exercises.
func NewDocument(seed uint64, s *schema.Structural) ([]byte, Rules) {
	w := documentWriter{Rand: rand.New(rand.NewPCG(seed, 2))}
	w.repeat = in(w.Rand, 3)
	w.blanks = in(w.Rand, 3)
	w.escapes = in(w.Rand, 3)
	w.odd = in(w.Rand, 4)
	w.wild = in(w.Rand, 12)
	if in(w.Rand, 80) {
		w.hit(NoObject)
		return []byte(one(w.Rand, "", " ", "null", "[]", "[{}]", "7", `"x"`, "true", "nul", "\ufeff{}", "{} {}", "{}]", "{}\x00")), w.rules
	}
	w.object(s, 0, root, false)
	w.blank()
	doc := w.b.Bytes()
	if in(w.Rand, 30) {
		w.hit(BrokenSyntax)
		doc = w.damage(doc)
	}
	return doc, w.rules
}

// A place says which rule a schema has for a value.
type place uint8

const (
	root place = iota
	governed
	preserved   // no schema, kept
	unspecified // no schema, pruned
)

type documentWriter struct {
	*rand.Rand
	b     bytes.Buffer
	rules Rules

	repeat  bool // names repeat
	blanks  bool
	escapes bool
	odd     bool // rare names, numbers and texts
	wild    bool // texts that are most probably fatal

	below []Rule // UnknownBelowArray and so on, of the open containers
}

func (w *documentWriter) hit(r Rule) { w.rules.hit(r) }

func (w *documentWriter) blank() {
	if w.blanks && in(w.Rand, 6) {
		w.hit(WhiteSpace)
		w.b.WriteString(one(w.Rand, " ", "\n", "\t", "\r\n", "          ", " \n            "))
	}
}

func (w *documentWriter) text(s string) {
	w.b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			w.b.WriteString(`\` + string(r))
		case r < ' ' || w.escapes && in(w.Rand, 8):
			format := one(w.Rand, `\u%04x`, `\u%04X`)
			if w.escapes {
				w.hit(EscapedName)
			}
			if hi, lo := utf16.EncodeRune(r); r > 0xffff {
				fmt.Fprintf(&w.b, format, hi)
				fmt.Fprintf(&w.b, format, lo)
			} else {
				fmt.Fprintf(&w.b, format, r)
			}
		default:
			w.b.WriteRune(r)
		}
		if r > 127 {
			w.hit(NonASCII)
		}
	}
	if w.wild && in(w.Rand, 30) {
		if in(w.Rand, 2) {
			w.hit(InvalidUTF8)
			w.b.WriteString(one(w.Rand, "\xff", "\xfe", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82"))
		} else {
			w.hit(LoneSurrogate)
			w.b.WriteString(one(w.Rand, `\ud800`, `\uDC00`, `\ud800\ud800`, `\udead\ud83d`))
		}
	}
	w.b.WriteByte('"')
}

func (w *documentWriter) scalar(kind string) {
	switch kind {
	case "string":
		if w.odd && in(w.Rand, 4) {
			w.text(one(w.Rand, oddNames...))
			return
		}
		w.text(one(w.Rand, "", "a", "hello", "é", "sixteen bytes 16", "longer than sixteen bytes, by a few", "日本語", "🌳"))
	case "integer":
		if w.odd && in(w.Rand, 4) {
			w.hit(OddNumber)
			w.b.WriteString(one(w.Rand, "-0", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809",
				"18446744073709551616", "123456789012345678901234567890", "9007199254740993"))
			return
		}
		w.b.WriteString(one(w.Rand, "0", "-1", "7", "123456"))
	case "number":
		if w.odd && in(w.Rand, 3) {
			w.hit(OddNumber)
			w.b.WriteString(one(w.Rand, "-0.0", "1E5", "1e-400", "0.1e1", "9007199254740993.0", "1e308", "1e+2", "4.9e-324", "0e999"))
			return
		}
		if w.wild && in(w.Rand, 12) {
			w.hit(HugeNumber)
			w.b.WriteString(one(w.Rand, "1e400", "-1e400", "1e309"))
			return
		}
		w.b.WriteString(one(w.Rand, "1.5", "-0.25", "1e3", "1.0"))
	case "boolean":
		w.b.WriteString(one(w.Rand, "true", "false"))
	default:
		w.b.WriteString("null")
	}
}

func preserves(s *schema.Structural) bool {
	return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

// value writes a value that s governs. If there is no schema, s is nil, and at says what becomes of
// the value.
func (w *documentWriter) value(s *schema.Structural, depth int, at place) {
	w.blank()
	defer w.blank()
	if s == nil {
		w.any(depth, at)
		return
	}
	kind := s.Type
	switch {
	case s.XIntOrString:
		kind = one(w.Rand, "integer", "string", "object")
	case kind == "" || in(w.Rand, 14):
		kind = one(w.Rand, "object", "array", "string", "integer", "boolean", "number")
	case kind != "object" && len(s.Properties) > 0 && in(w.Rand, 2):
		kind = "object"
	case kind != "array" && s.Items != nil && in(w.Rand, 2):
		kind = "array"
	}
	if depth > 9 && (kind == "object" || kind == "array") {
		w.b.WriteString(one(w.Rand, "{}", "[ ]", "{ }", "[]"))
		return
	}
	if kind != s.Type && s.Type != "" {
		switch {
		case kind == "object" && s.Type == "array":
			w.hit(ObjectForArray)
		case kind == "object":
			w.hit(ObjectForScalar)
		case kind == "array" && s.Type == "object":
			w.hit(ArrayForObject)
		case s.Type == "object":
			w.hit(ScalarForObject)
		}
	}
	switch kind {
	case "object":
		if s.XIntOrString {
			w.hit(ObjectForIntOrString)
		}
		w.object(s, depth, governed, preserves(s))
	case "array":
		var items *schema.Structural
		if s.Items != nil {
			items = s.Items.Schema
		}
		if items != nil && items.Type == "array" {
			w.hit(ArrayOfArrays)
		}
		w.array(func() {
			if items != nil && preserves(s) {
				w.hit(ElementOfPreservingArray)
			}
			w.element(items, depth+1, preserves(s))
		})
	default:
		w.scalar(kind)
	}
}

// any writes a value without a schema.
func (w *documentWriter) any(depth int, at place) {
	kind := one(w.Rand, "object", "array", "string", "integer", "null", "number", "boolean")
	switch {
	case depth > 9 || kind != "object" && kind != "array":
		w.scalar(kind)
	case kind == "object":
		w.object(nil, depth, at, at == preserved)
	case w.odd && in(w.Rand, 20):
		w.hit(DeepNesting)
		n := one(w.Rand, 50, 300, 9000, 10_000)
		if n >= 9000 && !in(w.Rand, 8) {
			n = 100
		}
		w.b.WriteString(strings.Repeat("[", n) + strings.Repeat("]", n))
	default:
		w.array(func() { w.any(depth+1, at) })
	}
}

func (w *documentWriter) array(element func()) {
	w.below = append(w.below, UnknownBelowArray)
	w.b.WriteByte('[')
	w.blank()
	for i := range w.IntN(4) {
		if i > 0 {
			w.b.WriteByte(',')
		}
		element()
	}
	w.b.WriteByte(']')
	w.below = w.below[:len(w.below)-1]
}

func (w *documentWriter) element(s *schema.Structural, depth int, kept bool) {
	at := unspecified
	if kept {
		at = preserved
	}
	if !in(w.Rand, 8) {
		w.value(s, depth, at)
		return
	}
	if s != nil && !s.Nullable {
		if len(s.Default) > 0 {
			w.hit(NullElementDefaulted)
		} else {
			w.hit(NullElement)
		}
	}
	w.blank()
	w.b.WriteString("null")
	w.blank()
}

// object writes an object. keep says that its unknown fields are preserved.
func (w *documentWriter) object(s *schema.Structural, depth int, at place, keep bool) {
	if s == nil {
		s = &schema.Structural{}
	}
	resource := at == root || s.XEmbeddedResource
	if at == root {
		keep = preserves(s)
	}
	if s.XEmbeddedResource && at == governed {
		w.hit(Embedded)
		for _, r := range w.below {
			w.hit(map[Rule]Rule{UnknownBelowArray: EmbeddedBelowArray, UnknownBelowMap: EmbeddedBelowMap}[r])
		}
		if preserves(s) {
			w.hit(EmbeddedPreserve)
		}
	}
	names := w.names(s, at, resource)
	if len(s.Properties) > 64 {
		w.hit(ManyFields)
	}
	for name, p := range s.Properties {
		if at <= governed && len(p.Default) > 0 && !slices.Contains(names, name) {
			w.hit(AbsentDefaulted)
			for _, r := range w.below {
				w.hit(map[Rule]Rule{UnknownBelowArray: AbsentInElement, UnknownBelowMap: AbsentInMapValue}[r])
			}
			if len(p.Properties) > 0 {
				w.hit(AbsentParent)
			}
			if bytes.Contains(p.Default, []byte("null")) {
				w.hit(NullInDefault)
			}
			if bytes.Contains(p.Default, []byte(`"metadata":`)) {
				w.hit(MetadataInDefault)
			}
		}
	}
	w.b.WriteByte('{')
	w.blank()
	for i, name := range names {
		if i > 0 {
			w.b.WriteByte(',')
			w.blank()
		}
		if slices.Contains(names[:i], name) {
			w.hit(Duplicate)
			if w.escapes {
				w.hit(DuplicateEscaped)
			}
			if len(names) > 32 {
				w.hit(DuplicateOfMany)
			}
		}
		w.text(name)
		w.blank()
		w.b.WriteByte(':')
		w.member(s, name, depth, at, keep, resource)
	}
	w.b.WriteByte('}')
}

// names returns the names of the members of an object.
func (w *documentWriter) names(s *schema.Structural, at place, resource bool) []string {
	known := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		known = append(known, name)
	}
	slices.Sort(known)
	var names []string
	for range w.IntN(7) {
		switch {
		case len(known) > 0 && !in(w.Rand, 4):
			names = append(names, one(w.Rand, known...))
		case w.odd && in(w.Rand, 2):
			w.hit(OddName)
			names = append(names, one(w.Rand, oddNames...))
		default:
			names = append(names, one(w.Rand, append(fieldNames, "x", "y", "unknown", "unknown-and-longer-than-sixteen", "kinds")...))
		}
	}
	if in(w.Rand, 60) {
		for i := range 40 {
			names = append(names, fmt.Sprint("many", i))
		}
		if w.repeat {
			names = append(names, "many7")
		}
	}
	if resource {
		for _, name := range []string{"apiVersion", "kind", "metadata"} {
			if !in(w.Rand, 6) {
				names = append(names, name)
			}
		}
		if at == root && in(w.Rand, 40) {
			w.hit(TypeMetaCase)
			names = append(names, one(w.Rand, "KIND", "Kind", "apiversion", "APIVERSION", "\u212aind"))
		}
	}
	if !w.repeat {
		slices.Sort(names)
		names = slices.Compact(names)
	}
	w.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// member writes the value of a member.
func (w *documentWriter) member(s *schema.Structural, name string, depth int, at place, keep, resource bool) {
	p := s.Properties[name]
	reserved := name == "apiVersion" || name == "kind" || name == "metadata"
	if reserved && resource && at <= governed {
		w.reserved(s, name, at, p)
		return
	}
	if reserved {
		w.hit(TypeMetaBelow)
	}
	ap := s.AdditionalProperties
	inMap := p == nil && ap != nil
	if inMap {
		w.below = append(w.below, UnknownBelowMap)
		defer func() { w.below = w.below[:len(w.below)-1] }()
	}
	next := governed
	switch {
	case at > governed:
		next = at
	case p != nil:
		if ap != nil {
			w.hit(PropertyBesideAdditional)
		}
		if keep {
			w.hit(SpecifiedBelowPreserve)
		}
	case ap != nil:
		p = ap.Schema
		switch {
		case p != nil:
			w.hit(AdditionalNode)
		case ap.Allows:
			w.hit(AnyAdditional)
		default:
			w.hit(NoAdditional)
		}
		next = unspecified
	case keep:
		w.hit(KeptByPreserve)
		if at == root {
			w.hit(RootPreserve)
		}
		next = preserved
	default:
		w.hit(UnknownField)
		for _, r := range w.below {
			w.hit(r)
		}
		next = unspecified
	}
	if in(w.Rand, 8) {
		w.null(p, inMap)
		w.blank()
		w.b.WriteString("null")
		w.blank()
		return
	}
	w.value(p, depth+1, next)
}

// null notes what becomes of a null.
func (w *documentWriter) null(s *schema.Structural, inMap bool) {
	switch {
	case s == nil:
		w.hit(NullUnspecified)
	case s.Nullable && len(s.Default) > 0:
		w.hit(NullOfNullableWithDefault)
	case s.Nullable:
		w.hit(NullOfNullable)
	case len(s.Default) > 0:
		w.hit(NullDefaulted)
		if inMap {
			w.hit(NullInMapDefaulted)
		}
	default:
		w.hit(NullDropped)
		if inMap {
			w.hit(NullInMap)
		}
		if preserves(s) {
			w.hit(NullPreserving)
		}
	}
}

// damage breaks a text, or leaves it, at random.
func (w *documentWriter) damage(doc []byte) []byte {
	at := w.IntN(len(doc))
	switch w.IntN(5) {
	case 0:
		return doc[:at]
	case 1:
		return slices.Delete(doc, at, at+1)
	case 2:
		return slices.Insert(doc, at, []byte(one(w.Rand, ",", "}", "{", "]", "[", `"`, ":", "0", "\\", "\x01", "/", "-", ".", "e", "//x\n", "\u00a0", "\f"))...)
	case 3:
		doc[at] ^= 1 << w.IntN(8)
		return doc
	}
	return append(doc, one(w.Rand, "{}", ",", "}", "\x00", "x", "null", "\ufeff")...)
}
