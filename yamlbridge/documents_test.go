package yamlbridge_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/yamlbridge"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDocuments(t *testing.T) {
	for _, test := range []struct {
		src  string
		want []string // line@offset:text
	}{
		{"", nil},
		{"\n# c\n", nil},
		{"---\n---\n# c\n...\n", nil},
		{"\uFEFF", nil},
		{"a: 1", []string{"1@0:a: 1"}},
		{"---\na: 1\n---\nb: 2\n", []string{"1@0:---\na: 1\n", "3@9:---\nb: 2\n"}},
		{"---\r\na: 1\r\n---\r\nb: 2\r\n", []string{"1@0:---\r\na: 1\r\n", "3@11:---\r\nb: 2\r\n"}},
		{"a: 1\r---\rb: 2\r", []string{"1@0:a: 1\r", "2@5:---\rb: 2\r"}},
		{"# c\n---\n# c\n---\nb: 2\n", []string{"4@12:---\nb: 2\n"}},
		{"a\n---\n---\nb", []string{"1@0:a\n", "3@6:---\nb"}},
		{"--- a\n--- # c\n---\tb\n---", []string{"1@0:--- a\n", "3@14:---\tb\n"}},
		{"a\n---b\n----\n", []string{"1@0:a\n---b\n----\n"}},
		{"a\n --- b\n", []string{"1@0:a\n --- b\n"}},
		{"a\n...\n# c\n%YAML 1.2\n---\nb\n", []string{"1@0:a\n...\n", "3@6:# c\n%YAML 1.2\n---\nb\n"}},
		{"a\n...\n\uFEFFb\n", []string{"1@0:a\n...\n", "3@6:\uFEFFb\n"}},
		{"...\n...\na", []string{"3@8:a"}},
		{"a: |\n x\n---\nb", []string{"1@0:a: |\n x\n", "3@8:---\nb"}},
		{"--- |\n# text\n--- a", []string{"1@0:--- |\n# text\n", "3@13:--- a"}},
		{"a\n%b\n", []string{"1@0:a\n%b\n"}},
		// Malformed markers are left to the parser.
		{"a\n... junk\nb", []string{"1@0:a\n... junk\n", "3@11:b"}},
		{"%YAML 1.2\n", []string{"1@0:%YAML 1.2\n"}},
		{"a\n...\n%YAML 1.2\n...\nb", []string{"1@0:a\n...\n", "3@6:%YAML 1.2\n...\n", "5@20:b"}},
	} {
		var got []string
		for d := range yamlbridge.Documents([]byte(test.src)) {
			assert.Equal(t, 1, d.Origin.Column)
			assert.Equal(t, 1, d.Origin.ByteColumn)
			got = append(got, fmt.Sprintf("%d@%d:%s", d.Origin.Line, d.Origin.Offset, d.Bytes))
		}
		assert.Equal(t, test.want, got, "%q", test.src)
	}
}

// TestDocumentsLaw compares the documents of random streams with those of a simple cutter.
func TestDocumentsLaw(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	parts := []string{
		"\n", "\n", "\r\n", "\r", "---", "...", "-", ".", " ", "\t", "# c", "%x", "a: 1", "- b", "\n---\n", "\n--- \n", "\n...\n", "\n---x", "\n--", "\n..",
		"long enough for some words", strings.Repeat("x", 15), "\uFEFF", "\u0085", "\xff",
	}
	many, tooLong := 0, 0
	for range 50_000 {
		var b strings.Builder
		for range random.IntN(30) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		src := b.String()
		got := wholeStream([]byte(src))
		require.Equal(t, cutSimply(src), got, "%q", src)
		if len(got) > 2 {
			many++
		}
		var cuts []int
		for range 1 + random.IntN(3) {
			cuts = append(cuts, random.IntN(len(src)+1))
		}
		slices.Sort(cuts)
		inPieces, err := readStream(t, cutReader([]byte(src), cuts...), 0)
		require.Equal(t, io.EOF, err)
		require.Equal(t, got, inPieces, "%q", src)
		limit := 1 + random.IntN(100)
		want, wantErr := readStream(t, strings.NewReader(src), limit)
		inPieces, err = readStream(t, cutReader([]byte(src), cuts...), limit)
		require.Equal(t, wantErr, err, "%q", src)
		require.Equal(t, want, inPieces, "%q", src)
		require.True(t, slices.Equal(want, got[:len(want)]), "%q", src)
		if limitErr, ok := err.(*errors.LimitError); ok {
			line := 1
			for _, at := range newLine.FindAllStringIndex(src, -1) {
				if int64(at[1]) <= limitErr.Position.Offset {
					line++
				}
			}
			require.Equal(t, line, limitErr.Position.Line, "%q", src)
			tooLong++
		}
	}
	assert.Greater(t, min(many, tooLong), 5_000)
}

