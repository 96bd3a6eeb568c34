// Package jsonv2 is what this module uses of github.com/go-json-experiment/json and its package jsontext, under one
// name: types by alias, functions as they are. No other package imports these, but for package tokens, whose users have
// types of theirs, and for tests.
//
// That module has no releases, and becomes encoding/json/v2 and encoding/json/jsontext in Go 1.27. When Go 1.26 is not
// supported any more, the import paths of this file and of package tokens are all that changes: release.TestStandardLibrary
// builds it so. Nothing here may therefore be in one of the two only, but for [ErrSkip].
package jsonv2

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The types of the two packages.
type (
	Decoder        = jsontext.Decoder
	Encoder        = jsontext.Encoder
	Kind           = jsontext.Kind
	Options        = jsontext.Options
	Pointer        = jsontext.Pointer
	SemanticError  = json.SemanticError
	SyntacticError = jsontext.SyntacticError
	Token          = jsontext.Token
	Value          = jsontext.Value

	Marshalers      = json.Marshalers
	Unmarshalers    = json.Unmarshalers
	UnmarshalerFrom = json.UnmarshalerFrom
)

// KindInvalid is the kind of what is no token.
const KindInvalid = jsontext.KindInvalid

// The tokens that have no value, and the error for a name that stands twice.
var (
	BeginArray  = jsontext.BeginArray
	BeginObject = jsontext.BeginObject
	EndArray    = jsontext.EndArray
	EndObject   = jsontext.EndObject

	ErrDuplicateName = jsontext.ErrDuplicateName
)

// Of jsontext: tokens, coders and text.

func Bool(b bool) Token     { return jsontext.Bool(b) }
func String(s string) Token { return jsontext.String(s) }

func NewDecoder(r io.Reader, opts ...Options) *Decoder { return jsontext.NewDecoder(r, opts...) }
func NewEncoder(w io.Writer, opts ...Options) *Encoder { return jsontext.NewEncoder(w, opts...) }

func AppendFormat(dst, src []byte, opts ...Options) ([]byte, error) {
	return jsontext.AppendFormat(dst, src, opts...)
}
func AppendQuote(dst []byte, src string) ([]byte, error)   { return jsontext.AppendQuote(dst, src) }
func AppendUnquote(dst []byte, src []byte) ([]byte, error) { return jsontext.AppendUnquote(dst, src) }

// Of json: Go values.

func Marshal(v any, opts ...Options) ([]byte, error) { return json.Marshal(v, opts...) }
func MarshalEncode(to *Encoder, v any, opts ...Options) error {
	return json.MarshalEncode(to, v, opts...)
}
func Unmarshal(src []byte, v any, opts ...Options) error { return json.Unmarshal(src, v, opts...) }
func UnmarshalDecode(from *Decoder, v any, opts ...Options) error {
	return json.UnmarshalDecode(from, v, opts...)
}

func MarshalToFunc[T any](fn func(*Encoder, T) error) *Marshalers { return json.MarshalToFunc(fn) }
func UnmarshalFromFunc[T any](fn func(*Decoder, T) error) *Unmarshalers {
	return json.UnmarshalFromFunc(fn)
}
func JoinMarshalers(ms ...*Marshalers) *Marshalers       { return json.JoinMarshalers(ms...) }
func JoinUnmarshalers(us ...*Unmarshalers) *Unmarshalers { return json.JoinUnmarshalers(us...) }

// The options of both.

func AllowDuplicateNames(v bool) Options       { return jsontext.AllowDuplicateNames(v) }
func AllowInvalidUTF8(v bool) Options          { return jsontext.AllowInvalidUTF8(v) }
func Deterministic(v bool) Options             { return json.Deterministic(v) }
func Multiline(v bool) Options                 { return jsontext.Multiline(v) }
func PreserveRawStrings(v bool) Options        { return jsontext.PreserveRawStrings(v) }
func WithIndent(indent string) Options         { return jsontext.WithIndent(indent) }
func WithMarshalers(v *Marshalers) Options     { return json.WithMarshalers(v) }
func WithUnmarshalers(v *Unmarshalers) Options { return json.WithUnmarshalers(v) }
