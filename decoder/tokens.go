package decoder

import (
	"context"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/espalier-dev/espalier/errors"
)

// A TokenReader reads the result for a JSON document token by token or value by value, in
// the memory of a [Reader]. Its methods are those of jsontext.Decoder over the
// result: what is pruned does not appear, and defaults do. Tokens and values that it
// returns are valid until the next call.
//
// Errors are those of [Reader.Read]. That all is well with a document is known when
// io.EOF comes, behind its last token; until then the document may turn out to be none,
// or an object to have a name twice. An errors.StrictError comes after the last token, too, but through
// [TokenReader.Decoder] in its place.
type TokenReader struct {
	reader *Reader
	source tokenSource
	tokens *jsontext.Decoder
}

// Tokens returns a reader of the result's tokens for the JSON document in r. Any other
// use of the decoder ends what came before.
func (d *Decoder) Tokens(r io.Reader) *TokenReader {
	reader := d.NewReader(r)
	t := &TokenReader{reader: reader, source: tokenSource{reader: reader}}
	t.tokens = jsontext.NewDecoder(&t.source, ofResult)
	return t
}

// ofResult says that the result has been validated.
var ofResult = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Reset makes the reader read another document, with the same decoder. The context stays.
func (t *TokenReader) Reset(r io.Reader) {
	t.reader.Reset(r)
	t.source = tokenSource{reader: t.reader}
	t.tokens.Reset(&t.source, ofResult)
}

// SetContext is [Reader.SetContext].
func (t *TokenReader) SetContext(ctx context.Context) { t.reader.SetContext(ctx) }

// Findings is [Reader.Findings].
func (t *TokenReader) Findings() errors.List { return t.reader.Findings() }

// Omitted is [Decoder.Omitted], as Findings is.
func (t *TokenReader) Omitted() int { return t.reader.Omitted() }

// Decoder returns the decoder that the tokens come from, to hand it to
// json.UnmarshalDecode. Err then says why that has failed. Under [Strict], of a document that has
// findings the last token cannot be read through it: the errors.StrictError comes in its place, so that nobody
// takes the value who does not ask for io.EOF.
func (t *TokenReader) Decoder() *jsontext.Decoder { return t.tokens }

// Err returns the error that has ended the reading, or nil: after errors of what
// Decoder has returned, which wrap it.
func (t *TokenReader) Err() error {
	if t.reader.err == io.EOF {
		return nil
	}
	return t.reader.err
}

// ReadToken reads the next token; see jsontext.Decoder.ReadToken.
func (t *TokenReader) ReadToken() (jsontext.Token, error) {
	token, err := t.tokens.ReadToken()
	if err != nil && t.source.release() {
		token, err = t.tokens.ReadToken()
	}
	return token, t.cause(err)
}

// ReadValue reads the next value as a whole, which is then held in memory; see
// jsontext.Decoder.ReadValue.
func (t *TokenReader) ReadValue() (jsontext.Value, error) {
	value, err := t.tokens.ReadValue()
	if err != nil && t.source.release() {
		value, err = t.tokens.ReadValue()
	}
	return value, t.cause(err)
}

// SkipValue skips the next value; see jsontext.Decoder.SkipValue.
func (t *TokenReader) SkipValue() error {
	depth := t.tokens.StackDepth()
	err := t.tokens.SkipValue()
	switch {
	case err == nil || !t.source.release():
	case t.tokens.StackDepth() > depth: // all of it was skipped but for its end
		_, err = t.tokens.ReadToken()
	default:
		err = t.tokens.SkipValue()
	}
	return t.cause(err)
}

// PeekKind returns the kind of the next token; see jsontext.Decoder.PeekKind.
func (t *TokenReader) PeekKind() jsontext.Kind {
	kind := t.tokens.PeekKind()
	if kind == jsontext.KindInvalid && t.source.release() {
		kind = t.tokens.PeekKind()
	}
	return kind
}

// InputOffset returns the offset in the result, behind the last token or value; see
// jsontext.Decoder.InputOffset.
func (t *TokenReader) InputOffset() int64 { return t.tokens.InputOffset() }

// StackDepth returns how many objects and arrays are open; see
// jsontext.Decoder.StackDepth.
func (t *TokenReader) StackDepth() int { return t.tokens.StackDepth() }

// StackIndex returns what is open at a depth, and how many names and values were
// read of it; see jsontext.Decoder.StackIndex.
func (t *TokenReader) StackIndex(depth int) (jsontext.Kind, int64) { return t.tokens.StackIndex(depth) }

// StackPointer returns a pointer to the last token or value; see
// jsontext.Decoder.StackPointer.
func (t *TokenReader) StackPointer() jsontext.Pointer { return t.tokens.StackPointer() }

// cause returns the reader's error for one that it has caused.
func (t *TokenReader) cause(err error) error {
	if err != nil && t.Err() != nil {
		return t.Err()
	}
	return err
}

// A tokenSource is what a jsontext.Decoder reads the result from. Of one that comes with an errors.StrictError it
// holds the last byte back: who reads a value need not read on to the end, and would never see the
// error. Without that byte the document is not complete.
type tokenSource struct {
	reader *Reader
	last   byte
	state  sourceState
}

type sourceState uint8

const (
	passing  sourceState = iota
	holding              // the last byte
	released             // it may go
	passed               // it has gone
)

// Read is [Reader.Read], up to that byte.
func (s *tokenSource) Read(p []byte) (int, error) {
	switch s.state {
	case passing:
		n, err := s.reader.Read(p)
		if n == 0 || !s.reader.isStrictEnd() {
			return n, err
		}
		s.last, s.state = p[n-1], holding
		if n > 1 {
			return n - 1, nil
		}
	case released:
		n := copy(p, []byte{s.last})
		if n > 0 {
			s.state = passed
		}
		return n, nil
	}
	return 0, s.reader.err
}

// release lets the last byte go, for who is going to see the error after it, and reports whether it was held.
func (s *tokenSource) release() bool {
	if s.state != holding {
		return false
	}
	s.state = released
	return true
}

// isStrictEnd reports whether all of a result was read that comes with an errors.StrictError.
func (s *stream) isStrictEnd() bool {
	_, isStrict := s.err.(*errors.StrictError)
	return isStrict && s.taken == len(s.out)
}
