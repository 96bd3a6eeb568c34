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

// NewDocument returns the document of the seed, which mostly follows the schema.
func NewDocument(seed uint64, s *schema.Structural) []byte {
	w := documentWriter{Rand: rand.New(rand.NewPCG(seed, 2))}
	w.repeat = in(w.Rand, 3)
	w.blanks = in(w.Rand, 3)
	w.escapes = in(w.Rand, 3)
	w.odd = in(w.Rand, 4)
	w.wild = in(w.Rand, 12)
	if in(w.Rand, 80) {
		return []byte(one(w.Rand, "", " ", "null", "[]", "[{}]", "7", `"x"`, "true", "nul", "\ufeff{}", "{} {}", "{}]", "{}\x00"))
	}
	w.object(s, 0, root)
	w.blank()
	doc := w.b.Bytes()
	if in(w.Rand, 30) {
		doc = w.damage(doc)
	}
	return doc
}

type documentWriter struct {
	*rand.Rand
	b bytes.Buffer

	repeat  bool // names repeat
	blanks  bool
	escapes bool
	odd     bool // rare names, numbers and texts
	wild    bool // texts that are most probably fatal
}

func (w *documentWriter) blank() {
	if w.blanks && in(w.Rand, 6) {
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
			if hi, lo := utf16.EncodeRune(r); r > 0xffff {
				fmt.Fprintf(&w.b, format, hi)
				fmt.Fprintf(&w.b, format, lo)
			} else {
				fmt.Fprintf(&w.b, format, r)
			}
		default:
			w.b.WriteRune(r)
		}
	}
	if w.wild && in(w.Rand, 30) {
		if in(w.Rand, 2) {
			w.b.WriteString(one(w.Rand, "\xff", "\xfe", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82"))
		} else {
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
			w.b.WriteString(one(w.Rand, "-0", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809",
				"18446744073709551616", "123456789012345678901234567890", "9007199254740993"))
			return
		}
		w.b.WriteString(one(w.Rand, "0", "-1", "7", "123456"))
	case "number":
		if w.odd && in(w.Rand, 3) {
			w.b.WriteString(one(w.Rand, "-0.0", "1E5", "1e-400", "0.1e1", "9007199254740993.0", "1e308", "1e+2", "4.9e-324", "0e999"))
			return
		}
		if w.wild && in(w.Rand, 12) {
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

// value writes a value that s governs, or any if s is nil.
func (w *documentWriter) value(s *schema.Structural, depth int) {
	w.blank()
	defer w.blank()
	if s == nil {
		w.any(depth)
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
	switch kind {
	case "object":
		w.object(s, depth, governed)
	case "array":
		var items *schema.Structural
		if s.Items != nil {
			items = s.Items.Schema
		}
		w.array(func() { w.element(items, depth+1) })
	default:
		w.scalar(kind)
	}
}

// any writes a value without a schema.
func (w *documentWriter) any(depth int) {
	kind := one(w.Rand, "object", "array", "string", "integer", "null", "number", "boolean")
	switch {
	case depth > 9 || kind != "object" && kind != "array":
		w.scalar(kind)
	case kind == "object":
		w.object(nil, depth, ungoverned)
	case w.odd && in(w.Rand, 20):
		n := one(w.Rand, 50, 300, 9000, 10_000)
		if n >= 9000 && !in(w.Rand, 8) {
			n = 100
		}
		w.b.WriteString(strings.Repeat("[", n) + strings.Repeat("]", n))
	default:
		w.array(func() { w.any(depth + 1) })
	}
}

func (w *documentWriter) array(element func()) {
	w.b.WriteByte('[')
	w.blank()
	for i := range w.IntN(4) {
		if i > 0 {
			w.b.WriteByte(',')
		}
		element()
	}
	w.b.WriteByte(']')
}

func (w *documentWriter) element(s *schema.Structural, depth int) {
	if !in(w.Rand, 8) {
		w.value(s, depth)
		return
	}
	w.blank()
	w.b.WriteString("null")
	w.blank()
}

// object writes an object that s governs, or any if s is nil.
func (w *documentWriter) object(s *schema.Structural, depth int, at place) {
	if s == nil {
		s = &schema.Structural{}
	}
	resource := at == root || s.XEmbeddedResource
	names := w.names(s, at, resource)
	w.b.WriteByte('{')
	w.blank()
	for i, name := range names {
		if i > 0 {
			w.b.WriteByte(',')
			w.blank()
		}
		w.text(name)
		w.blank()
		w.b.WriteByte(':')
		w.member(s, name, depth, resource)
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
func (w *documentWriter) member(s *schema.Structural, name string, depth int, resource bool) {
	if isReserved(name) && resource {
		w.reserved(name)
		return
	}
	if in(w.Rand, 8) {
		w.blank()
		w.b.WriteString("null")
		w.blank()
		return
	}
	p := s.Properties[name]
	if ap := s.AdditionalProperties; p == nil && ap != nil {
		p = ap.Schema
	}
	w.value(p, depth+1)
}

// isReserved reports whether resources have the field implicitly.
func isReserved(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
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
