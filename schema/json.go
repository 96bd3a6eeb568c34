package schema

// This file makes schemas what they are in JSON, for encoding/json as well as for its second version: a type that has the
// methods of one of the two only is silently another thing for the other.

import (
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// plainStructural is a Structural without methods.
type plainStructural Structural

// MarshalJSONTo writes the schema as it stands in a definition.
func (s *Structural) MarshalJSONTo(enc *jsonv2.Encoder) error {
	return jsonv2.MarshalEncode(enc, (*plainStructural)(s))
}

// asV2 takes back what encoding/json has set, where it is made of the same decoder (since Go 1.27).
var asV2 = jsonv2.MatchCaseInsensitiveNames(false)

// UnmarshalJSONFrom reads a schema. What [Parse] takes for the same is told apart here, such as null and the empty schema.
func (s *Structural) UnmarshalJSONFrom(dec *jsonv2.Decoder) error {
	return jsonv2.UnmarshalDecode(dec, (*plainStructural)(s), asV2)
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (s *Structural) MarshalJSON() ([]byte, error) { return jsonv2.Marshal(s) }

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json. Names are compared with regard to case, as in Parse.
func (s *Structural) UnmarshalJSON(text []byte) error { return jsonv2.Unmarshal(text, s) }

// MarshalJSONTo writes the schema or the boolean.
func (s *SchemaOrBool) MarshalJSONTo(enc *jsonv2.Encoder) error {
	if s.Schema != nil {
		return jsonv2.MarshalEncode(enc, s.Schema)
	}
	return enc.WriteToken(jsonv2.Bool(s.Allows))
}

// UnmarshalJSONFrom reads a schema or a boolean.
func (s *SchemaOrBool) UnmarshalJSONFrom(dec *jsonv2.Decoder) error {
	if k := dec.PeekKind(); k == 't' || k == 'f' {
		*s = SchemaOrBool{}
		return jsonv2.UnmarshalDecode(dec, &s.Allows)
	}
	*s = SchemaOrBool{Allows: true, Schema: new(Structural)}
	return jsonv2.UnmarshalDecode(dec, s.Schema)
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (s *SchemaOrBool) MarshalJSON() ([]byte, error) { return jsonv2.Marshal(s) }

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (s *SchemaOrBool) UnmarshalJSON(text []byte) error { return jsonv2.Unmarshal(text, s) }

// MarshalJSONTo writes the schema or the array of schemas.
func (s *SchemaOrArray) MarshalJSONTo(enc *jsonv2.Encoder) error {
	if s.Schema != nil {
		return jsonv2.MarshalEncode(enc, s.Schema)
	}
	return jsonv2.MarshalEncode(enc, s.Schemas)
}

// UnmarshalJSONFrom reads a schema or an array of schemas.
func (s *SchemaOrArray) UnmarshalJSONFrom(dec *jsonv2.Decoder) error {
	*s = SchemaOrArray{}
	if dec.PeekKind() == '[' {
		return jsonv2.UnmarshalDecode(dec, &s.Schemas)
	}
	s.Schema = new(Structural)
	return jsonv2.UnmarshalDecode(dec, s.Schema)
}

// MarshalJSON is MarshalJSONTo for encoding/json.
func (s *SchemaOrArray) MarshalJSON() ([]byte, error) { return jsonv2.Marshal(s) }

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (s *SchemaOrArray) UnmarshalJSON(text []byte) error { return jsonv2.Unmarshal(text, s) }
