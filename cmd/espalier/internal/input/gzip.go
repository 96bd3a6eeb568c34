package input

import (
	"bufio"
	"compress/gzip"

	"github.com/espalier-dev/espalier/errors"
)

// What is compressed may become so much, and for each of its bytes so many times as much.
// Manifests become ten to fifty times as much; gzip can make a thousand times.
const (
	maxInflated       = 32 << 20
	maxInflatedFactor = 100
)

// An inflater counts what is read of a compressed input, and what becomes of it. It is the
// reader that gzip has: as it has ReadByte, no more is read than is needed.
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

// inflated is what an inflater makes.
type inflated struct{ *inflater }

// Read returns an *errors.LimitError once there is more than there may be.
func (f inflated) Read(p []byte) (int, error) {
	n, err := f.gzip.Read(p)
	f.out += int64(n)
	if most := maxInflated + maxInflatedFactor*f.read; f.out > most {
		return 0, &errors.LimitError{Limit: errors.LimitInflatedBytes, Max: most}
	}
	return n, err
}
