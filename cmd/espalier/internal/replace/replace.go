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

// MaxBytes is how long a file may be that is edited.
const MaxBytes = 1 << 30

// A File is a file as it was read to be edited.
type File struct {
	path    string // with links resolved: what is replaced is what was read
	info    os.FileInfo
	Content []byte
}

var (
	errChanged   = stderrors.New("somebody else has changed it meanwhile, and it is left as it is now: run the command again")
	errIrregular = stderrors.New("is not a regular file, and cannot be edited in place")
	errLong      = stderrors.New("is longer than 1 GiB, and cannot be edited")
)

// Read reads a file, or what its links lead to. It is looked at before it is
// opened, which may wait for whoever writes into a pipe.
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

func ReadLimited(r io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err == nil && len(content) > MaxBytes {
		return nil, errLong
	}
	return content, err
}

// Replace gives the file new content, all of it or nothing: it is written beside the
// file and takes its place when it is safe on the disk. A file that may not be written is
// not replaced either, though its folder would allow that; nor one of several names, or
// whose owner, group, mode or attributes the new one could not have.
//
// If the file is not any more what was read, it stays, and that is an error. Others that
// edit it with this command wait until it is replaced, and then find it changed, where the
// system has flock. What is left is a window of microseconds between the last look and
// the rename, in which a program that takes no such lock can write what is lost.
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
			_ = temporary.end(f.Name(), os.Remove) // why it failed is what counts
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
	// That the name is safe, too. Not every system has this for folders.
	if d, err := os.Open(filepath.Dir(o.path)); err == nil {
		_ = d.Sync()
		d.Close()
	}
	return nil
}

// isCurrent looks whether the file is still what was read: the same one, with the same
// content, and not written since.
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
	// Last, as reading takes time.
	info, err = os.Stat(o.path)
	if err != nil {
		return o.ifGone(err)
	}
	if len(rest) > 0 || !os.SameFile(o.info, info) || info.Size() != int64(len(o.Content)) || !info.ModTime().Equal(o.info.ModTime()) {
		return errChanged
	}
	return nil
}

// ifGone is what is wrong where a file cannot be opened that could be read before.
func (o *File) ifGone(err error) error {
	if stderrors.Is(err, fs.ErrNotExist) {
		return errChanged
	}
	return err
}
