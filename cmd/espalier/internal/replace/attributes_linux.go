package replace

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
)

// keepExtended gives a file exactly the extended attributes of another, which include access
// control lists.
func keepExtended(f, of *os.File) error {
	names := extended(of)
	for _, name := range names {
		value, err := attribute(of, name)
		if err == nil {
			if now, err := attribute(f, name); err == nil && bytes.Equal(now, value) {
				continue
			}
			err = unix.Fsetxattr(int(f.Fd()), name, value, 0)
		}
		if err != nil && !isPolicy(name) {
			return fmt.Errorf("the file's attribute %s cannot be kept (run the command as its owner): %w", sanitize.Visible(name), err)
		}
	}
	for _, name := range extended(f) {
		if !slices.Contains(names, name) && !isPolicy(name) {
			if err := unix.Fremovexattr(int(f.Fd()), name); err != nil {
				return fmt.Errorf("the file would get the attribute %s, which cannot be removed: %w", sanitize.Visible(name), err)
			}
		}
	}
	return nil
}

// isPolicy reports whether the system sets an attribute by rules of its own.
func isPolicy(name string) bool { return strings.HasPrefix(name, "security.") }

// extended returns the names of the attributes of a file, or none if its file system has none.
func extended(f *os.File) (names []string) {
	size, err := unix.Flistxattr(int(f.Fd()), nil)
	if err != nil || size == 0 {
		return nil
	}
	list := make([]byte, size)
	if size, err = unix.Flistxattr(int(f.Fd()), list); err != nil {
		return nil
	}
	return strings.FieldsFunc(string(list[:size]), func(r rune) bool { return r == 0 })
}

func attribute(f *os.File, name string) ([]byte, error) {
	size, err := unix.Fgetxattr(int(f.Fd()), name, nil)
	if err != nil || size == 0 {
		return nil, err
	}
	value := make([]byte, size)
	size, err = unix.Fgetxattr(int(f.Fd()), name, value)
	return value[:max(size, 0)], err
}
