package revision

import (
	"bufio"
	"bytes"
	stderrors "errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

// A Reader reads files of a revision. It serves one goroutine, and keeps a process of git for each
// repository until it is closed. The zero Reader is ready for use.
type Reader struct{ open map[string]*process }

// A process is a git cat-file --batch, which is sent the names of objects.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
}

// Read calls read with the content of a file.
func (r *Reader) Read(f File, read func(io.Reader)) error {
	p, err := r.process(f.from.top)
	if err != nil {
		return err
	}
	size, err := p.request(f.object)
	if err != nil {
		var ended *endedError
		if stderrors.As(err, &ended) {
			return r.ended(f, p, ended)
		}
		return err
	}
	content := &io.LimitedReader{R: p.out, N: size}
	read(content)
	// What is left is skipped, with the line feed after it.
	_, err = io.Copy(io.Discard, content)
	if err == nil && content.N > 0 {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		_, err = p.out.Discard(1)
	}
	if err != nil {
		return r.ended(f, p, &endedError{err})
	}
	return nil
}

// ended closes a process that has ended early, and returns the error that says so.
func (r *Reader) ended(f File, p *process, reason *endedError) error {
	delete(r.open, f.from.top)
	_ = p.in.Close()
	return failure(stderrors.Join(p.cmd.Wait(), reason), p.stderr.String())
}

// Close ends the processes.
func (r *Reader) Close() {
	for _, p := range r.open {
		_ = p.in.Close()
		_ = p.cmd.Wait()
	}
	r.open = nil
}

// process returns the process for a repository.
func (r *Reader) process(top string) (*process, error) {
	if p := r.open[top]; p != nil {
		return p, nil
	}
	p := &process{cmd: command(top, "cat-file", "--batch", "--follow-symlinks")}
	p.cmd.Stderr = &p.stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReaderSize(out, 64<<10)
	if err := p.cmd.Start(); err != nil {
		return nil, failure(err, "")
	}
	if r.open == nil {
		r.open = map[string]*process{}
	}
	r.open[top] = p
	return p, nil
}

// An endedError is for a process that has ended although more was to be read.
type endedError struct{ error }

// Error says so, and gives the reason.
func (e *endedError) Error() string { return "it has ended early: " + e.error.Error() }

// request asks for an object and returns the size of its content, which follows in the output.
func (p *process) request(object string) (size int64, err error) {
	if _, err := io.WriteString(p.in, object+"\n"); err != nil {
		return 0, &endedError{err}
	}
	head, err := p.out.ReadString('\n')
	if err != nil {
		return 0, &endedError{io.ErrUnexpectedEOF}
	}
	head = strings.TrimSuffix(head, "\n")
	if strings.HasSuffix(head, " missing") {
		return 0, stderrors.New("is not in the clone, which is partial or damaged: fetch it first")
	}
	words := strings.Fields(head)
	if len(words) < 2 {
		return 0, &endedError{fmt.Errorf("unexpected answer %q", head)}
	}
	if size, err = strconv.ParseInt(words[len(words)-1], 10, 64); err != nil || size < 0 {
		return 0, &endedError{fmt.Errorf("unexpected answer %q", head)}
	}
	if kind := words[len(words)-2]; kind != "blob" {
		if _, err := p.out.Discard(int(size) + 1); err != nil {
			return 0, &endedError{err}
		}
		return 0, linkError(kind)
	}
	return size, nil
}

// linkError returns the error for a link, which git has followed up to something.
func linkError(to string) error {
	switch to {
	case "symlink":
		return stderrors.New("links to a file out of the repository, and is not read")
	case "dangling", "notdir":
		return stderrors.New("links to a file that the revision does not have")
	case "loop":
		return stderrors.New("links to itself")
	}
	return stderrors.New("links to something that is no regular file, and is not read")
}
