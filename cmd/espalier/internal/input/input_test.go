package input

import (
	stderrors "errors"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/position"
)

func TestJSONDocuments(t *testing.T) {
	const stream = " {\"ä\":1}\r\n[2]\t3 \"é\"{]\r\n \r"
	want := []struct {
		json string
		at   errors.Position
	}{
		{`{"ä":1}`, errors.Position{Offset: 1, Line: 1, Column: 2, ByteColumn: 2}},
		{`[2]`, errors.Position{Offset: 11, Line: 2, Column: 1, ByteColumn: 1}},
		{`3`, errors.Position{Offset: 15, Line: 2, Column: 5, ByteColumn: 5}},
		{`"é"`, errors.Position{Offset: 17, Line: 2, Column: 7, ByteColumn: 7}},
		{"{]\r\n \r", errors.Position{Offset: 21, Line: 2, Column: 10, ByteColumn: 11}},
	}
	check := func(r io.Reader) {
		n := 0
		for doc, err := range jsonDocuments(r) {
			require.NoError(t, err)
			require.Less(t, n, len(want))
			assert.Equal(t, want[n].json, string(doc.JSON))
			assert.Equal(t, want[n].at, doc.Start)
			at := want[n].at
			at.Offset, at.Column, at.ByteColumn = at.Offset+1, at.Column+1, at.ByteColumn+1
			assert.Equal(t, at, doc.Locate(errors.Position{Offset: 1, Line: 1, Column: 2, ByteColumn: 2}))
			n++
			assert.Equal(t, n, doc.Number)
		}
		assert.Len(t, want, n)
	}
	check(strings.NewReader(stream))
	check(iotest.OneByteReader(strings.NewReader(stream)))
	check(iotest.DataErrReader(strings.NewReader(stream)))
	for at := range stream {
		check(io.MultiReader(strings.NewReader(stream[:at]), strings.NewReader(stream[at:])))
	}
}

// TestJSONDocumentsBroken: in NDJSON, only the broken lines are lost. In other input, no part
// of a broken text is taken for a document.
func TestJSONDocumentsBroken(t *testing.T) {
	for stream, want := range map[string][]string{
		"{\"a\":}\n{\"b\":1}\n":             {`{"a":}`, `{"b":1}`},
		" {\"a\":1\r\n\r\n {\"b\":1}}\n{}":  {"{\"a\":1\r", `{"b":1}`, "}", "{}"},
		"{\"a\":\"\n{\"b\":\"\n{\"c\":1}":   {`{"a":"`, `{"b":"`, `{"c":1}`},
		"{\"a\":}\n{\"b\":":                 {`{"a":}`, `{"b":`},
		"{}\n{\"a\":}":                      {"{}", `{"a":}`},
		"{\"a\":[\n{\"b\":1},\n{,}\n]}\n{}": {"{\"a\":[\n{\"b\":1},\n{,}\n]}\n{}"},
		"{,\n\"a\": 1\n}\n{}":               {"{,\n\"a\": 1\n}\n{}"},
	} {
		for _, r := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream)), iotest.DataErrReader(strings.NewReader(stream))} {
			var got []string
			for doc, err := range jsonDocuments(r) {
				require.NoError(t, err)
				assert.Equal(t, string(doc.JSON), stream[doc.Start.Offset:][:len(doc.JSON)])
				assert.Equal(t, 1+strings.Count(stream[:doc.Start.Offset], "\n"), doc.Start.Line)
				got = append(got, string(doc.JSON))
			}
			assert.Equal(t, want, got)
		}
	}
}

// TestJSONDocumentsNone: nothing is not a document, which the decoder says.
func TestJSONDocumentsNone(t *testing.T) {
	for _, stream := range []string{"", " \r\n "} {
		n := 0
		for doc, err := range jsonDocuments(strings.NewReader(stream)) {
			n++
			require.NoError(t, err)
			assert.Empty(t, doc.JSON)
			assert.Equal(t, int64(len(stream)), doc.Start.Offset)
		}
		assert.Equal(t, 1, n)
	}
}

