package schema

// This file reads schemas: the bytes to a text, which is JSON and knows its lines, the text to the
// tree of a Structural, and the tree to its normal form. Definitions are read in the same way in
// crd.go.

import (
	"bytes"
	"encoding/json"
	"io"
	"iter"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// Parse reads the schema of one version of a custom resource: the value of
// openAPIV3Schema, in JSON or YAML. It does not check whether the schema is
// structural; package schema/validation does.
//
// Members that JSONSchemaProps of apiextensions.k8s.io/v1 does not have are
// dropped, as the API server drops them. A null is the same as an absent
// member, and a null in the place of a schema is the empty schema. Parse
// refuses what the server accepts and alters: a name that occurs twice in one
// object, items that are neither a schema nor an array, and text that is not
// UTF-8.
//
// The error is an [*errors.SyntaxError] or an [*errors.LimitError] with the
// position. The schema keeps no reference to openAPIV3Schema.
func Parse(openAPIV3Schema []byte) (*Structural, error) {
	t, err := readText(openAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return t.schema()
}

// A text is a JSON value that knows where it was read.
type text struct {
	json jsonv2.Value
	// position returns the place in the file of an offset in json.
	position func(offset int) errors.Position
}

// part returns the text of the value at an offset of json.
func (t *text) part(value jsonv2.Value, offset int) *text {
	return &text{value, func(o int) errors.Position { return t.position(offset + o) }}
}

// readText reads one document, as JSON if it is JSON, and otherwise as YAML.
func readText(src []byte) (*text, error) {
	if looksLikeJSON(src) && jsonv2.Value(src).IsValid(jsonv2.AllowDuplicateNames(true)) {
		return jsonText(linesOf(src), src, 0), nil
	}
	return yamlText(src, errors.Position{})
}

// readTexts yields the documents of a file. If the file consists of JSON values, these are the
// documents. Otherwise they are the documents of a YAML stream that are not empty. It ends with the
// first error.
func readTexts(src []byte) iter.Seq2[*text, error] {
	return func(yield func(*text, error) bool) {
		if values, ok := splitJSON(src); ok {
			for _, t := range values {
				if !yield(t, nil) {
					return
				}
			}
			return
		}
		for doc := range yamlbridge.Documents(src) {
			t, err := yamlText(doc.Bytes, doc.Origin)
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// splitJSON returns the values of a JSON file. ok is false if it is not one.
func splitJSON(src []byte) (values []*text, ok bool) {
	if !looksLikeJSON(src) {
		return nil, false
	}
	file := linesOf(src)
	d := jsonv2.NewDecoder(bytes.NewBuffer(src), jsonv2.AllowDuplicateNames(true))
	for d.PeekKind() != jsonv2.KindInvalid {
		v, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		end := int(d.InputOffset())
		values = append(values, jsonText(file, src[end-len(v):end], end-len(v)))
	}
	_, err := d.ReadToken()
	return values, err == io.EOF
}

// looksLikeJSON reports whether a text starts as a JSON object does. It may still be a flow mapping
// of YAML.
func looksLikeJSON(src []byte) bool { return jsonv2.Value(src).Kind() == '{' }

// jsonText returns the text of the value at an offset in a JSON file. The definitions of a long
// list share one index of lines.
func jsonText(file *position.Index, value jsonv2.Value, offset int) *text {
	return &text{value, func(o int) errors.Position { return file.At(offset + o) }}
}

// linesOf returns an index of the lines of a file.
func linesOf(src []byte) *position.Index {
	x := new(position.Index)
	x.Start(src, 0)
	return x
}

// yamlText converts one YAML document that starts at origin in its file.
func yamlText(src []byte, origin errors.Position) (*text, error) {
	r := &yamlbridge.Reader{Origin: origin}
	js, err := r.AppendJSON(nil, src)
	if err != nil {
		return nil, err
	}
	return &text{js, r.Position}, nil
}

// schema reads the text as a schema.
func (t *text) schema() (*Structural, error) {
	if k := t.json.Kind(); k != '{' {
		return nil, &errors.SyntaxError{
			Msg:      "a schema must be an object, not " + kindName(k),
			Position: t.position(0),
		}
	}
	s := new(Structural)
	if err := t.unmarshal(s); err != nil {
		return nil, err
	}
	s.normalize()
	return s, nil
}

// unmarshal decodes the text into v. Its errors have positions in the document that the text is
// from.
func (t *text) unmarshal(v any) error {
	err := jsonv2.Unmarshal(t.json, v, reading)
	switch err := err.(type) {
	case *jsonv2.SemanticError:
		path, offset := locate(t.json, err.JSONPointer)
		return &errors.SyntaxError{
			Msg:      typeMessage(err),
			Position: t.position(offset),
			Path:     path,
			Err:      err,
		}
	case *jsonv2.SyntacticError:
		return t.syntaxError(err)
	}
	return err
}

// syntaxError returns an error with the place where a text is not JSON, or has a name twice.
func (t *text) syntaxError(err *jsonv2.SyntacticError) error {
	ptr, msg := err.JSONPointer, err.Err.Error()
	if err.Err == jsonv2.ErrDuplicateName {
		// The pointer leads to the member, but the fault is in the object.
		msg = "duplicate name " + fieldpath.Quoted(ptr.LastToken())
		ptr = ptr.Parent()
	}
	path, _ := locate(t.json, ptr)
	return &errors.SyntaxError{
		Msg:      msg,
		Position: t.position(int(err.ByteOffset)),
		Path:     path,
		Err:      err,
	}
}

// typeMessage returns the types of the value that err is about, actual and wanted, in the words of
// JSON Schema.
func typeMessage(err *jsonv2.SemanticError) string {
	want := "something else"
	if t := err.GoType; t != nil {
		switch name := t.Kind().String(); name {
		case "string":
			want = "a string"
		case "bool":
			want = "a boolean"
		case "int64":
			want = "an integer"
		case "float64":
			want = "a number"
		case "slice":
			want = "an array"
		default:
			want = "an object"
		}
	}
	got := kindName(err.JSONKind)
	if err.Err != nil && err.JSONKind == '0' {
		// The number is not of the wanted kind: it has a fraction, or is out of range.
		got = string(err.JSONValue[:min(len(err.JSONValue), 32)])
	}
	msg := "must be " + want + ", not " + got
	if err.JSONKind == '[' && err.JSONPointer.LastToken() == "type" {
		msg += ": a schema has one type; use nullable to allow null, " +
			"x-kubernetes-int-or-string for integer or string"
	}
	return msg
}

// kindName returns the JSON type of a token with its article.
func kindName(k jsonv2.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	}
	return "an array"
}

// locate returns the path of a pointer, and the offset of the value that it leads to. Only the text
// distinguishes an index from a name that is a number.
func locate(js []byte, ptr jsonv2.Pointer) (errors.Path, int) {
	type segment struct {
		name  []byte // nil for an element
		index int
	}
	var segments []segment
	d := jsonv2.NewDecoder(bytes.NewBuffer(js),
		jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
	for token := range ptr.Tokens() {
		if d.PeekKind() == '[' {
			index, _ := strconv.Atoi(token)
			d.ReadToken()
			for range index {
				d.SkipValue()
			}
			segments = append(segments, segment{index: index})
			continue
		}
		d.ReadToken()
		for d.PeekKind() == '"' {
			if name, _ := d.ReadToken(); name.String() == token {
				break
			}
			d.SkipValue()
		}
		segments = append(segments, segment{name: append([]byte{}, token...)})
	}
	// The decoder is after the last token that it has read.
	offset := int(d.InputOffset())
	offset = len(js) - len(bytes.TrimLeft(js[offset:], " \t\r\n:,"))
	return errors.PathOf(fieldpath.Encode(len(segments), func(i int) ([]byte, int) {
		return segments[i].name, segments[i].index
	})), offset
}

// normalize brings a tree, as it was decoded, into the form that the rest of the package expects.
// No schema is nil, and no raw value has white space or is null if null means that it is absent.
// Empty parts are absent if the server does not distinguish them from absent ones.
func (s *Structural) normalize() {
	s.Properties = normalizeMap(s.Properties)
	s.PatternProperties = normalizeMap(s.PatternProperties)
	s.Definitions = normalizeMap(s.Definitions)
	for _, list := range []*[]*Structural{&s.AllOf, &s.AnyOf, &s.OneOf} {
		*list = normalizeList(*list)
	}
	if s.Items != nil {
		s.Items.Schemas = normalizeList(s.Items.Schemas)
	}
	for _, one := range []*Structural{s.element(), s.value(), s.AdditionalItems.schema(), s.Not} {
		if one != nil {
			one.normalize()
		}
	}
	// JSON.UnmarshalJSON of apiextensions: a null default or example is none.
	for _, v := range []*json.RawMessage{&s.Default, &s.Example, &s.ExternalDocs} {
		if isNull(*v) {
			*v = nil
		}
		compact(v)
	}
	for _, values := range [][]json.RawMessage{s.Enum, s.XValidations} {
		for i := range values {
			compact(&values[i])
		}
	}
	for name, v := range s.Dependencies {
		compact(&v)
		s.Dependencies[name] = v
	}
	s.Enum, s.XValidations = noneIfEmpty(s.Enum), noneIfEmpty(s.XValidations)
	s.Required, s.XListMapKeys = noneIfEmpty(s.Required), noneIfEmpty(s.XListMapKeys)
}

func normalizeMap(m map[string]*Structural) map[string]*Structural {
	if len(m) == 0 {
		return nil
	}
	for name, s := range m {
		if s == nil {
			s = new(Structural)
			m[name] = s
		}
		s.normalize()
	}
	return m
}

func normalizeList(l []*Structural) []*Structural {
	for i, s := range l {
		if s == nil {
			s = new(Structural)
			l[i] = s
		}
		s.normalize()
	}
	return noneIfEmpty(l)
}

func noneIfEmpty[T any](l []T) []T {
	if len(l) == 0 {
		return nil
	}
	return l
}

// schema returns the schema, or nil.
func (s *SchemaOrBool) schema() *Structural {
	if s == nil {
		return nil
	}
	return s.Schema
}
