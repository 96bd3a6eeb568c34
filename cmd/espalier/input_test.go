package main

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
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
			assert.Equal(t, want[n].json, string(doc.json))
			assert.Equal(t, want[n].at, doc.start)
			at := want[n].at
			at.Offset, at.Column, at.ByteColumn = at.Offset+1, at.Column+1, at.ByteColumn+1
			assert.Equal(t, at, doc.locate(errors.Position{Offset: 1, Line: 1, Column: 2, ByteColumn: 2}))
			n++
			assert.Equal(t, n, doc.number)
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

// TestJSONDocumentsBroken: of NDJSON only the broken lines are lost, and of what else is
// broken nothing is taken for a document of its own.
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
				assert.Equal(t, string(doc.json), stream[doc.start.Offset:][:len(doc.json)])
				assert.Equal(t, 1+strings.Count(stream[:doc.start.Offset], "\n"), doc.start.Line)
				got = append(got, string(doc.json))
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
			assert.Empty(t, doc.json)
			assert.Equal(t, int64(len(stream)), doc.start.Offset)
		}
		assert.Equal(t, 1, n)
	}
}

func TestTrackerLimit(t *testing.T) {
	in := &tracker{r: iotest.OneByteReader(strings.NewReader("12345")), most: 3}
	text, err := io.ReadAll(in)
	assert.Equal(t, "1234", string(text))
	assert.ErrorAs(t, err, new(*errors.LimitError))
	assert.Equal(t, err, in.err)

	in = &tracker{r: iotest.OneByteReader(strings.NewReader("12345")), most: 3}
	for at := range int64(5) {
		n, err := in.Read(make([]byte, 9))
		require.NoError(t, err, "what was passed does not count")
		assert.Equal(t, 1, n)
		in.pass(at)
	}
}

// TestPruneStreams: each document is written before the next one is there.
func TestPruneStreams(t *testing.T) {
	for _, format := range []struct{ start, end string }{{"", "\n"}, {"# YAML\n", "\n---\n"}} {
		in, toIn := io.Pipe()
		fromOut, out := io.Pipe()
		code := make(chan int)
		go func() {
			code <- run([]string{"prune", "--crd", crd, "-o", "ndjson"}, in, out, io.Discard)
		}()
		buf := make([]byte, 1000)
		for i := range 3 {
			text := planNamed(fmt.Sprint("plan-", i))
			_, err := toIn.Write([]byte(format.start + text + format.end))
			require.NoError(t, err)
			n, err := fromOut.Read(buf)
			require.NoError(t, err)
			assert.Equal(t, text+"\n", string(buf[:n]))
		}
		require.NoError(t, toIn.Close())
		assert.Equal(t, exitClean, <-code)
	}
}

// TestPruneReadError: what came before an error of the input is written, and
// what it is in is not.
func TestPruneReadError(t *testing.T) {
	for _, test := range []struct{ start, end, stderr string }{
		{"", "\n", "<stdin>: error: document 2: unplugged [unreadable]\n"},
		{"# YAML\n", "\n---\n", "<stdin>: error: document 2: reading line 4: unplugged [unreadable]\n"},
	} {
		var stdout, stderr bytes.Buffer
		in := io.MultiReader(strings.NewReader(test.start+planNamed("a")+test.end+`{"kind": "Backup`), iotest.ErrReader(stderrors.New("unplugged")))
		code := run([]string{"prune", "--crd", crd, "-o", "ndjson"}, in, &stdout, &stderr)
		assert.Equal(t, exitInput, code)
		assert.Equal(t, planNamed("a")+"\n", stdout.String())
		assert.Equal(t, test.stderr, stderr.String())
	}
}
