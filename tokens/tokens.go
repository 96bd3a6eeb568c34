// Package tokens reads the result of decoding a JSON document token by token or
// value by value. It has the types of [jsontext], and its results can be passed
// to json.UnmarshalDecode.
//
//	tokens := tokens.NewReader(decoder.New(program), body)
//	err := json.UnmarshalDecode(tokens.Decoder(), &v)
//
// It is the only package of this module whose API has types of a module without
// releases. Go 1.27 has these types in its standard library, as
// encoding/json/jsontext. With it the package changes to those, by a change of
// one import path.
package tokens

import (
	"context"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
)

// A Reader reads the result for a JSON document token by token or value by
// value, in the memory of a [decoder.Reader]. Its methods are those of a
// jsontext.Decoder over the result: pruned members do not appear, and defaults
// do. The tokens and values that it returns are valid until the next call.
//
// Errors are those of [decoder.Reader.Read]. A document is known to be valid
// when io.EOF follows its last token. Until then the document may turn out to
// be malformed, or an object to have a name twice. An [*errors.StrictError]
// also follows the last token, but for readers through [Reader.Decoder] it
// replaces the last token.
//
// A Reader uses its decoder until it has returned an error, which may be
// io.EOF. It must not be used by several goroutines at the same time.
type Reader struct {
	result source
	tokens *jsontext.Decoder
}

// NewReader returns a reader of the result's tokens for the JSON document in r.
// A decoder works on one document at a time: any other use of d ends the
// reader. If r is nil, Reset must be called before the first token is read.
func NewReader(d *decoder.Decoder, r io.Reader) *Reader {
	t := new(Reader)
	t.result.reader = d.NewReader(t.result.of(r))
	t.tokens = jsontext.NewDecoder(&t.result, ofResult...)
	return t
}

// ofResult are the options for reading a result, which was validated before.
var ofResult = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// Reset makes the reader read another document with the same decoder. The
// context of SetContext remains.
func (t *Reader) Reset(r io.Reader) {
	t.result = source{reader: t.result.reader}
	t.result.reader.Reset(t.result.of(r))
	t.tokens.Reset(&t.result, ofResult...)
}

// SetContext makes the reader stop when the context is done: see
// [decoder.Reader.SetContext].
func (t *Reader) SetContext(ctx context.Context) { t.result.reader.SetContext(ctx) }

// Findings returns the findings of the document: see [decoder.Reader.Findings].
func (t *Reader) Findings() errors.List { return t.result.reader.Findings() }

// Omitted returns the number of omitted findings: see [decoder.Reader.Omitted].
func (t *Reader) Omitted() int { return t.result.reader.Omitted() }

// Decoder returns the decoder of the tokens, for json.UnmarshalDecode. If that
// fails, Err returns the reason. Under [decoder.Strict], the last token of a
// document with findings cannot be read through it: the [*errors.StrictError]
// comes in its place, so that callers who do not read until io.EOF do not use
// the value.
func (t *Reader) Decoder() *jsontext.Decoder { return t.tokens }

// Err returns the error that has ended the reading, or nil. It is for errors of
// the decoder that Decoder returns, which wrap it.
func (t *Reader) Err() error {
	if t.result.err == io.EOF {
		return nil
	}
	return t.result.err
}

// ReadToken reads the next token: see jsontext.Decoder.ReadToken.
func (t *Reader) ReadToken() (jsontext.Token, error) {
	token, err := t.tokens.ReadToken()
	if err != nil && t.result.release() {
		token, err = t.tokens.ReadToken()
	}
	return token, t.cause(err)
}

// ReadValue reads the next value as a whole and holds it in memory: see
// jsontext.Decoder.ReadValue.
func (t *Reader) ReadValue() (jsontext.Value, error) {
	value, err := t.tokens.ReadValue()
	if err != nil && t.result.release() {
		value, err = t.tokens.ReadValue()
	}
	return value, t.cause(err)
}

// SkipValue skips the next value: see jsontext.Decoder.SkipValue.
func (t *Reader) SkipValue() error {
	depth := t.tokens.StackDepth()
	err := t.tokens.SkipValue()
	switch {
	case err == nil || !t.result.release():
	case t.tokens.StackDepth() > depth: // only its end was not skipped
		_, err = t.tokens.ReadToken()
	default:
		err = t.tokens.SkipValue()
	}
	return t.cause(err)
}

// PeekKind returns the kind of the next token: see jsontext.Decoder.PeekKind.
func (t *Reader) PeekKind() jsontext.Kind {
	kind := t.tokens.PeekKind()
	if kind == jsontext.KindInvalid && t.result.release() {
		kind = t.tokens.PeekKind()
	}
	return kind
}

// InputOffset returns the offset in the result after the last token or value:
// see jsontext.Decoder.InputOffset.
func (t *Reader) InputOffset() int64 { return t.tokens.InputOffset() }

// StackDepth returns how many objects and arrays are open: see
// jsontext.Decoder.StackDepth.
func (t *Reader) StackDepth() int { return t.tokens.StackDepth() }

// StackIndex returns the kind of the object or array that is open at a depth,
// and how many names and values of it were read: see
// jsontext.Decoder.StackIndex.
func (t *Reader) StackIndex(depth int) (jsontext.Kind, int64) { return t.tokens.StackIndex(depth) }

// StackPointer returns a pointer to the last token or value: see
// jsontext.Decoder.StackPointer.
func (t *Reader) StackPointer() jsontext.Pointer { return t.tokens.StackPointer() }

// cause returns the error that has ended the reading in place of err, which wraps it, or err if the
// reading has not ended.
func (t *Reader) cause(err error) error {
	if err != nil && t.Err() != nil {
		return t.Err()
	}
	return err
}
