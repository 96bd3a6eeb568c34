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

// WantsColor reports whether what goes to out is for the eyes of somebody who
// likes colors (https://no-color.org), unless that was said.
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

// A Painter writes text in a style, if there is to be any.
type Painter bool

func (p Painter) Paint(style, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[m"
}
