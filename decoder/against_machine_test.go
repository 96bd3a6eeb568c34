package decoder

import (
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
)

// withoutSimple returns a copy of a program without simple nodes, so that the first machine
// (walk.go of package walk) does the whole walk.
func withoutSimple(p *program.Program) *program.Program {
	copies := make(map[*program.Node]*program.Node)
	var copied func(n *program.Node) *program.Node
	copied = func(n *program.Node) *program.Node {
		if n == nil || copies[n] != nil {
			return copies[n]
		}
		c := *n
		copies[n] = &c
		c.SimpleObject, c.SimpleArray = false, false
		c.Fields = slices.Clone(n.Fields)
		for i := range c.Fields {
			c.Fields[i].Node = copied(n.Fields[i].Node)
		}
		if n.Unknown != nil {
			c.Unknown = &program.Edge{Node: copied(n.Unknown.Node), Null: n.Unknown.Null,
				Default: n.Unknown.Default}
		}
		c.Elements.Node = copied(n.Elements.Node)
		return &c
	}
	made := &program.Program{Root: copied(p.Root), Cells: p.Cells}
	for _, n := range p.Nodes {
		made.Nodes = append(made.Nodes, copied(n))
	}
	return made
}

// lengthsSchema has fields whose names are about as long as the words in which names are compared,
// and have equal ends. It also has objects of 64 and of 65 fields.
func lengthsSchema() string {
	fields := func(n int, name func(i int) string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s: {type: %s}, ", name(i),
				[]string{"string", "integer, default: 7", "array", "boolean, nullable: true"}[i%4])
		}
		return "{type: object, properties: {" + b.String() + "}}"
	}
	long := fields(2*40, func(i int) string {
		return "abcdefgh" + strings.Repeat("-", i/2) + string("xy"[i%2]) + "stuvwxyz"
	})
	short := fields(9, func(i int) string { return "abcdefghi"[:i+1] })
	many := func(n int) string { return fields(n, func(i int) string { return fmt.Sprint("f", i) }) }
	return fmt.Sprintf(`
type: object
properties:
  long: %s
  short: {type: array, items: %s}
  map: {type: object, additionalProperties: %s}
  x: %s
  y: %s
`,
		long, short, short, many(64), many(65))
}

var machineModes = [][]Option{
	{Ignore},
	{Strict, Compact(true)},
	{Warn, ReportDroppedNulls(true)},
	{Warn, ServerTypedRequests},
	{ServerStorage, Ignore},
	{Limits{Depth: 4, Findings: 2, FindingBytes: 50, NumberBytes: 6, DefaultBytes: 60, OutputBytes: 300}},
}

// mutant returns a text with a byte or two changed, left out or added, or with a part repeated.
func mutant(r *rand.Rand, text string) string {
	const some = `{}[]:,"\/u019ftn.-+E` + " \n\t\r\x00\x1f\x80\xc3\xe2\xff"
	for range 1 + r.IntN(2) {
		at := r.IntN(len(text))
		c := some[r.IntN(len(some))]
		switch end := min(len(text), at+1+r.IntN(30)); r.IntN(4) {
		case 0:
			text = text[:at] + string([]byte{c}) + text[at:]
		case 1:
			text = text[:at] + string([]byte{c}) + text[at+1:]
		case 2:
			text = text[:end] + text[at:end] + text[end:]
		default:
			text = text[:at] + text[at+1:]
		}
	}
	return text + " "
}

// inMessages matches the quotations in messages. A stream quotes only as much of the document as it
// has read.
var inMessages = regexp.MustCompile(`(document: |escape |number ").*|character ('[^']+'|"[^"]+")`)

// readAll returns the result of a stream without white space, and its findings or its error.
func readAll(d *Decoder, from io.Reader) (out, end string) {
	b, err := io.ReadAll(d.NewReader(from))
	out = string((&compactor{}).compact(b, 0))
	if err != nil {
		return out, inMessages.ReplaceAllString(err.Error(), "")
	}
	return out, fmt.Sprintf("%q %d", details(d.Findings()), d.Omitted())
}

// TestAgainstMachine compares the results of all machines together with those of the first machine
// alone, for valid and invalid documents: as a slice, with decoders that have decoded others, and
// as a stream, in random parts and byte by byte.
func TestAgainstMachine(t *testing.T) {
	defer SetFirstWindow(64)()
	rounds := 250
	if testing.Short() {
		rounds = 80
	}
	r := rand.New(rand.NewPCG(8, 9))
	for _, text := range []string{testSchema, lengthsSchema()} {
		s, err := schema.Parse([]byte(text))
		require.NoError(t, err)
		for i, opts := range slices.Repeat(machineModes, 3) {
			how := [][]schema.Option{nil, {schema.KEP},
				{schema.CheckTypes(true), schema.ResourceRoot(false)}}[i/len(machineModes)]
			p, err := schema.Compile(s, how...)
			require.NoError(t, err)
			slow := withoutSimple(program.Of(p))
			all, alone := New(p, opts...), newDecoder(slow, optionsOf(opts))
			for k := range rounds {
				doc := randomDocument(r, s) + blanks[:r.IntN(len(blanks))]
				if k%3 == 0 {
					doc = mutant(r, doc)
				}
				src := []byte(doc)
				out, err := alone.AppendJSON(nil, src)
				want := fmt.Sprintf("%q %v %q", out, err, details(alone.Findings()))
				got, e := all.AppendJSON(nil, src)
				require.Equal(t, want, fmt.Sprintf("%q %v %q", got, e, details(all.Findings())),
					"options %d: %q", i, doc)
				if err == nil {
					var v, w any
					require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(out, &v))
					require.NoError(t, all.Unmarshal(src, &w))
					require.Equal(t, v, w, "options %d: %q", i, doc)
				}
				if k%4 == 0 {
					sent, end := readAll(alone, &partsReader{src, nil, 1})
					got, gotEnd := readAll(all, &partsReader{src, r, 1 + r.IntN(2*len(src))})
					require.Equal(t, end, gotEnd, "options %d: %q", i, doc)
					require.True(t, strings.HasPrefix(got, sent) || strings.HasPrefix(sent, got),
						"options %d: %q: %s, %s", i, doc, got, sent)
					if end[0] == '[' {
						require.Equal(t, sent, got, "options %d: %q", i, doc)
					}
				}
			}
		}
	}
}

// A partsReader returns up to most bytes at a time, of a random number if r is set.
type partsReader struct {
	b    []byte
	r    *rand.Rand
	most int
}

func (p *partsReader) Read(to []byte) (int, error) {
	n := p.most
	if p.r != nil {
		n = 1 + p.r.IntN(n)
	}
	n = copy(to, p.b[:min(n, len(p.b))])
	p.b = p.b[n:]
	if len(p.b) == 0 {
		return n, io.EOF
	}
	return n, nil
}
