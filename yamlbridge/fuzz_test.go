package yamlbridge_test

import (
	"bytes"
	stderrors "errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/yamlbridge"
	"github.com/go-json-experiment/json/jsontext"
)

// FuzzAppendJSON holds that the output is one valid JSON value, that errors are of the two types
// and leave the buffer alone, and that all positions are in the document.
func FuzzAppendJSON(f *testing.F) {
	corpus.AddSeeds(f)
	for _, s := range []string{
		"", "a: 1", "---\n- a\n- [b, {c: d}]\n...\n", "x: &x {a: 1}\ny: {<<: *x, a: 2}\nz: [*x, *x]",
		"<<: &l [{a: &v [1]}, {b: 3}]\nc: [*l, *v]", "&k 1.50: x\n*k : *k", "a: |+\n  x\n\nb: >-\n  y\n  z\n",
		"\uFEFF%YAML 1.2\n---\n\"a\\u0000\": 'b''c'", "a: x\u0085b: y\u2028\n", "? [a]\n: b", "a: !!binary YQ==\nb: ! 5\nc: !!set {x}",
		`{"a": "\/", "b": ["\ud83d\ude00", 1e3]}`, "a: 1\r\nb:\r- 0x10\r- 0777\n- 1e400", "%TAG ! tag:yaml.org,2002:\n---\n!str a # c\n---\nb",
		"- - - a\n  - b\n-\n# c\n", "{a, b: , ? c, \"d\":e, f: [g: h]}", bomb(9), "a: *x\n", "a: &a [*a]", "{<<: {<<: {a: 1}, b: 2}, c: 3}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		checkLaws(t, src)
		end := 0
		for d := range yamlbridge.Documents(src) {
			if int(d.Origin.Offset) < end || !bytes.HasPrefix(src[d.Origin.Offset:], d.Bytes) {
				t.Fatalf("document at %d is not of the stream", d.Origin.Offset)
			}
			end = int(d.Origin.Offset) + len(d.Bytes)
			checkLaws(t, d.Bytes)
		}
	})
}

// readers returns one reader of each kind.
func readers() map[string]*yamlbridge.Reader {
	return map[string]*yamlbridge.Reader{
		"default": {}, "as the server": {Dialect: yamlbridge.Server}, "Core": {Dialect: yamlbridge.Core},
	}
}

func checkLaws(t *testing.T, src []byte) {
	const prefix = "before"
	for name, r := range readers() {
		kept := bytes.Clone(src)
		out, err := r.AppendJSON([]byte(prefix), src)
		if !bytes.Equal(kept, src) {
			t.Fatalf("%s: the source was written to", name)
		}
		// UTF-16 is converted first, and positions are in the result.
		sameText := r.Dialect != yamlbridge.Server || !bytes.HasPrefix(src, []byte("\xff\xfe")) && !bytes.HasPrefix(src, []byte("\xfe\xff"))
		if err != nil {
			if string(out) != prefix {
				t.Fatalf("%s: with an error, the buffer holds %q", name, out)
			}
			checkError(t, src, err, sameText)
			continue
		}
		json := jsontext.Value(bytes.TrimPrefix(out, []byte(prefix)))
		compact := bytes.Clone(json)
		if (*jsontext.Value)(&compact).Compact(jsontext.AllowDuplicateNames(true)) != nil || !bytes.Equal(compact, json) {
			t.Fatalf("%s: not compact JSON: %s", name, json)
		}
		// All of them would take quadratic time.
		for off := 0; off <= len(json) && sameText; off += 1 + len(json)/512 {
			checkPosition(t, src, r.Position(off))
			checkPosition(t, src, r.Definition(off))
		}
		if r.Dialect == yamlbridge.Server {
			for _, text := range r.ServerDuplicates(json) {
				if !strings.HasPrefix(text, "line ") || !strings.HasSuffix(text, " already set in map") {
					t.Fatalf("duplicate %q", text)
				}
			}
		}
		checkAgain(t, name, r, json)
	}
}

// checkAgain holds that JSON is YAML: the output of a document is read unchanged. In the Kubernetes
// dialect this holds for strings without line breaks of YAML 1.1.
func checkAgain(t *testing.T, name string, r *yamlbridge.Reader, json []byte) {
	if bytes.ContainsAny(json, "\u0085\u2028\u2029\uFEFF\x7f") {
		return
	}
	for c := rune(0x80); c < 0xA0; c++ {
		if bytes.ContainsRune(json, c) { // not printable in YAML
			return
		}
	}
	again, err := r.AppendJSON(nil, json)
	var limit *errors.LimitError
	switch {
	case stderrors.As(err, &limit):
	case err != nil:
		if !bytes.ContainsAny(json, "\uFFFE\uFFFF") {
			t.Fatalf("%s: %v in %s", name, err, json)
		}
	case !bytes.Equal(json, again):
		t.Fatalf("%s: %s became %s", name, json, again)
	}
}

func checkError(t *testing.T, src []byte, err error, sameText bool) {
	var p errors.Position
	switch err := err.(type) {
	case *errors.SyntaxError:
		p = err.Position
		if err.Msg == "" || !utf8.ValidString(err.Msg) {
			t.Fatalf("message %q", err.Msg)
		}
	case *errors.LimitError:
		p = err.Position
	default:
		t.Fatalf("error of type %T: %v", err, err)
	}
	if sameText {
		checkPosition(t, src, p)
	}
}

func checkPosition(t *testing.T, src []byte, p errors.Position) {
	switch {
	case !p.IsValid(), p.Offset < 0, p.Offset > int64(len(src)), p.Column < 1, p.Column > p.ByteColumn:
		t.Fatalf("position %+v", p)
	}
	start := int(p.Offset) - (p.ByteColumn - 1)
	if start < 0 || start > 0 && src[start-1] != '\n' && src[start-1] != '\r' {
		t.Fatalf("position %+v does not count from a line start", p)
	}
	if bytes.ContainsAny(src[start:p.Offset], "\n") {
		t.Fatalf("position %+v counts over a line break", p)
	}
}