func TestRetainingReaderLimit(t *testing.T) {
	in := &retainingReader{r: iotest.OneByteReader(strings.NewReader("12345")), most: 3}
	text, err := io.ReadAll(in)
	assert.Equal(t, "1234", string(text))
	assert.ErrorAs(t, err, new(*errors.LimitError))
	assert.Equal(t, err, in.err)

	in = &retainingReader{r: iotest.OneByteReader(strings.NewReader("12345")), most: 3}
	for at := range int64(5) {
		n, err := in.Read(make([]byte, 9))
		require.NoError(t, err, "what was passed does not count")
		assert.Equal(t, 1, n)
		in.pass(at)
	}
}

// TestListDocument holds that a file with a List is cut as any other text, whatever comes after the List, what is
// wrong with it, and however the file has changed since its size was asked for.
func TestListDocument(t *testing.T) {
	type cut struct {
		text  string
		n     int
		start errors.Position
		err   error
	}
	all := func(docs iter.Seq2[Document, error]) (cuts []cut) {
		for doc, err := range docs {
			at := doc.Start
			if err == nil {
				at = doc.Locate(errors.Position{Offset: 1, Line: 1, Column: 2, ByteColumn: 2})
				assert.Equal(t, doc.Start.Offset+1, at.Offset)
			}
			cuts = append(cuts, cut{string(doc.JSON), doc.Number, at, err})
		}
		return cuts
	}
	const list = `{"kind":"List","items":[` + "\n" + `{"ä":"\ud800"},{}]}`
	for _, text := range []string{
		list, "\r\n " + list + "\n", list + list, list + "\n {\"kind\":\"X\"} 1", list + "}", list[:20], list[:len(list)-1], "", "\xff" + list,
		list + "\n{\"a\":}\n{}", `{"items":["` + "\xff" + `"]}` + "\n{}", strings.Repeat("[", 20_000), strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "\n{}", strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + "\n{}",
		strings.Repeat("[\n", 10_001) + strings.Repeat("]\n", 10_001) + "{}",
	} {
		want := all(jsonDocuments(strings.NewReader(text)))
		require.NotEmpty(t, want)
		for _, size := range []int{0, len(text) / 2, max(len(text)-1, 0), len(text), len(text) + 1, 2 * len(text)} {
			assert.Equal(t, want, all(listDocument(iotest.HalfReader(strings.NewReader(text)), int64(size))), "%.30q %d", text, size)
		}
		failed := stderrors.New("failed")
		failing := func() io.Reader { return io.MultiReader(strings.NewReader(text), iotest.ErrReader(failed)) }
		assert.Equal(t, all(jsonDocuments(failing())), all(listDocument(failing(), int64(len(text)+1))), "%.30q", text)
	}
}

func TestItems(t *testing.T) {
	for text, want := range map[string][]string{
		`{"items":[]}`: nil,
		` { "a" : [1] , "items" : [ {"b":[2]} , "x",3 ] , "c" : {} } `: {`{"b":[2]}`, `"x"`, `3`},
		`{"it\u0065ms":[1]}`:              {"1"},
		`{"items":[1],"items":[2,3]}`:     {"2", "3"},
		`{"items":[1],"items":null}`:      {"1"},
		`{"a":{"items":[1]},"items":[2]}`: {"2"},
	} {
		origin := errors.Position{Offset: 100, Line: 7, Column: 3, ByteColumn: 3}
		d := Document{JSON: []byte(text), Locate: func(p errors.Position) errors.Position { return position.Within(p, origin) }}
		items, ok := d.Items()
		require.True(t, ok, text)
		require.Len(t, items, len(want), text)
		for i, item := range items {
			assert.Equal(t, want[i], string(item.JSON), text)
			assert.Equal(t, want[i], text[item.Base:item.Base+len(want[i])])
			assert.Equal(t, errors.Position{Offset: int64(100 + item.Base), Line: 7, Column: 3 + item.Base, ByteColumn: 3 + item.Base}, item.Start, text)
		}
	}
	for _, text := range []string{`{}`, `{"items":{}}`, `[]`, `"items"`, `{"a":{"items":[1]}}`, ``, `{"items":[1`, `{"items":[1 2]}`, `{"items":[1]`, `{"items":[,]}`, `{"items" [1]}`, `{1:[1]}`} {
		items, ok := Document{JSON: []byte(text), Locate: func(p errors.Position) errors.Position { return p }}.Items()
		assert.False(t, ok, "%s %v", text, items)
	}
}
