package input

import (
	"io"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/position"
)

// A retainingReader passes on what it reads, and finds the lines and columns of offsets
// that only grow. It keeps what comes behind the last one.
type retainingReader struct {
	r     io.Reader
	most  int // how long a document may be, but for what is read at a time
	at    errors.Position
	kept  []byte // what was read from at on
	given int    // how much of it was passed on
	err   error  // other than io.EOF
}

// Read reads no more of a document that is too long.
func (t *retainingReader) Read(p []byte) (n int, err error) {
	if t.given == len(t.kept) {
		err = t.more(len(p))
	}
	n = copy(p, t.kept[t.given:])
	t.given += n
	return n, err
}

// more reads up to n bytes more.
func (t *retainingReader) more(n int) error {
	if len(t.kept) > t.most {
		t.err = &errors.LimitError{Limit: errors.LimitDocumentBytes, Max: int64(t.most), Position: t.at}
		return t.err
	}
	t.kept = slices.Grow(t.kept, n)
	n, err := t.r.Read(t.kept[len(t.kept):][:n])
	t.kept = t.kept[:len(t.kept)+n]
	if err != nil && err != io.EOF {
		t.err = err
	}
	return err
}

// pass goes on to an offset that was read.
func (t *retainingReader) pass(offset int64) {
	n := int(offset - t.at.Offset)
	c := position.From(t.kept, t.at)
	t.at = c.At(n)
	t.kept, t.given = t.kept[n:], t.given-n
}

// broken returns a text in which there is an error at an offset, but for white space at
// its start, and whether more is to be read behind it. It ends with its line where the
// error is in that, or at the start of the next, and that starts with another object; and
// else is all that there is, as far as it is not too long for a document.
func (t *retainingReader) broken(offset int64) (text []byte, goesOn bool) {
	t.pass(t.at.Offset + int64(t.next(0, isSpace)))
	end := t.next(0, func(b byte) bool { return b != '\n' })
	object := t.next(end, isSpace)
	if object < len(t.kept) && t.kept[object] == '{' && offset <= t.at.Offset+int64(object) {
		return t.kept[:end], true
	}
	// All of it is kept.
	_, _ = io.Copy(io.Discard, t)
	return t.kept, false
}

// next returns where in what is kept the first byte stands from i on that skip does not
// skip, or the end.
func (t *retainingReader) next(i int, skip func(byte) bool) int {
	for {
		for ; i < len(t.kept); i++ {
			if !skip(t.kept[i]) {
				return i
			}
		}
		if t.more(4<<10) != nil && i == len(t.kept) {
			return i
		}
	}
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }
