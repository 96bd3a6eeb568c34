// Package input finds the files that arguments name and cuts them into documents:
// YAML, JSON, one JSON object after the other or one a line, compressed or not.
// A document is JSON, with the way back to lines and columns of its file. The
// package only reads, and bounds what it reads.
package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	stderrors "errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// stdinName is the name of standard input in messages.
const stdinName = "<stdin>"

// A Document is one object of the input, as JSON. It is valid until the next one is read.
type Document struct {
	JSON   []byte
	Text   []byte          // the source of JSON, which is JSON or YAML
	IsYAML bool            // whether Text is YAML
	Number int             // in the input, from 1
	Start  errors.Position // of JSON in the input
	Base   int             // offset of JSON in that of the whole document; above 0 for an item of a List
	Origin errors.Position // of Text in the input; the items of a List share a Text
	// Locate turns a position in JSON into one in the input. Several goroutines may call it.
	Locate func(errors.Position) errors.Position
}

// A Reader reads the documents of one input after the other, and reuses its buffers.
type Reader struct {
	bridge yamlbridge.Reader
	places sync.Mutex // of bridge, when it is asked for positions
	js     []byte
	file   []byte // the content of a small file
	stream *bufio.Reader
	gzip   gzip.Reader
	lists  bool // Lists are read an item at a time
}

// smallFile is the length up to which a file is read at once.
const smallFile = 1 << 20

// Open opens the input with a name.
func Open(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	return os.Open(name)
}

// DisplayName returns the name of an input in messages.
func DisplayName(name string) string {
	if name == "-" {
		return stdinName
	}
	return name
}

// Documents yields the documents of an input, with an error for each that cannot be read. An
// error of the input itself comes last. Input that is compressed with gzip is decompressed.
func (r *Reader) Documents(name string, in io.Reader) iter.Seq2[Document, error] {
	if small, ok := r.Small(in); ok {
		return r.Texts(name, small)
	}
	return r.completed(r.Pieces(name, in))
}

// Pieces is like Documents for an input that is not small, but documents of YAML have neither JSON nor
// Locate, which [Reader.Complete] makes, of this reader or another one.
func (r *Reader) Pieces(name string, in io.Reader) iter.Seq2[Document, error] {
	if r.stream == nil {
		r.stream = bufio.NewReaderSize(nil, 64<<10)
	}
	r.stream.Reset(in)
	content := r.stream
	if head, _ := content.Peek(2); IsGzip(head) {
		packed := &inflater{from: content}
		if err := r.gzip.Reset(packed); err != nil {
			return func(yield func(Document, error) bool) { yield(Document{}, err) }
		}
		packed.gzip = &r.gzip
		content = bufio.NewReaderSize(inflated{packed}, 64<<10)
	}
	switch {
	case isNDJSON(name):
		return ndjsonDocuments(content)
	case isJSON(name, content):
		if r.lists {
			if apiVersion, kind, ok := startsList(content); ok {
				return listItems(content, apiVersion, kind)
			}
		}
		if size := sizeOf(in); size >= 0 { // a pipe may have nothing more for now
			if _, _, ok := startsList(content); ok {
				return listDocument(content, size)
			}
		}
		return jsonDocuments(content)
	}
	return yamlPieces(streamed(content))
}

// Texts yields the documents of a text in memory. The name decides how it is read.
func (r *Reader) Texts(name string, content []byte) iter.Seq2[Document, error] {
	switch {
	case isNDJSON(name):
		return ndjsonDocuments(bufio.NewReader(bytes.NewReader(content)))
	case isJSON(name, bufio.NewReaderSize(bytes.NewReader(content), 16)):
		return jsonDocuments(bytes.NewReader(content))
	}
	return r.completed(yamlPieces(inMemory(content)))
}

