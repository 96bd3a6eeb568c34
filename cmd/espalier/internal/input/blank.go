package input

import (
	"bytes"
	stderrors "errors"
	"io"
)

// ErrEmptyInput is for standard input of which nothing comes.
var ErrEmptyInput = stderrors.New("is empty: has the command that writes to it failed?")

// A BlankDetector notes whether anything was read but white space.
type BlankDetector struct {
	R     io.Reader
	ended bool
	seen  bool
}

func (n *BlankDetector) Read(p []byte) (int, error) {
	got, err := n.R.Read(p)
	n.seen = n.seen || !IsBlank(p[:got])
	n.ended = n.ended || err == io.EOF
	return got, err
}

// IsBlank reports whether a text is nothing but white space and a byte order mark, which
// some shells write into each pipe.
func IsBlank(text []byte) bool { return len(bytes.Trim(text, " \t\r\n\ufeff")) == 0 }

// IsBlank reports whether all was read, and was white space.
func (n *BlankDetector) IsBlank() bool { return n.ended && !n.seen }
