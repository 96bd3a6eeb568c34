package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// stdinName is what standard input is called in messages.
const stdinName = "<stdin>"

// A document is one object of the input, as JSON.
type document struct {
	json []byte
	// number counts the documents of the input from 1; 0 means that it is the
	// only one.
	number int
	start  errors.Position // in the input
	// locate turns a position in json into one of the input.
	locate func(errors.Position) errors.Position
}

// expand returns the files that an argument stands for: itself, or those of a
// folder.
func expand(name string) ([]string, error) {
	if name == "-" {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	var names []string
	err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(path)) {
			names = append(names, path)
		}
		return err
	})
	return names, err
}

// read returns the content of an input and what it is called in messages.
func read(name string, stdin io.Reader) (display string, content []byte, err error) {
	if name == "-" {
		content, err = io.ReadAll(stdin)
		return stdinName, content, err
	}
	content, err = os.ReadFile(name)
	return name, content, err
}

func isJSON(name string, content []byte) bool {
	switch filepath.Ext(name) {
	case ".json":
		return true
	case ".yaml", ".yml":
		return false
	}
	return bytes.HasPrefix(bytes.TrimLeft(content, " \t\r\n"), []byte("{"))
}

// jsonDocuments returns the JSON texts that stand after each other in content.
// They are only cut here: what is wrong with the last is for the decoder to say.
func jsonDocuments(content []byte) []document {
	var docs []document
	dec := jsontext.NewDecoder(bytes.NewReader(content), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	count := counter{src: content, at: errors.Position{Line: 1, Column: 1, ByteColumn: 1}}
	for end := 0; ; {
		start := end + len(content[end:]) - len(bytes.TrimLeft(content[end:], " \t\r\n"))
		if start == len(content) && len(docs) > 0 {
			break
		}
		value, err := dec.ReadValue()
		if end = int(dec.InputOffset()); err != nil {
			end = len(content)
		} else {
			start = end - len(value)
		}
		doc := document{json: content[start:end], start: count.position(start)}
		doc.locate = func(p errors.Position) errors.Position { return shift(p, doc.start) }
		docs = append(docs, doc)
		if err != nil {
			break
		}
	}
	return numbered(docs)
}

// yamlDocuments returns the documents of a YAML stream, and the errors for those
// that cannot be read, each at the place of its document.
func yamlDocuments(content []byte) (docs []document, errs []error) {
	for d := range yamlbridge.Documents(content) {
		m := &yamlbridge.SourceMap{Origin: d.Origin}
		js, err := yamlbridge.AppendJSON(nil, d.Bytes, m)
		docs = append(docs, document{
			json:   js,
			start:  d.Origin,
			locate: func(p errors.Position) errors.Position { return m.Position(int(p.Offset)) },
		})
		errs = append(errs, err)
	}
	return numbered(docs), errs
}

func numbered(docs []document) []document {
	if len(docs) > 1 {
		for i := range docs {
			docs[i].number = i + 1
		}
	}
	return docs
}

// items returns the elements of the array called items, if the document, which
// is an object, has one.
func (d document) items() (items []document, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(d.json), jsontext.AllowDuplicateNames(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, false
	}
	count := counter{src: d.json, at: errors.Position{Line: 1, Column: 1, ByteColumn: 1}}
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
			start := count.position(end - len(value))
			items = append(items, document{
				json:   d.json[end-len(value) : end],
				number: d.number,
				start:  d.locate(start),
				locate: func(p errors.Position) errors.Position { return d.locate(shift(p, start)) },
			})
		}
		if _, err := dec.ReadToken(); err != nil {
			return nil, false
		}
	}
	return items, ok
}

// shift returns where a position in a text is, if the text starts at origin.
func shift(p, origin errors.Position) errors.Position {
	p.Offset += origin.Offset
	if p.Line == 1 {
		p.Column += origin.Column - 1
		p.ByteColumn += origin.ByteColumn - 1
	}
	p.Line += origin.Line - 1
	return p
}

// A counter finds the lines and columns of offsets that only grow.
type counter struct {
	src []byte
	at  errors.Position
}

func (c *counter) position(offset int) errors.Position {
	for i := int(c.at.Offset); i < offset; i++ {
		switch b := c.src[i]; {
		case b == '\n', b == '\r' && (i+1 == len(c.src) || c.src[i+1] != '\n'):
			c.at.Line, c.at.Column, c.at.ByteColumn = c.at.Line+1, 1, 1
		default:
			c.at.ByteColumn++
			if b&0xC0 != 0x80 {
				c.at.Column++
			}
		}
	}
	c.at.Offset = int64(offset)
	return c.at
}
