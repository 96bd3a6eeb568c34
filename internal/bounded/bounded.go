// Package bounded reads files that somebody else may have put there. It reads no more of a file
// than a limit, and only regular files, as devices and pipes may have no end.
package bounded

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// ReadFile returns the content of a regular file, or of the regular file that a link leads to. The
// error names the file and, if that is longer than the limit, the limit in bytes.
func ReadFile(name string, most int64) ([]byte, error) {
	return read(name, most, os.Stat, func(name string) (fs.File, error) { return os.Open(name) })
}

// ReadFS is ReadFile for a file of a file system.
func ReadFS(fsys fs.FS, name string, most int64) ([]byte, error) {
	stat := func(name string) (fs.FileInfo, error) { return fs.Stat(fsys, name) }
	return read(name, most, stat, fsys.Open)
}

type part [64 << 10]byte

// parts are buffers of Contains.
var parts = sync.Pool{New: func() any { return new(part) }}

// Contains reports whether a regular file, or the one that a link leads to, contains a text, of less
// than 64 KiB. It holds at most 64 KiB of the file at a time.
func Contains(name, text string) (bool, error) {
	f, _, err := openRegular(name, os.Stat, func(name string) (fs.File, error) { return os.Open(name) })
	if err != nil {
		return false, err
	}
	defer f.Close()
	p, kept := parts.Get().(*part), 0
	defer parts.Put(p)
	for {
		n, err := f.Read(p[kept:])
		n += kept
		if bytes.Contains(p[:n], []byte(text)) {
			return true, nil
		}
		kept = copy(p[:], p[max(0, n-len(text)+1):n])
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

func openRegular(
	name string, stat func(string) (fs.FileInfo, error), open func(string) (fs.File, error),
) (fs.File, fs.FileInfo, error) {
	info, err := stat(name) // before opening it: to open a pipe waits for a writer
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%s: is %s and no regular file, and is not read", name, kind(info.Mode()))
	}
	f, err := open(name)
	return f, info, err
}

func read(
	name string, most int64, stat func(string) (fs.FileInfo, error), open func(string) (fs.File, error),
) ([]byte, error) {
	f, info, err := openRegular(name, stat, open)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	b.Grow(int(min(info.Size(), most)) + bytes.MinRead)
	// The size may be wrong: a file may grow, and some systems have files of size 0 with content.
	if _, err := b.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > most {
		return nil, fmt.Errorf("%s: is longer than the limit of %d bytes", name, most)
	}
	return b.Bytes(), nil
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "something else"
}
