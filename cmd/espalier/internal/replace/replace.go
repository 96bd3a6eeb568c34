// Package replace replaces the content of files: all of it or nothing, with owner,
// mode and attributes as they were, and only if nobody else has changed the file
// meanwhile. No other package of the command writes files that are edited.
package replace

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	stderrors "errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

// maxBytes is the length of the longest file that is edited.
const maxBytes = 1 << 30

// A File is a file that is edited. What is copied of it, and what is put in place of parts of it,
// goes into a new file beside it. Nothing of it stays in memory.
type File struct {
	path string // with links resolved, so that the file that was read is replaced
	info os.FileInfo
	old  *os.File

	at  int64     // how much of the old file the edits have reached
	sum hash.Hash // of that
	buf []byte    // to copy by

	held *os.File // the old file, open to be written
	new  *os.File // nil until there is an edit
	out  *bufio.Writer
	err  error // the first one
}

var (
	errChanged   = stderrors.New("somebody else has changed it meanwhile, and it is left as it is now: run the command again")
	errIrregular = stderrors.New("is not a regular file, and cannot be edited in place")
	errLong      = stderrors.New("is longer than 1 GiB, and cannot be edited")
)

// ReadLimited reads at most maxBytes.
func ReadLimited(r io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err == nil && len(content) > maxBytes {
		return nil, errLong
	}
	return content, err
}

// Open opens a file, or the target of a link, to be edited. It checks that the file is regular
// before it opens it: opening a pipe would wait for a writer.
func Open(name string) (*File, error) {
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errIrregular
	}
	o := &File{path: path, sum: sha256.New(), buf: make([]byte, 32<<10)}
	if o.old, err = os.Open(path); err != nil {
		return nil, err
	}
	switch o.info, err = o.old.Stat(); {
	case err != nil:
	case !os.SameFile(info, o.info):
		err = errChanged
	case o.info.Size() > maxBytes:
		err = errLong
	}
	if err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// Old returns a reader for the file as it was when it was opened.
func (o *File) Old() io.Reader { return io.NewSectionReader(o.old, 0, o.info.Size()) }

// All replaces all of the content of a file.
func All(name string, content []byte) error {
	o, err := Open(name)
	if err != nil {
		return err
	}
	defer o.Close()
	old, err := io.ReadAll(o.Old())
	if err != nil {
		return err
	}
	o.Edit(0, old, content)
	if err := o.Finish(); err != nil {
		return err
	}
	return o.Commit()
}

// Pass goes on to the end of a text, which starts at an offset of the file as it was read. The file
// is compared with it before it is replaced.
func (o *File) Pass(at int64, text []byte) { o.edit(at, text, text) }

// Edit goes on to the end of a text, as Pass does, and puts another in its place. The file itself
// is not changed before Commit.
func (o *File) Edit(at int64, text, edited []byte) {
	if o.err == nil && o.new == nil {
		o.err = o.create()
	}
	o.edit(at, text, edited)
}

func (o *File) edit(at int64, text, edited []byte) {
	o.copyTo(at)
	o.sum.Write(text)
	o.at += int64(len(text))
	o.write(edited)
}

// copyTo copies the file up to an offset.
func (o *File) copyTo(at int64) {
	if at == o.at {
		return
	}
	to := io.Writer(o.sum)
	if o.new != nil {
		to = io.MultiWriter(o.sum, o.out)
	}
	n, err := io.CopyBuffer(to, io.NewSectionReader(o.old, o.at, at-o.at), o.buf)
	if o.at += n; o.err == nil {
		o.err = err
	}
	if o.err == nil && o.at != at {
		o.err = errChanged // it has become shorter
	}
}

func (o *File) write(text []byte) {
	if o.err == nil && o.new != nil {
		_, o.err = o.out.Write(text)
	}
}

// create makes the new file, and copies what comes before the first edit. It fails for a file that
// may not be written, although its folder would allow that, and for a file with several names.
func (o *File) create() (err error) {
	if n := links(o.info); n > 1 {
		return fmt.Errorf("the file has %d names (hard links), and all but one would keep the old content: make a copy of it first", n)
	}
	if o.held, err = os.OpenFile(o.path, os.O_RDWR, 0); err != nil {
		return o.ifGone(err)
	}
	if o.new, err = temporary.create(filepath.Dir(o.path)); err != nil {
		return err
	}
	o.out = bufio.NewWriterSize(o.new, 64<<10)
	_, err = io.Copy(o.out, io.NewSectionReader(o.old, 0, o.at))
	return err
}

// Finish copies the rest of the file. It returns the first error of what was done until now.
func (o *File) Finish() error {
	if o.copyTo(o.info.Size()); o.err == nil && o.new != nil {
		o.err = o.out.Flush()
	}
	return o.err
}

// New returns a reader for the new content, if there was an edit.
func (o *File) New() io.Reader { return io.NewSectionReader(o.new, 0, math.MaxInt64) }

// Commit puts the new content in the place of the old, as a whole and when it is safe on the disk.
// It comes after Finish, and does nothing if there was no edit. It fails where the new file could
// not have the owner, group, mode and attributes of the old one.
//
// Commit also fails, and leaves the file as it is, if the file is not the one that was read
// any more. Where the system has flock, other processes of this command wait until the file is
// replaced, and then find it changed. What remains is a window of microseconds between the last
// comparison and the rename, in which a program without such locks can write something that is
// lost.
func (o *File) Commit() error {
	if o.err != nil || o.new == nil {
		return o.err
	}
	if err := keepAttributes(o.new, o.held, o.info); err != nil {
		return err
	}
	if err := o.new.Sync(); err != nil {
		return err
	}
	o.old.Close() // some systems do not replace an open file
	if err := o.new.Close(); err != nil {
		return err
	}
	if err := hold(o.held); err != nil {
		return err
	}
	if err := o.IsCurrent(); err != nil {
		return err
	}
	if err := temporary.end(o.new.Name(), func(name string) error { return os.Rename(name, o.path) }); err != nil {
		return err
	}
	// Sync the name as well. Not every system can do this for folders.
	if d, err := os.Open(filepath.Dir(o.path)); err == nil {
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// Close gives up the new content, unless it has replaced the old one.
func (o *File) Close() {
	o.old.Close()
	if o.held != nil {
		o.held.Close()
	}
	if o.new != nil {
		o.new.Close()
		_ = temporary.end(o.new.Name(), os.Remove) // an error was returned before
	}
}

// IsCurrent returns an error unless the file is still the one that was read: the same file with
// the same content, not written since. It comes after Finish.
func (o *File) IsCurrent() error {
	f, err := os.Open(o.path)
	if err != nil {
		return o.ifGone(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(o.info, info) {
		return errChanged
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	// The times are compared last, because reading takes time.
	if info, err = os.Stat(o.path); err != nil {
		return o.ifGone(err)
	}
	if !bytes.Equal(sum.Sum(nil), o.sum.Sum(nil)) || !os.SameFile(o.info, info) || !info.ModTime().Equal(o.info.ModTime()) {
		return errChanged
	}
	return nil
}

// ifGone returns the error for a file that could be read before and now cannot be opened.
func (o *File) ifGone(err error) error {
	if stderrors.Is(err, fs.ErrNotExist) {
		return errChanged
	}
	return err
}
