package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// replaceFile gives a file new content, all of it or nothing: it is written beside
// the file and takes its place when it is safe on the disk. A link stays one, and
// the file that it leads to is replaced. A file that may not be written is not replaced
// either, though its folder would allow that.
func replaceFile(name string, content []byte) (err error) {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file: it cannot be edited in place", name)
	}
	old, err := os.OpenFile(target, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	old.Close()
	dir := filepath.Dir(target)
	f, err := os.CreateTemp(dir, ".espalier-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(content); err != nil {
		return err
	}
	keepOwner(f, info) // which may clear bits of the mode
	if err := f.Chmod(info.Mode()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), target); err != nil {
		return err
	}
	// That the name is safe, too. Not every system has this for folders.
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
	return nil
}