var (
	newLine     = regexp.MustCompile(`\r\n|\r|\n`)
	wholeLine   = regexp.MustCompile(`[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$`)
	markerLine  = regexp.MustCompile(`^(?:---|\.\.\.)(?:[ \t]|$)`)
	blankOfLine = regexp.MustCompile(`^[ \t]*(?:#|$)`)
)

// cutSimply returns the documents as Documents does, by one line after the other.
func cutSimply(src string) (docs []string) {
	at, line := 0, 1
	doc := yamlbridge.Document{Origin: errors.Position{Line: 1, Column: 1, ByteColumn: 1}}
	var inside, content, directive bool
	end := func() {
		if content || directive && !inside {
			docs = append(docs, text(doc))
		}
		doc = yamlbridge.Document{Origin: errors.Position{Offset: int64(at), Line: line, Column: 1, ByteColumn: 1}}
		inside, content, directive = false, false, false
	}
	for _, l := range wholeLine.FindAllString(src, -1) {
		bare := strings.TrimRight(l, "\r\n")
		if !inside {
			bare = strings.TrimPrefix(bare, "\uFEFF")
		}
		marks := markerLine.MatchString(bare)
		if marks && bare[0] == '-' && inside {
			end()
		}
		doc.Bytes = append(doc.Bytes, l...)
		at += len(l)
		line++
		switch {
		case marks && bare[0] == '-':
			inside, content = true, !blankOfLine.MatchString(bare[3:])
		case marks:
			content = content || !blankOfLine.MatchString(bare[3:])
			end()
		case inside:
			content = content || !blankOfLine.MatchString(bare)
		case strings.HasPrefix(bare, "%"):
			directive = true
		case !blankOfLine.MatchString(bare):
			inside, content = true, true
		}
	}
	end()
	return docs
}

func TestDocumentsStop(t *testing.T) {
	n := 0
	for range yamlbridge.Documents([]byte(strings.Repeat("--- a\n", 10))) {
		if n++; n == 3 {
			break
		}
	}
	assert.Equal(t, 3, n)
}

func TestDocumentsAlias(t *testing.T) {
	src := []byte("--- a\n--- b\n")
	for d := range yamlbridge.Documents(src) {
		assert.Equal(t, len(d.Bytes), cap(d.Bytes), "appending must not reach the next document")
		assert.Same(t, &src[d.Origin.Offset], &d.Bytes[0])
	}
}

func TestDocumentsWithOrigin(t *testing.T) {
	src := "# first\na: 1\n---\n\nb: [x, z]\n...\nc: 3\n"
	var got []string
	for d := range yamlbridge.Documents([]byte(src)) {
		m := yamlbridge.Reader{Origin: d.Origin}
		out, err := m.AppendJSON(nil, d.Bytes)
		assert.NoError(t, err)
		p := m.Position(1)
		got = append(got, fmt.Sprintf("%s %s %q", out, p, src[p.Offset]))
	}
	assert.Equal(t, []string{`{"a":1} 2:1 'a'`, `{"b":["x","z"]} 5:1 'b'`, `{"c":3} 7:1 'c'`}, got)
}

// FuzzDocuments holds that the reader of one document and the functions that cut streams agree on
// the starts of documents: no document of a stream is two to the reader, and a stream that is one
// document to the reader is not cut.
func FuzzDocuments(f *testing.F) {
	corpus.AddSeeds(f)
	for _, s := range streams {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		n := 0
		last := []byte("null")
		for d := range yamlbridge.Documents(src) {
			n++
			js, err := yamlbridge.AppendJSON(nil, d.Bytes)
			if err != nil && strings.Contains(err.Error(), "second document") {
				t.Fatalf("%q: %v", d.Bytes, err)
			}
			last = js
		}
		js, err := yamlbridge.AppendJSON(nil, src)
		if err == nil && (n > 1 || !bytes.Equal(js, last)) {
			t.Fatalf("%d documents, the last %s; as one %s", n, last, js)
		}
	})
}

// TestDocumentsLines holds that the cutter knows the line breaks of YAML 1.2 only.
func TestDocumentsLines(t *testing.T) {
	const src = "a: 1\u0085---\u0085b: 2\u2028--- \nc: 3"
	docs := slices.Collect(yamlbridge.Documents([]byte(src)))
	require.Len(t, docs, 1)
	_, err := convert(string(docs[0].Bytes))
	require.ErrorContains(t, err, "1:5: U+0085 outside quotes")
	r := yamlbridge.Reader{Dialect: yamlbridge.Server}
	out, err := r.AppendJSON(nil, docs[0].Bytes)
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, string(out))
	assert.True(t, r.Trailing())
}
