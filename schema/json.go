package schema

// This file reads and writes schemas as JSON: for encoding/json, for its second version, and for
// others that call MarshalJSON and UnmarshalJSON. These methods take a whole text. If each schema
// within a schema were read by its method, a text would be read as often as it is deep. Within a
// schema, functions that continue with the same coder replace the methods.

import (
	"bytes"
	"encoding/json"

	"github.com/espalier-dev/espalier/internal/jsonv2"
)

var (
	reading = jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(
		jsonv2.UnmarshalFromFunc(readSchema),
		jsonv2.UnmarshalFromFunc(readSchemaOrBool),
		jsonv2.UnmarshalFromFunc(readSchemaOrArray),
	))
	// Names are sorted, because those who call MarshalJSON cannot ask for it.
	writing = []jsonv2.Options{jsonv2.Deterministic(true), jsonv2.WithMarshalers(jsonv2.JoinMarshalers(
		jsonv2.MarshalToFunc(writeSchema),
		jsonv2.MarshalToFunc(writeSchemaOrBool),
		jsonv2.MarshalToFunc(writeSchemaOrArray),
	))}
)

// plainStructural is a Structural without methods.
type plainStructural Structural

func writeSchema(to *jsonv2.Encoder, s *Structural) error {
	return jsonv2.MarshalEncode(to, (*plainStructural)(s))
}

func readSchema(from *jsonv2.Decoder, s *Structural) error {
	return jsonv2.UnmarshalDecode(from, (*plainStructural)(s))
}

// MarshalJSON returns the schema as it is written in a definition, with
// properties sorted by name.
func (s *Structural) MarshalJSON() ([]byte, error) { return jsonv2.Marshal(s, writing...) }

// Equal reports whether two schemas say the same; nil is equal to nil alone. Raw
// values in them, such as defaults, are the same only if their members have the
// same order, as in the API server.
func (s *Structural) Equal(o *Structural) bool {
	if s == o || s == nil || o == nil {
		return s == o
	}
	x, errX := s.MarshalJSON()
	y, errY := o.MarshalJSON()
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// UnmarshalJSON reads a schema as [Parse] does: the case of names matters, and
// names that occur twice are refused. Unlike Parse, it keeps equivalent forms
// apart, such as null and the empty schema.
func (s *Structural) UnmarshalJSON(text []byte) error { return jsonv2.Unmarshal(text, s, reading) }

func writeSchemaOrBool(to *jsonv2.Encoder, s *SchemaOrBool) error {
	if s.Schema != nil {
		return jsonv2.MarshalEncode(to, s.Schema)
	}
	return to.WriteToken(jsonv2.Bool(s.Allows))
}

func readSchemaOrBool(from *jsonv2.Decoder, s *SchemaOrBool) error {
	if k := from.PeekKind(); k == 't' || k == 'f' {
		*s = SchemaOrBool{}
		return jsonv2.UnmarshalDecode(from, &s.Allows)
	}
	*s = SchemaOrBool{Allows: true, Schema: new(Structural)}
	return jsonv2.UnmarshalDecode(from, s.Schema)
}

// MarshalJSON returns the schema or the boolean.
func (s *SchemaOrBool) MarshalJSON() ([]byte, error) { return jsonv2.Marshal(s, writing...) }

// UnmarshalJSON reads a schema or a boolean.
func (s *SchemaOrBool) UnmarshalJSON(text []byte) error {
	return jsonv2.Unmarshal(text, s, reading)
}

func writeSchemaOrArray(to *jsonv2.Encoder, s *SchemaOrArray) error {
	if s.Schema != nil {
		return jsonv2.MarshalEncode(to, s.Schema)
	}
	return jsonv2.MarshalEncode(to, s.Schemas)
}

func readSchemaOrArray(from *jsonv2.Decoder, s *SchemaOrArray) error {
	*s = SchemaOrArray{}
	if from.PeekKind() == '[' {
		return jsonv2.UnmarshalDecode(from, &s.Schemas)
	}
	s.Schema = new(Structural)
	return jsonv2.UnmarshalDecode(from, s.Schema)
}

// MarshalJSON returns the schema or the array of schemas.
func (s *SchemaOrArray) MarshalJSON() ([]byte, error) { return jsonv2.Marshal(s, writing...) }

// UnmarshalJSON reads a schema or an array of schemas.
func (s *SchemaOrArray) UnmarshalJSON(text []byte) error {
	return jsonv2.Unmarshal(text, s, reading)
}

// compact removes the white space from a raw value. Text that is not JSON stays as it is.
func compact(raw *json.RawMessage) {
	if len(*raw) > 0 {
		_ = (*jsonv2.Value)(raw).Compact()
	}
}

// isNull reports whether a raw value is null.
func isNull(raw json.RawMessage) bool { return jsonv2.Value(raw).Kind() == 'n' }
