package input

import (
	"io"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/position"
)

// A retainingReader passes on what it reads, and keeps everything from the last position on. So
// it can return the positions of growing offsets, and the text after the last one.
type retainingReader struct {
	r     io.Reader
	most  int // limit for a document, checked before each read
	at    errors.Position
	kept  []byte // the bytes read, from at on
	given int    // how many of them were passed on
	err   error  // other than io.EOF
}

// Read stops within a document that is too long.
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

// pass moves to an offset that was read.
func (t *retainingReader) pass(offset int64) {
	n := int(offset - t.at.Offset)
	c := position.From(t.kept, t.at)
	t.at = c.At(n)
	t.kept, t.given = t.kept[n:], t.given-n
}

// broken returns a text with a syntax error at an offset, without the white space before it,
// and reports whether the input goes on after it. If the error is in the first line of the
// text, or at the start of the next line, and that line starts with another object, then the
// text is the first line. Otherwise it is the rest of the input, up to the limit for documents.
func (t *retainingReader) broken(offset int64) (text []byte, goesOn bool) {
	t.pass(t.at.Offset + int64(t.next(0, isSpace)))
	end := t.next(0, func(b byte) bool { return b != '\n' })
	object := t.next(end, isSpace)
	if object < len(t.kept) && t.kept[object] == '{' && offset <= t.at.Offset+int64(object) {
		return t.kept[:end], true
	}
	// Reading keeps all of it.
	_, _ = io.Copy(io.Discard, t)
	return t.kept, false
}

// next returns where the first byte at or after i is that skip does not skip, or the end of the
// input.
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
