package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// wantsColor reports whether what goes to out is for the eyes of somebody who
// likes colors (https://no-color.org), unless that was said.
func wantsColor(said string, out io.Writer) bool {
	if said != "auto" {
		return said == "always"
	}
	return isTerminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// The styles of text on a terminal.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// A painter writes text in a style, if there is to be any.
type painter bool

func (p painter) paint(style, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[m"
}
