package decoder

import (
	"context"
	stderrors "errors"
	"io"

	"github.com/espalier-dev/espalier/errors"
)

// A Reader reads a JSON document from an io.Reader and is an io.Reader of the
// result. The result is that of [Decoder.AppendJSON] except for white space,
// but the memory it takes does not depend on the length of the document. A
// Reader holds
//
//   - a window of some 32 KiB,
//   - for each open object and array eight words and its name,
//   - of each open object the names that the schema does not declare, because
//     none of them may occur twice.
//
// [Limits].HeldBytes bounds the sum of these. The white space around a name is
// part of the sum until the value begins. A value that is dropped passes
// through the window, whatever its size. Where there are more findings than the
// limits allow, a Reader may keep others than AppendJSON, which looks for
// duplicates first. White space after the document is removed, and other white
// space may move.
//
// A Reader cannot take back what was read from it. A name that occurs twice in
// an object of the result is therefore an error in every mode: an
// [*errors.DuplicateError]. A duplicate that is dropped is a finding as usual.
//
// The last byte of the result is not returned before the whole document is
// known to be valid. No error follows a complete result, except for an
// [*errors.StrictError] or [*errors.InvalidError], whose result is meant to be
// complete. Only callers that read to the end see these errors, as io.ReadAll
// and json.UnmarshalRead do. A decoder on top of a Reader that stops at the end
// of its value, such as the Decoder of encoding/json, does not see them; the
// Decoder of package tokens does.
//
// Under a [ServerMode] other than [Standalone], with [ExpectType], and for
// YAML, nothing is decided before the end. The whole document is then held, up
// to Limits.HeldBytes. See [ValueValidation] for what is held to validate
// values.
//
// A Reader uses its decoder until it has returned an error, which may be
// io.EOF. It must not be used by several goroutines at the same time.
type Reader struct {
	src io.Reader
	stream
}

// NewReader returns a reader of the result for the JSON document in r. A
// decoder works on one document at a time: any other use of it ends the reader.
// If r is nil, Reset must be called before Read.
func (d *Decoder) NewReader(r io.Reader) *Reader {
	reader := &Reader{src: r}
	reader.start(d)
	return reader
}

// NewYAMLReader is NewReader for a YAML document: see [Decoder.AppendYAML]. The
// reader holds the whole document. To read its tokens, put a jsontext.Decoder
// on top of it and read until io.EOF. For streams of documents use
// [NewYAMLSequence].
func (d *Decoder) NewYAMLReader(r io.Reader) *Reader {
	reader := &Reader{src: r}
	reader.yaml = true
	reader.start(d)
	return reader
}

// Reset makes the reader read another document with the same decoder. It
// allocates nothing. The context of SetContext remains.
func (r *Reader) Reset(src io.Reader) {
	r.src = src
	r.start(r.d)
}

// SetContext makes the reader stop when the context is done, with an
// [*errors.IOError] in which errors.Is finds both ctx.Err() and
// context.Cause(ctx). The reader looks at the context before it reads the next
// window of input, which is at most 64 KiB unless a token is longer. It does
// not interrupt a Read of the source that blocks.
func (r *Reader) SetContext(ctx context.Context) { r.ctx = ctx }

// Findings returns the findings of the document: see [Decoder.Findings]. They
// are complete when Read has returned io.EOF, an [*errors.StrictError] or an
// [*errors.InvalidError].
func (r *Reader) Findings() errors.List { return r.d.Findings() }

// Omitted returns the number of omitted findings: see [Decoder.Omitted]. It is
// final when Findings is complete.
func (r *Reader) Omitted() int { return r.d.Omitted() }

// Read returns the next bytes of the result, and io.EOF after its last.
//
// Its errors are those of [Decoder.AppendJSON] and [*errors.DuplicateError]. An
// error of the source or of the context is wrapped in an [*errors.IOError]. For
// a document that ends too early, the error is an [*errors.SyntaxError] that
// wraps io.ErrUnexpectedEOF. Where no findings are asked for, the path of a
// fatal error inside a dropped value ends at that value. After an error, every
// call returns the same error.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if n := r.take(p); n > 0 {
			return n, nil
		}
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
}

// WriteTo writes the rest of the result to w, and returns how many bytes it has
// written. Its errors are those of Read except for io.EOF. An error of w is
// wrapped in an [*errors.IOError].
func (r *Reader) WriteTo(w io.Writer) (written int64, err error) {
	for {
		n, err := r.writeTo(w, written)
		written += int64(n)
		if err != nil {
			r.err = err
			r.taken = len(r.out) // so that Read returns nothing of the rest
			return written, err
		}
		switch r.err {
		case nil:
			r.fill()
		case io.EOF:
			return written, nil
		default:
			return written, r.err
		}
	}
}

// maxEmptyReads is how many reads in a row may return nothing, as in package bufio.
const maxEmptyReads = 100

var errNoSource = stderrors.New("decoder: a Reader has nothing to read from before Reset")

var errInvalidCount = stderrors.New("it returned an invalid count")

// fill reads from the source, until it returns something, and walks on.
func (r *Reader) fill() {
	if r.src == nil {
		r.err = errNoSource
		return
	}
	room, err := r.room()
	if err != nil {
		r.err = err
		return
	}
	for range maxEmptyReads {
		if r.err = checkContext(r.ctx, r.total); r.err != nil {
			return
		}
		n, err := r.src.Read(room)
		if n < 0 || n > len(room) {
			n, err = 0, errInvalidCount
		}
		if n > 0 || err == io.EOF {
			r.put(n, err == io.EOF)
		}
		if err != nil && r.err == nil {
			r.err = &errors.IOError{Op: "read", Offset: r.total, Err: err}
		}
		if n > 0 || err != nil {
			return
		}
	}
	r.err = &errors.IOError{Op: "read", Offset: r.total, Err: io.ErrNoProgress}
}
