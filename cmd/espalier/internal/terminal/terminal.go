// Package terminal has what the command does on terminals only: colors and a
// progress line.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Is reports whether a stream is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// WantsColor reports whether the output is colored. Unless the flag decides, that is on
// terminals without NO_COLOR (https://no-color.org).
func WantsColor(said string, out io.Writer) bool {
	if said != "auto" {
		return said == "always"
	}
	return Is(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// The styles of text on a terminal.
const (
	Bold   = "1"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
)

// A Painter styles text, if it is true.
type Painter bool

// NewPainter returns the painter for an output, by the value of --color.
func NewPainter(said string, out io.Writer) Painter { return Painter(WantsColor(said, out)) }

// Paint returns a text in a style.
func (p Painter) Paint(style, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[m"
}