// IsGzip reports whether an input that starts with head is compressed with gzip.
func IsGzip(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// Small returns the content of a file that is small and not compressed. It is valid until the
// next call. Where it is not ok, nothing was read.
func (r *Reader) Small(in io.Reader) (content []byte, ok bool) {
	size := sizeOf(in)
	if size < 0 || size > smallFile {
		return nil, false
	}
	// If one byte more can be read, the file has grown.
	r.file = slices.Grow(r.file[:0], int(size)+1)
	n, err := in.(io.ReaderAt).ReadAt(r.file[:size+1], 0)
	if err != io.EOF || IsGzip(r.file[:n]) {
		return nil, false
	}
	return r.file[:n], true
}

// sizeOf returns the size of an input that is a file, or -1.
func sizeOf(in io.Reader) int64 {
	switch f := in.(type) {
	case *os.File:
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	case *io.SectionReader: // of a file that is edited
		return f.Size()
	}
	return -1
}

// IsLarge reports whether an input is a file that is not small.
func IsLarge(in io.Reader) bool {
	_, isFile := in.(*os.File)
	return isFile && sizeOf(in) > smallFile
}

// inMemory yields the documents of a YAML stream in memory.
func inMemory(text []byte) iter.Seq2[yamlbridge.Document, error] {
	return func(yield func(yamlbridge.Document, error) bool) {
		for doc := range yamlbridge.Documents(text) {
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// streamed yields the documents of a YAML stream, and holds one at a time. An error comes last.
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

// isJSON reports whether an input is JSON: by its extension, and without a known one by its
// first character.
func isJSON(name string, in *bufio.Reader) bool {
	switch extension(name) {
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

// jsonDocuments yields JSON texts in a row. It only cuts them; the decoder says what is wrong
// with one. If a broken text is one line of many, as in NDJSON, the lines after it are read.
func jsonDocuments(r io.Reader) iter.Seq2[Document, error] {
	return jsonDocumentsFrom(r, 1, firstPosition)
}

// firstPosition is where an input starts.
var firstPosition = errors.Position{Line: 1, Column: 1, ByteColumn: 1}

// jsonDocumentsFrom yields the JSON texts from number first on, where r is at a position of the input.
func jsonDocumentsFrom(r io.Reader, first int, at errors.Position) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		in := &retainingReader{r: r, most: yamlbridge.MaxDocumentBytes, at: at}
		dec, from := locate.NewDecoder(in), at.Offset
		for n := first; ; n++ {
			in.pass(from + dec.InputOffset())
			value, err := dec.ReadValue()
			if err == io.EOF && n > 1 {
				return
			}
			doc := Document{JSON: value, Number: n}
			goesOn := err == nil
			switch {
			case err == nil:
				in.pass(from + dec.InputOffset() - int64(len(value)))
			case in.err != nil:
				yield(doc, in.err)
				return
			default:
				doc.JSON, goesOn = in.broken(from + errorOffset(err))
			}
			doc.Text = doc.JSON
			doc.Start, doc.Origin = in.at, in.at
			doc.Locate = func(p errors.Position) errors.Position { return position.Within(p, doc.Start) }
			if !yield(doc, nil) || !goesOn {
				return
			}
			if err != nil {
				in.pass(in.at.Offset + int64(len(doc.JSON)))
				in.given = 0
				dec, from = locate.NewDecoder(in), in.at.Offset
			}
		}
	}
}

// errorOffset returns the offset of a syntax error, or the largest one for any other error.
func errorOffset(err error) int64 {
	if syntax := (*jsonv2.SyntacticError)(nil); stderrors.As(err, &syntax) {
		return syntax.ByteOffset
	}
	return math.MaxInt64
}

// yamlPieces yields the documents of a YAML stream as pieces.
func yamlPieces(texts iter.Seq2[yamlbridge.Document, error]) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		n := 0
		for text, err := range texts {
			n++
			if err != nil {
				yield(Document{Number: n}, err)
				return
			}
			if !yield(Document{Text: text.Bytes, IsYAML: true, Number: n, Start: text.Origin, Origin: text.Origin}, nil) {
				return
			}
		}
	}
}

// completed yields the documents of pieces.
func (r *Reader) completed(pieces iter.Seq2[Document, error]) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for doc, err := range pieces {
			if err == nil {
				doc, err = r.Complete(doc)
			}
			if !yield(doc, err) {
				return
			}
		}
	}
}

// Complete returns a piece with its JSON, which is valid until the next call, as is Locate. The error
// says why the YAML of the piece cannot be read.
func (r *Reader) Complete(doc Document) (_ Document, err error) {
	if !doc.IsYAML {
		return doc, nil
	}
	r.bridge.Origin = doc.Origin
	r.js, err = r.bridge.AppendJSON(r.js[:0], doc.Text)
	doc.JSON = r.js
	doc.Locate = func(p errors.Position) errors.Position {
		r.places.Lock()
		defer r.places.Unlock()
		return r.bridge.Position(int(p.Offset))
	}
	return doc, err
}

// Items returns the elements of the array in the member items of a document, which is an
// object, if it has one.
func (d Document) Items() (items []Document, ok bool) {
	text := skip.Cursor{Text: d.JSON}
	count := position.From(d.JSON, errors.Position{})
	item := func(skip.Step) bool {
		value, isValue := text.Value()
		if !isValue {
			return false
		}
		start := count.At(text.At - len(value))
		items = append(items, Document{
			JSON:   value,
			Text:   d.Text,
			IsYAML: d.IsYAML,
			Number: d.Number,
			Origin: d.Origin,
			Start:  d.Locate(start),
			Base:   d.Base + int(start.Offset),
			Locate: func(p errors.Position) errors.Position { return d.Locate(position.Within(p, start)) },
		})
		return true
	}
	isWhole := text.Next() == '{' && text.Each(func(step skip.Step) bool {
		if string(step.Name) == "items" && text.Next() == '[' {
			items, ok = nil, true
			return text.Each(item)
		}
		_, isValue := text.Value()
		return isValue
	})
	return items, ok && isWhole
}

// WithType returns an object that does not say its type, because its List does, as one that says
// it. Positions in the file stay the same.
func (d Document) WithType(apiVersion, kind string) Document {
	rest, isObject := bytes.CutPrefix(d.JSON, []byte("{"))
	if !isObject {
		return d
	}
	added, err := jsonv2.Marshal(map[string]string{"apiVersion": apiVersion, "kind": kind}, jsonv2.Deterministic(true))
	if err != nil {
		return d
	}
	added = added[:len(added)-1] // without the brace
	if !bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("}")) {
		added = append(added, ',')
	}
	n, characters := len(added)-1, utf8.RuneCount(added)-1
	locate := d.Locate
	d.JSON = append(added, rest...)
	d.Locate = func(p errors.Position) errors.Position {
		if p.Offset > 0 {
			if p.Line == 1 {
				p.Column, p.ByteColumn = max(p.Column-characters, 1), max(p.ByteColumn-n, 1)
			}
			p.Offset = max(p.Offset-int64(n), 0)
		}
		return locate(p)
	}
	return d
}

// WithoutName returns an error of the system without the name of the file, which the message
// has already.
func WithoutName(err error) error {
	var path *fs.PathError
	if stderrors.As(err, &path) {
		return fmt.Errorf("%s: %w", path.Op, path.Err)
	}
	return err
}

// Separator returns the text that separates objects at the place of the document.
func (d Document) Separator() string {
	switch {
	case !d.IsYAML:
		return "}"
	case d.Base > 0: // an item of a List
		return "-"
	}
	return "---"
}
