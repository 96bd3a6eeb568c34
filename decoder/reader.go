package decoder

import (
	"context"
	stderrors "errors"
	"io"

	"github.com/espalier-dev/espalier/errors"
)

// A Reader reads a JSON document from an io.Reader and is an io.Reader of the result:
// what [Decoder.AppendJSON] would return, but for white space, in a memory that
// does not depend on the length of the document. It holds
//
//   - a window of some 32 KiB,
//   - what is open: eight words for each object and array, and its name;
//   - names that the schema does not declare of the objects that are open, as none of
//     them may stand twice.
//
// [Limits].HeldBytes bounds their sum; the white space around a name counts until its value
// begins. What is dropped passes through the window, whatever its size. Of findings beyond their
// limits, others may be kept than AppendJSON would keep, which looks for duplicates first. White space behind the document is not kept, and the rest of it may
// come out at another place than in the result of AppendJSON.
//
// What was read cannot be taken back, and so a name that stands twice in an object is an
// error where the result would have it, in every mode: errors.DuplicateError. Where it is
// dropped it is a finding, as ever. The last byte of the result is not returned
// before everything is known to be well: no result that is complete is followed
// by an error, but for errors.StrictError, with which it is meant to be complete. That is seen only by who reads
// to the end, as io.ReadAll and json.UnmarshalRead do: a decoder on top of a Reader that stops where its value ends, as that of
// encoding/json, does not see it. That of package tokens does.
//
// Where a [ServerMode] was given, or the document is YAML, nothing is
// decided before the end, so that the whole document is held, up to Limits.HeldBytes.
//
// A Reader uses its decoder until it has returned an error, io.EOF among them. It is
// not for use by several goroutines at a time.
type Reader struct {
	src io.Reader
	stream
}

// NewReader returns a reader of the result for the JSON document in r. Any other use of
// the decoder ends what came before: a decoder works on one document at a time. Where r is nil, Reset has to
// come before Read.
func (d *Decoder) NewReader(r io.Reader) *Reader {
	reader := &Reader{src: r}
	reader.start(d)
	return reader
}

// NewYAMLReader is NewReader for a document in YAML: see [Decoder.AppendYAML]. It
// holds the whole document. For its tokens, put a jsontext.Decoder on top of it, and read up to io.EOF; for
// streams of documents see [NewYAMLSequence].
func (d *Decoder) NewYAMLReader(r io.Reader) *Reader {
	reader := &Reader{src: r}
	reader.yaml = true
	reader.start(d)
	return reader
}

// Reset makes the reader read another document, with the same decoder and without
// allocating. The context stays.
func (r *Reader) Reset(src io.Reader) {
	r.src = src
	r.start(r.d)
}

// SetContext makes the reader stop as soon as the context is done, with an errors.IOError in which errors.Is finds
// both ctx.Err() and context.Cause(ctx). It does so
// before the next window of input is read, which is at most 64 KiB unless a token is longer, and does
// not interrupt a Read of the source that blocks.
func (r *Reader) SetContext(ctx context.Context) { r.ctx = ctx }

// Findings is [Decoder.Findings], for when Read has returned io.EOF or an
// errors.StrictError.
func (r *Reader) Findings() errors.List { return r.d.Findings() }

// Omitted is [Decoder.Omitted], as Findings is.
func (r *Reader) Omitted() int { return r.d.Omitted() }

// Read returns the next bytes of the result, and io.EOF behind its last.
//
// Its errors are those of [Decoder.AppendJSON] and errors.DuplicateError; an error of
// the source, or of the context, is wrapped in an errors.IOError; a document that ends early
// is an errors.SyntaxError that wraps io.ErrUnexpectedEOF. The path of a fatal
// error ends at what is dropped where nobody asks for findings. Once there is an error,
// every call returns it.
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
// written. Its errors are those of Read, but for io.EOF; one of w is wrapped in an errors.IOError.
func (r *Reader) WriteTo(w io.Writer) (written int64, err error) {
	for {
		n, err := r.writeTo(w, written)
		written += int64(n)
		if err != nil {
			r.err = err
			r.taken = len(r.out) // the rest would look whole
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

// maxEmptyReads is how many reads in a row may return nothing.
const maxEmptyReads = 100

var errNoSource = stderrors.New("decoder: a Reader has nothing to read from before Reset")

var errInvalidCount = stderrors.New("it returned an invalid count")

// fill reads once from the source and walks on.
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
