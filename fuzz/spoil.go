package fuzz

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/espalier-dev/espalier/internal/respell"
)

// spoil returns a document, which must be JSON, with mistakes that only decoders care about: odd
// metadata, texts and numbers, names that repeat among many or are written in another case, deep
// nesting, invalid UTF-8, broken syntax. It is spelled in another way.
func spoil(doc []byte, r *rand.Rand) []byte {
	t, err := parseTree(jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowDuplicateNames(true)))
	if err != nil {
		panic(err)
	}
	shortenTexts(t)
	p := spoiler{Rand: r, odd: in(r, 4), wild: in(r, 12)}
	if t.isObject && in(r, 40) {
		name := one(r, "KIND", "Kind", "apiversion", "APIVERSION", "\u212aind")
		p.insert(t, name, one(r, `"A"`, "null", "5", "[]", `{"a":1}`, `"a/b/c"`))
	}
	p.value(t)
	doc = t.append(nil)
	if p.wild {
		doc = p.texts(doc)
	}
	style := respell.Style{}
	if in(r, 3) {
		style.Blanks = 1
	}
	if in(r, 3) {
		style.Escapes = 1
	}
	doc = style.Append(nil, doc, r)
	if in(r, 30) {
		doc = p.damage(doc)
	}
	return doc
}

// A spoiler changes a tree.
type spoiler struct {
	*rand.Rand
	odd  bool // rare numbers and texts
	wild bool // texts that are most probably fatal
}

// shortenTexts shortens names that would be elided in the paths of findings, and texts of which
// damage can make such names.
func shortenTexts(t *tree) {
	if t.scalar.Kind() == '"' {
		text, _ := jsontext.AppendUnquote(nil, t.scalar)
		t.scalar, _ = jsontext.AppendQuote(nil, shortened(string(text)))
	}
	for i, m := range t.members {
		t.members[i].name = shortened(m.name)
		shortenTexts(m.value)
	}
}

func shortened(text string) string {
	const most = 48
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// insert inserts a member somewhere in an object.
func (p *spoiler) insert(t *tree, name, js string) {
	m := member{name, &tree{scalar: jsontext.Value(js)}}
	t.members = slices.Insert(t.members, p.IntN(len(t.members)+1), m)
}

func (p *spoiler) value(t *tree) {
	if t.scalar != nil {
		p.scalar(t)
		return
	}
	for _, m := range t.members {
		p.member(m.name, m.value)
	}
	if t.isObject && in(p.Rand, 60) { // more names than are compared in pairs
		for i := range 40 {
			p.insert(t, fmt.Sprint("many", i), "1")
		}
		if in(p.Rand, 2) {
			p.insert(t, "many7", `"again"`)
		}
	}
}

// member changes the value of a member, or an element, which has no name.
func (p *spoiler) member(name string, t *tree) {
	switch {
	case name == "metadata":
		p.metadata(t)
	case isReserved(name):
		p.typeMeta(t)
	case in(p.Rand, 20):
		p.become(t, "null")
	case in(p.Rand, 60):
		p.become(t, `{"a":{"b":1}}`, "{}", `[{"a":1},null]`, "[]")
	case p.odd && in(p.Rand, 60):
		n := one(p.Rand, 50, 300, 9000, 10_000)
		if n >= 9000 && !in(p.Rand, 8) {
			n = 100
		}
		p.become(t, strings.Repeat("[", n)+strings.Repeat("]", n))
	default:
		p.value(t)
	}
}

// typeMeta changes a kind or an apiVersion.
func (p *spoiler) typeMeta(t *tree) {
	switch {
	case p.wild && in(p.Rand, 4):
		p.become(t, `""`, "null", "5", `{"a":1}`, `"a/b/c"`, `["x"]`)
	case t.scalar.Kind() != '"' && p.mends():
		p.become(t, `"v1"`, `"Kind"`)
	default:
		p.value(t)
	}
}

// mends reports whether a mistake is mended for which a document would be refused as a whole: it
// would hide others.
func (p *spoiler) mends() bool { return !p.wild && !in(p.Rand, 8) }

// become makes the value one of these texts.
func (p *spoiler) become(t *tree, texts ...string) {
	*t = tree{scalar: jsontext.Value(one(p.Rand, texts...))}
}

func (p *spoiler) scalar(t *tree) {
	switch kind := t.scalar.Kind(); {
	case kind == '"' && p.odd && in(p.Rand, 4):
		t.scalar, _ = jsontext.AppendQuote(nil, one(p.Rand, oddNames...))
	case kind == '0' && p.odd && in(p.Rand, 3):
		p.become(t, numberLiterals...)
	case kind == '0' && p.wild && in(p.Rand, 12):
		p.become(t, "1e400", "-1e400", "1e309")
	}
}

// texts adds bytes that are not UTF-8, and halves of surrogate pairs, to some strings of JSON.
func (p *spoiler) texts(doc []byte) (out []byte) {
	inString := false
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			out = append(out, '\\')
			i++
		case '"':
			if inString && in(p.Rand, 30) {
				out = append(out, one(p.Rand, "\xff", "\xfe", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82",
					`\ud800`, `\uDC00`, `\ud800\ud800`, `\udead\ud83d`)...)
			}
			inString = !inString
		}
		out = append(out, doc[i])
	}
	return out
}

// damage breaks a text, or leaves it, at random.
func (p *spoiler) damage(doc []byte) []byte {
	at := p.IntN(len(doc))
	switch p.IntN(5) {
	case 0:
		return doc[:at]
	case 1:
		return slices.Delete(doc, at, at+1)
	case 2:
		return slices.Insert(doc, at, []byte(one(p.Rand, ",", "}", "{", "]", "[", `"`, ":", "0", "\\",
			"\x01", "/", "-", ".", "e", "//x\n", "\u00a0", "\f"))...)
	case 3:
		doc[at] ^= 1 << p.IntN(8)
		return doc
	}
	return append(doc, one(p.Rand, "{}", ",", "}", "\x00", "x", "null", "\ufeff")...)
}

// numberLiterals are numbers that the server rewrites, and numbers next to these.
var numberLiterals = []string{
	"0", "-0", "-0.0", "-0e0", "-0E+5", "-0.000e-9", "-1e-400", "1e-400", "0.0", "0e9", "1.0", "10.0", "1e0", "1E2", "1e3", "-1e3", "1.50", "1e20", "1e21", "-1e21",
	"123456789012345678901234567890", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9223372036854775807.0", "9.223372036854775807e18",
	"18446744073709551615", "18446744073709551616", "9007199254740993", "9007199254740993.0", "0.1", "1e-6", "1e-7", "0.000001", "0.0000001", "5e-324", "2e-324", "1.7976931348623157e308", "1e308",
}
