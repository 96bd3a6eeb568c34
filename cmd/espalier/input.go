package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	stderrors "errors"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// stdinName is what standard input is called in messages.
const stdinName = "<stdin>"

// A document is one object of the input, as JSON. It is valid until the next one
// is read.
type document struct {
	json   []byte
	text   []byte          // what json was made of
	isYAML bool            // and is not JSON itself
	number int             // counts the documents of the input from 1
	start  errors.Position // in the input
	base   int             // of json in that of the document, where this is an item of a List
	origin errors.Position // where text starts, which for an item is that of its List
	// locate turns a position in json into one of the input.
	locate func(errors.Position) errors.Position
}

// A reader reads the documents of inputs, one after the other, and keeps its
// buffers.
type reader struct {
	bridge yamlbridge.Reader
	js     []byte
	file   []byte // of a small one
	stream *bufio.Reader
	gzip   gzip.Reader
}

// smallFile is up to which length a file is read at once.
const smallFile = 1 << 20

// open opens an input.
func open(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(name)
}

// displayName returns what an input is called in messages.
func displayName(name string) string {
	if name == "-" {
		return stdinName
	}
	return name
}

// documents yields the documents of an input, each with the error where it cannot
// be read. An error of the input itself is the last. What is compressed with gzip
// is decompressed.
func (r *reader) documents(name string, in io.Reader) iter.Seq2[document, error] {
	if small, ok := r.small(in); ok {
		return r.texts(name, small)
	}
	if r.stream == nil {
		r.stream = bufio.NewReaderSize(nil, 64<<10)
	}
	r.stream.Reset(in)
	content := r.stream
	if head, _ := content.Peek(2); isGzip(head) {
		packed := &inflater{from: content}
		if err := r.gzip.Reset(packed); err != nil {
			return func(yield func(document, error) bool) { yield(document{}, err) }
		}
		packed.gzip = &r.gzip
		content = bufio.NewReaderSize(inflated{packed}, 64<<10)
	}
	switch {
	case isNDJSON(name):
		return ndjsonDocuments(content)
	case isJSON(name, content):
		return jsonDocuments(content)
	}
	return r.yamlDocuments(streamed(content))
}

// texts yields the documents of what is in memory.
func (r *reader) texts(name string, content []byte) iter.Seq2[document, error] {
	switch {
	case isNDJSON(name):
		return ndjsonDocuments(bufio.NewReader(bytes.NewReader(content)))
	case isJSON(name, bufio.NewReaderSize(bytes.NewReader(content), 16)):
		return jsonDocuments(bytes.NewReader(content))
	}
	return r.yamlDocuments(inMemory(content))
}

func isGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// small returns the content of a file that is small and not compressed, until the
// next one is read. Where it is not ok, nothing was read.
func (r *reader) small(in io.Reader) (content []byte, ok bool) {
	f, isFile := in.(*os.File)
	if !isFile {
		return nil, false
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > smallFile {
		return nil, false
	}
	// One byte more says that it has not grown.
	r.file = slices.Grow(r.file[:0], int(info.Size())+1)
	n, err := f.ReadAt(r.file[:info.Size()+1], 0)
	if err != io.EOF || isGzip(r.file[:n]) {
		return nil, false
	}
	return r.file[:n], true
}

// inMemory yields the documents of a YAML stream.
func inMemory(text []byte) iter.Seq2[yamlbridge.Document, error] {
	return func(yield func(yamlbridge.Document, error) bool) {
		if isOneDocument(text) {
			yield(yamlbridge.Document{Bytes: text, Origin: errors.Position{Line: 1, Column: 1, ByteColumn: 1}}, nil)
			return
		}
		for doc := range yamlbridge.Documents(text) {
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// isOneDocument reports whether a YAML stream is one document, as far as that can be
// seen at once: it starts with a key, and there are no markers.
func isOneDocument(text []byte) bool {
	return len(text) > 0 && (text[0]|0x20 >= 'a' && text[0]|0x20 <= 'z' || text[0] == '{') &&
		!bytes.Contains(text, []byte("---")) && !bytes.Contains(text, []byte("..."))
}

// streamed yields the documents of a YAML stream, one in memory at a time. An error
// is the last.
func streamed(in io.Reader) iter.Seq2[yamlbridge.Document, error] {
	return func(yield func(yamlbridge.Document, error) bool) {
		r := yamlbridge.NewDocumentReader(in)
		for {
			doc, err := r.Next()
			if err == io.EOF || !yield(doc, err) || err != nil {
				return
			}
		}
	}
}

// isJSON says by the name of a file, or else by its first character, whether it is
// JSON.
func isJSON(name string, in *bufio.Reader) bool {
	switch filepath.Ext(strings.TrimSuffix(name, ".gz")) {
	case ".json":
		return true
	case ".yaml", ".yml":
		return false
	}
	for n := 1; ; n++ {
		text, err := in.Peek(n)
		if err != nil {
			return false
		}
		switch text[n-1] {
		case ' ', '\t', '\r', '\n':
		default:
			return text[n-1] == '{'
		}
	}
}

// jsonDocuments yields the JSON texts that stand after each other. They are only
// cut here: what is wrong with one is for the decoder to say. Behind a broken one it goes
// on where that is a line of many, as in NDJSON.
func jsonDocuments(r io.Reader) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		in := &tracker{r: r, most: yamlbridge.MaxDocumentBytes, at: errors.Position{Line: 1, Column: 1, ByteColumn: 1}}
		dec, from := newTextDecoder(in), int64(0)
		for n := 1; ; n++ {
			in.pass(from + dec.InputOffset())
			value, err := dec.ReadValue()
			if err == io.EOF && n > 1 {
				return
			}
			doc := document{json: value, number: n}
			goesOn := err == nil
			switch {
			case err == nil:
				in.pass(from + dec.InputOffset() - int64(len(value)))
			case in.err != nil:
				yield(doc, in.err)
				return
			default:
				doc.json, goesOn = in.broken(from + errorOffset(err))
			}
			doc.text = doc.json
			doc.start, doc.origin = in.at, in.at
			doc.locate = func(p errors.Position) errors.Position { return position.Within(p, doc.start) }
			if !yield(doc, nil) || !goesOn {
				return
			}
			if err != nil {
				in.pass(in.at.Offset + int64(len(doc.json)))
				in.given = 0
				dec, from = newTextDecoder(in), in.at.Offset
			}
		}
	}
}

func newTextDecoder(r io.Reader) *jsonv2.Decoder {
	return jsonv2.NewDecoder(r, jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
}

// errorOffset returns where what a jsonv2.Decoder reads is broken.
func errorOffset(err error) int64 {
	if syntax := (*jsonv2.SyntacticError)(nil); stderrors.As(err, &syntax) {
		return syntax.ByteOffset
	}
	return math.MaxInt64
}

// yamlDocuments yields the documents of a YAML stream as JSON.
func (r *reader) yamlDocuments(texts iter.Seq2[yamlbridge.Document, error]) iter.Seq2[document, error] {
	return func(yield func(document, error) bool) {
		n := 0
		for text, err := range texts {
			n++
			if err != nil {
				yield(document{number: n}, err)
				return
			}
			r.bridge.Origin = text.Origin
			r.js, err = r.bridge.AppendJSON(r.js[:0], text.Bytes)
			if !yield(document{
				json:   r.js,
				text:   text.Bytes,
				isYAML: true,
				number: n,
				start:  text.Origin,
				origin: text.Origin,
				locate: func(p errors.Position) errors.Position { return r.bridge.Position(int(p.Offset)) },
			}, err) {
				return
			}
		}
	}
}

// items returns the elements of the array called items, if the document, which
// is an object, has one.
func (d document) items() (items []document, ok bool) {
	dec := jsonv2.NewDecoder(bytes.NewReader(d.json), jsonv2.AllowDuplicateNames(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, false
	}
	count := position.From(d.json, errors.Position{})
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		if name.String() != "items" || dec.PeekKind() != '[' {
			if dec.SkipValue() != nil {
				return nil, false
			}
			continue
		}
		items, ok = nil, true
		if _, err := dec.ReadToken(); err != nil {
			return nil, false
		}
		for dec.PeekKind() != ']' {
			value, err := dec.ReadValue()
			if err != nil {
				return nil, false
			}
			end := int(dec.InputOffset())
			start := count.At(end - len(value))
			items = append(items, document{
				json:   d.json[end-len(value) : end],
				text:   d.text,
				isYAML: d.isYAML,
				number: d.number,
				origin: d.origin,
				start:  d.locate(start),
				base:   d.base + int(start.Offset),
				locate: func(p errors.Position) errors.Position { return d.locate(position.Within(p, start)) },
			})
		}
		if _, err := dec.ReadToken(); err != nil {
			return nil, false
		}
	}
	return items, ok
}
