package request

import (
	"compress/gzip"
	stderrors "errors"
	"io"
	"os"
	"strconv"
	"time"
)

// firstBuffer is the most that a request gets before it has sent anything, whatever length it
// announces.
const firstBuffer = 32 << 10

// gzipBytes is roughly what decompressing one body takes: a window and tables.
const gzipBytes = 64 << 10

// maxEmptyReads is how many reads in a row may return nothing.
const maxEmptyReads = 100

// read reads the body to its end, once.
func (x *Exchange) read() *StatusError {
	if x.isRead {
		return x.refused
	}
	x.isRead = true
	start := time.Now()
	x.refused = x.readBody(nil)
	x.reading += time.Since(start)
	return x.refused
}

// readStart reads the body until its type has passed, and reports whether it has. If not, the body
// was read to its end. If it did before, there is nothing to read.
func (x *Exchange) readStart() bool {
	if x.isRead || x.isBegun {
		return x.isBegun && !x.isRead
	}
	start := time.Now()
	x.refused = x.readBody(func(text []byte) bool {
		x.isBegun = x.found.scan(text)
		return x.isBegun
	})
	x.reading += time.Since(start)
	x.isRead = !x.isBegun
	return x.isBegun
}

// readBody reads the body to its end, or until isEnough.
func (x *Exchange) readBody(isEnough func([]byte) bool) *StatusError {
	most := x.gate.opts.MaxBytes
	src := x.r.Body
	if x.gzip {
		if !x.memory.charge(gzipBytes) {
			return overloaded()
		}
		// The compressed bytes are limited as well, because empty blocks and members may go on
		// forever.
		z, err := gzip.NewReader(&limited{from: src, most: most})
		if err != nil {
			return unreadable(err)
		}
		src = z
	}
	size := smallestBuffer
	if x.r.ContentLength > 0 {
		size = int(min(x.r.ContentLength+1, firstBuffer))
	}
	for empty := 0; ; {
		if len(x.body) == cap(x.body) {
			if !x.grow(max(size, 2*cap(x.body))) {
				return overloaded()
			}
		}
		room := x.body[len(x.body) : min(int64(cap(x.body))-1, most)+1]
		n, err := src.Read(room)
		x.body = x.body[:len(x.body)+n]
		x.received += int64(n)
		switch {
		case int64(len(x.body)) > most:
			return TooLarge(most)
		case err == io.EOF:
			return nil
		case err != nil:
			return unreadable(err)
		case n > 0:
			empty = 0
			if isEnough != nil && isEnough(x.body) {
				return nil
			}
		default:
			if empty++; empty == maxEmptyReads {
				return unreadable(io.ErrNoProgress)
			}
		}
	}
}

// grow moves the body to a larger buffer, if there is room for it.
func (x *Exchange) grow(size int) bool {
	b := x.gate.budget.buffer(size, &x.memory)
	if b == nil {
		return false
	}
	b = append(b, x.body...)
	x.free(&x.body)
	x.body = b
	return true
}

// unreadable returns the answer to a body that cannot be read to its end. In most cases its sender
// is gone.
func unreadable(err error) *StatusError {
	refused := BadRequest("the body of the request cannot be read to its end")
	var large *TooLargeError
	switch {
	case stderrors.As(err, &large):
		refused = TooLarge(large.Limit)
	case stderrors.Is(err, os.ErrDeadlineExceeded):
		refused = &StatusError{Code: statusTimeout, Reason: "Timeout",
			Message: "the body of the request did not come in time"}
	}
	refused.Err = err
	return refused
}

type noBody struct{}

func (noBody) Read([]byte) (int, error) { return 0, io.EOF }

// A TooLargeError ends a body that has more bytes than a limit, before or after
// decompression.
type TooLargeError struct{ Limit int64 }

// Error returns a text that names the limit.
func (e *TooLargeError) Error() string {
	return "the body of the request has more than " + strconv.FormatInt(e.Limit, 10) + " bytes"
}

// A limited reader fails when more bytes than its limit are read.
type limited struct {
	from io.Reader
	most int64
	read int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.read > l.most {
		return 0, &TooLargeError{l.most}
	}
	// One byte more than allowed shows that the limit is exceeded.
	if left := l.most - l.read; int64(len(p)) > left {
		p = p[:left+1]
	}
	n, err := l.from.Read(p)
	if l.read += int64(n); l.read > l.most {
		return n - 1, &TooLargeError{l.most}
	}
	return n, err
}
