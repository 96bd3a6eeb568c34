package terminal

import (
	"fmt"
	"io"
	"time"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
)

// When a progress line is first shown, and how often it is updated.
const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
)

// A Progress is a line on a terminal that shows how much is done, if that takes long. One
// goroutine calls all methods.
type Progress struct {
	to    io.Writer // nil if there is no terminal
	total int
	done  int
	next  time.Time
	shown bool

	input   string // whose objects are counted
	objects int
}

// NewProgress returns the line for a number of files.
func NewProgress(to io.Writer, total int) *Progress {
	p := &Progress{total: total, next: time.Now().Add(progressAfter)}
	if Is(to) {
		p.to = to
	}
	return p
}

// Step counts a file that is done.
func (p *Progress) Step() {
	p.done++
	if p.done%16 == 0 || p.total <= 1000 {
		p.Say(func() string { return fmt.Sprintf("%d of %d files", p.done, p.total) })
	}
}

// Count counts an object of an input that may have very many.
func (p *Progress) Count(input string) {
	if p.input != input {
		p.input, p.objects = input, 0
	}
	p.objects++
	p.Say(func() string { return fmt.Sprintf("objects of %s: %d", sanitize.Name(p.input), p.objects) })
}

// Say shows a text, if it is time for it.
func (p *Progress) Say(text func() string) {
	if p.to == nil {
		return
	}
	if now := time.Now(); now.After(p.next) {
		p.next, p.shown = now.Add(progressEvery), true
		fmt.Fprintf(p.to, "\r\x1b[K%s", text())
	}
}

// Clear removes the line, so that something else can be written.
func (p *Progress) Clear() {
	if p.shown {
		p.shown = false
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
