package input

import (
	"bytes"
	stderrors "errors"
	"io"
)

// ErrEmptyInput is the error for a standard input that holds nothing.
var ErrEmptyInput = stderrors.New("is empty: has the command that writes to it failed?")

// A BlankDetector passes on what it reads, and remembers whether that was more than white
// space.
type BlankDetector struct {
	R     io.Reader
	ended bool
	seen  bool
}

// Read passes on what the input returns.
func (n *BlankDetector) Read(p []byte) (int, error) {
	got, err := n.R.Read(p)
	n.seen = n.seen || !IsBlank(p[:got])
	n.ended = n.ended || err == io.EOF
	return got, err
}

// IsBlank reports whether a text holds nothing but white space and byte order marks. Some
// shells write such a mark into every pipe.
func IsBlank(text []byte) bool { return len(bytes.Trim(text, " \t\r\n\ufeff")) == 0 }

// IsBlank reports whether the input was read to its end, and held only white space.
func (n *BlankDetector) IsBlank() bool { return n.ended && !n.seen }
