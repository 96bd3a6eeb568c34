package input

import (
	"bufio"
	"compress/gzip"

	"github.com/espalier-dev/espalier/errors"
)

// Compressed input may decompress to maxInflated bytes plus maxInflatedFactor bytes for each
// byte of it. Manifests become ten to fifty times as long; gzip can reach a factor of a
// thousand.
const (
	maxInflated       = 32 << 20
	maxInflatedFactor = 100
)

// An inflater counts the bytes of a compressed input and those of the result. It is the reader
// that gzip reads from; because it has ReadByte, gzip reads no more than it needs.
type inflater struct {
	from      *bufio.Reader
	gzip      *gzip.Reader
	read, out int64
}

func (f *inflater) Read(p []byte) (int, error) {
	n, err := f.from.Read(p)
	f.read += int64(n)
	return n, err
}

func (f *inflater) ReadByte() (byte, error) {
	c, err := f.from.ReadByte()
	if err == nil {
		f.read++
	}
	return c, err
}

// inflated reads the decompressed bytes of an inflater.
type inflated struct{ *inflater }

// Read returns an *errors.LimitError when the result is longer than it may be.
func (f inflated) Read(p []byte) (int, error) {
	n, err := f.gzip.Read(p)
	f.out += int64(n)
	if most := maxInflated + maxInflatedFactor*f.read; f.out > most {
		return 0, &errors.LimitError{Limit: errors.LimitInflatedBytes, Max: most}
	}
	return n, err
}
