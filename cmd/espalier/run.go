package main

// This file takes a command over its inputs: workers with examiners, results in the
// order of the files.

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"io"
	"io/fs"
)

// examiners returns one for each worker.
func (o *options) examiners(set *settings) []*examiner {
	all := make([]*examiner, o.workers())
	for i := range all {
		all[i] = newExaminer(set)
	}
	return all
}

// workers returns how many inputs are worked on at the same time.
func (o *options) workers() int { return min(max(o.jobs, 1), 256) }

// each works on inputs and takes what comes of them in their order, with a progress
// line where it takes long.
func (o *options) each(names []string, work func(worker int, name string, emit func(*verdict) bool), take func(name string, v *verdict) error) error {
	p := newProgress(o.stderr, len(names))
	defer p.clear()
	return inOrder(o.workers(), names, func(worker int, name string, emit func(*verdict) bool) {
		work(worker, name, emit)
		emit(nil) // the input is done
	}, func(name string, v *verdict) error {
		if v == nil {
			p.step()
			return nil
		}
		if len(v.findings) > 0 || len(v.output) > 0 {
			p.clear()
		}
		return take(name, v)
	})
}

// read examines all documents of an input that is opened first.
func (e *examiner) read(name string, stdin io.Reader, visit func(*object) bool) {
	in, err := open(name, stdin)
	if err != nil {
		o := new(object)
		e.refuse(o, readError(err), inFile)
		visit(o)
		return
	}
	defer in.Close()
	if name != "-" {
		e.input(name, in, visit)
		return
	}
	// What was to write there has probably failed.
	piped := &notedReader{r: in}
	e.input(name, piped, visit)
	if piped.blank() {
		o := new(object)
		e.refuse(o, errEmptyInput, inFile)
		visit(o)
	}
}

// errEmptyInput is for standard input of which nothing comes.
var errEmptyInput = stderrors.New("is empty: has the command that writes to it failed?")

// A notedReader notes whether anything was read but white space.
type notedReader struct {
	r     io.Reader
	ended bool
	seen  bool
}

func (n *notedReader) Read(p []byte) (int, error) {
	got, err := n.r.Read(p)
	n.seen = n.seen || !isBlank(p[:got])
	n.ended = n.ended || err == io.EOF
	return got, err
}

// isBlank reports whether a text is nothing but white space and a byte order mark, which
// some shells write into each pipe.
func isBlank(text []byte) bool { return len(bytes.Trim(text, " \t\r\n\ufeff")) == 0 }

// blank reports whether all was read, and was white space.
func (n *notedReader) blank() bool { return n.ended && !n.seen }

// readError returns an error of the system without the name of the file, which is
// said before it.
func readError(err error) error {
	var path *fs.PathError
	if stderrors.As(err, &path) {
		return fmt.Errorf("%s: %w", path.Op, path.Err)
	}
	return err
}
