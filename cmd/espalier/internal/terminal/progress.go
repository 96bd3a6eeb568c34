package terminal

import (
	"fmt"
	"io"
	"time"
)

// When a progress line is first shown, and how often it is written anew.
const (
	progressAfter = time.Second
	progressEvery = 100 * time.Millisecond
)

// A progress is a line on a terminal that says how far work has come, if that takes
// long. All methods are called by one goroutine.
type progress struct {
	to    io.Writer // nil where there is none
	total int
	done  int
	next  time.Time
	shown bool
}

func NewProgress(to io.Writer, total int) *progress {
	p := &progress{total: total, next: time.Now().Add(progressAfter)}
	if Is(to) {
		p.to = to
	}
	return p
}

// Step says that one more file is done.
func (p *progress) Step() {
	p.done++
	if p.to == nil || p.done%16 != 0 && p.total > 1000 {
		return
	}
	if now := time.Now(); now.After(p.next) {
		p.next, p.shown = now.Add(progressEvery), true
		fmt.Fprintf(p.to, "\r\x1b[K%d of %d files", p.done, p.total)
	}
}

// Clear takes the line away, for something else to be written.
func (p *progress) Clear() {
	if p.shown {
		p.shown = false
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
