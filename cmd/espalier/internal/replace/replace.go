// Package replace replaces the content of files: all of it or nothing, with owner,
// mode and attributes as they were, and only if nobody else has changed the file
// meanwhile. No other package of the command writes files that are edited.
package replace

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxBytes is the length of the longest file that is edited.
const maxBytes = 1 << 30

// A File is a file at the time when it was read to be edited.
type File struct {
	path    string // with links resolved, so that the file that was read is replaced
	info    os.FileInfo
	Content []byte // as it was read
}

var (
	errChanged   = stderrors.New("somebody else has changed it meanwhile, and it is left as it is now: run the command again")
	errIrregular = stderrors.New("is not a regular file, and cannot be edited in place")
	errLong      = stderrors.New("is longer than 1 GiB, and cannot be edited")
)

// Read reads a file, or the target of a link. It checks that the file is regular before it
// opens it: opening a pipe would wait for a writer.
func Read(name string) (*File, error) {
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
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o := &File{path: path}
	if o.info, err = f.Stat(); err != nil {
		return nil, err
	}
	if !os.SameFile(info, o.info) {
		return nil, errChanged
	}
	o.Content, err = ReadLimited(f)
	return o, err
}

// ReadLimited reads at most maxBytes.
func ReadLimited(r io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err == nil && len(content) > maxBytes {
		return nil, errLong
	}
	return content, err
}

// Replace replaces the content of the file as a whole. The new content is written into a file
// beside it, which takes its place when it is safe on the disk. Replace fails for a file that
// may not be written, although its folder would allow that, for a file with several names, and
// for one whose owner, group, mode or attributes the new file could not have.
//
// Replace also fails, and leaves the file as it is, if the file is not the one that was read
// any more. Where the system has flock, other processes of this command wait until the file is
// replaced, and then find it changed. What remains is a window of microseconds between the last
// comparison and the rename, in which a program without such locks can write something that is
// lost.
func (o *File) Replace(content []byte) (err error) {
	if n := links(o.info); n > 1 {
		return fmt.Errorf("the file has %d names (hard links), and all but one would keep the old content: make a copy of it first", n)
	}
	current, err := os.OpenFile(o.path, os.O_RDWR, 0)
	if err != nil {
		return o.ifGone(err)
	}
	defer current.Close()
	f, err := temporary.create(filepath.Dir(o.path))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			_ = temporary.end(f.Name(), os.Remove) // the first error counts
		}
	}()
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := keepAttributes(f, current, o.info); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := hold(current); err != nil {
		return err
	}
	if err := o.isCurrent(); err != nil {
		return err
	}
	if err := temporary.end(f.Name(), func(name string) error { return os.Rename(name, o.path) }); err != nil {
		return err
	}
	// Sync the name as well. Not every system can do this for folders.
	if d, err := os.Open(filepath.Dir(o.path)); err == nil {
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// isCurrent returns an error unless the file is still the one that was read: the same file with
// the same content, not written since.
func (o *File) isCurrent() error {
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
	rest, part := o.Content, make([]byte, 64<<10)
	for {
		n, err := f.Read(part)
		if !bytes.HasPrefix(rest, part[:n]) {
			return errChanged
		}
		rest = rest[n:]
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	// The times are compared last, because reading takes time.
	info, err = os.Stat(o.path)
	if err != nil {
		return o.ifGone(err)
	}
	if len(rest) > 0 || !os.SameFile(o.info, info) || info.Size() != int64(len(o.Content)) || !info.ModTime().Equal(o.info.ModTime()) {
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
