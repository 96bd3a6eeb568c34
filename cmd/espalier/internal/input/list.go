package input

// This file reads Lists an item at a time: what kubectl get returns may be larger than memory.

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"math"
	"strings"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// listHead is how far into a JSON text the items of a List are looked for.
const listHead = 16 << 10

// Objects is like Documents, but yields the items of a List instead of the List. One that starts
// with its items, or with little before them, as those that API servers write, is never held whole.
func (r *Reader) Objects(name string, in io.Reader) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		r.lists = true
		defer func() { r.lists = false }()
		for doc, err := range r.Documents(name, in) {
			items, isList := []Document(nil), false
			if err == nil {
				items, isList = doc.list()
			}
			if !isList {
				if !yield(doc, err) {
					return
				}
				continue
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// list returns the items of a document that is a List.
func (d Document) list() (items []Document, ok bool) {
	apiVersion, kind, err := decoder.PeekType(d.JSON)
	of, isList := strings.CutSuffix(kind, "List")
	if err != nil || !isList {
		return nil, false
	}
	if items, ok = d.Items(); ok && of != "" {
		for i, item := range items {
			if v, k, err := decoder.PeekType(item.JSON); err == nil && v == "" && k == "" {
				items[i] = item.WithType(apiVersion, of)
			}
		}
	}
	return items, ok
}

// startsList reports whether a JSON text is a List, as far as its head tells, and returns the type
// that its items have if they do not say it.
func startsList(content *bufio.Reader) (apiVersion, kind string, ok bool) {
	head, _ := content.Peek(listHead)
	d := jsonv2.NewDecoder(bytes.NewReader(head), jsonv2.AllowDuplicateNames(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return "", "", false
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			break
		}
		name := t.String()
		if name == "items" {
			return apiVersion, strings.TrimSuffix(kind, "List"), d.PeekKind() == '[' && strings.HasSuffix(kind, "List")
		}
		value, err := d.ReadValue()
		if err != nil {
			break
		}
		var text string
		if value.Kind() == '"' && jsonv2.Unmarshal(value, &text) == nil {
			switch name {
			case "apiVersion":
				apiVersion = text
			case "kind":
				kind = text
			}
		}
	}
	return "", "", false
}

// listItems yields the items of a List as they are read.
func listItems(content io.Reader, apiVersion, kind string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		items := decoder.NewListSequence(content, noProgram, decoder.Limits{HeldBytes: yamlbridge.MaxDocumentBytes})
		for n := 1; ; n++ {
			if err := items.Next(); err == io.EOF {
				return
			} else if err != nil {
				yield(Document{Number: 1}, err)
				return
			}
			start := items.Position()
			doc := Document{JSON: items.Raw(), Text: items.Raw(), Number: 1, Start: start, Origin: start}
			doc.Locate = func(p errors.Position) errors.Position { return position.Within(p, start) }
			if v, k, err := decoder.PeekType(doc.JSON); err == nil && v == "" && k == "" && kind != "" {
				doc = doc.WithType(apiVersion, kind)
			}
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// listDocument yields the only document of a file with a List, which is nearly all of it: the file is read
// into a buffer of its size at once, and not into one that grows. What is not as it should be is left to
// jsonDocuments.
func listDocument(content io.Reader, size int64) iter.Seq2[Document, error] {
	if size > yamlbridge.MaxDocumentBytes {
		return jsonDocuments(content)
	}
	return func(yield func(Document, error) bool) {
		text := make([]byte, size)
		n, err := io.ReadFull(content, text)
		text = text[:n]
		rest := content
		if err != nil && err != io.ErrUnexpectedEOF { // a file that has become shorter has that one
			rest = failing{err}
		}
		list, end, ok := firstValue(text)
		if !ok {
			jsonDocuments(io.MultiReader(bytes.NewReader(text), rest))(yield)
			return
		}
		lines := position.From(text, firstPosition)
		doc := Document{JSON: list, Text: list, Number: 1, Start: lines.At(end - len(list))}
		doc.Origin = doc.Start
		doc.Locate = func(p errors.Position) errors.Position { return position.Within(p, doc.Start) }
		if yield(doc, nil) {
			after := lines.At(end)
			jsonDocumentsFrom(io.MultiReader(bytes.NewReader(text[end:]), rest), 2, after)(yield)
		}
	}
}

// maxDepth is that of jsontext.
const maxDepth = 10_000

// firstValue returns the value with which a text begins, and the index after it, if jsonDocuments would
// take it for one.
func firstValue(text []byte) (value []byte, end int, ok bool) {
	s := skip.Skipper{Bounds: skip.Bounds{Depth: maxDepth, NameBytes: math.MaxInt, NumberBytes: math.MaxInt}, EOF: true}
	s.Start()
	from := jsonwire.Blanks(text, 0)
	end, status := s.Skip(text, from, 0, false)
	if status != skip.Done {
		return nil, 0, false
	}
	return text[from:end], end, true
}

// A failing reader returns an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// noProgram is the lookup of a sequence that only finds objects.
func noProgram(apiVersion, kind string) (*schema.Program, error) {
	return nil, &schema.NotFoundError{APIVersion: apiVersion, Kind: kind}
}
