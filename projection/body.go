package projection

import (
	"compress/gzip"
	"context"
	stderrors "errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/schema"
)

// A body is the body of a response that is projected while it is read. Close may be called while
// Read is at work, as clients do to end a watch.
type body struct {
	mu     sync.Mutex // held by Read
	closed atomic.Bool
	src    io.ReadCloser
	in     source
	count  *counters
	most   int
	as     form
	rule   *rule
	err    error // the error of every further Read

	pool   *decoder.Pool
	d      *decoder.Decoder
	list   *decoder.Reader
	events *decoder.Sequence
	out    []byte // what is decided
	taken  int    // how many bytes of out were read
}

// newBody returns the body that projects src.
func (t *transport) newBody(src io.ReadCloser, zipped bool, r *rule, as form) *body {
	b := &body{src: src, count: &t.count, most: t.opts.MaxObjectBytes, as: as, rule: r}
	b.in = source{r: src, zipped: zipped, left: -1}
	switch as {
	case list:
		b.pool, b.in.left = r.list, t.opts.MaxListBytes
	case object:
		b.pool, b.in.left = r.object, int64(t.opts.MaxObjectBytes)
	default:
		b.pool = r.event
	}
	return b
}

// Read returns the next bytes of what is left.
func (b *body) Read(p []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for n == 0 && len(p) > 0 {
		if b.closed.Load() {
			b.release()
			return 0, http.ErrBodyReadAfterClose
		}
		if b.taken < len(b.out) {
			n = copy(p, b.out[b.taken:])
			b.taken += n
			break
		}
		if b.err != nil {
			return 0, b.err
		}
		b.start()
		switch b.as {
		case list:
			if n, err = b.list.Read(p); err == nil {
				b.in.kept += uint64(n)
			}
		case object:
			err = b.readObject()
		default:
			err = b.readEvent()
		}
		if err != nil {
			b.end(err)
		}
	}
	return n, nil
}

// start makes the decoders, when the first byte is asked for.
func (b *body) start() {
	if b.d != nil {
		return
	}
	b.d = b.pool.Get()
	switch b.as {
	case list:
		b.list = b.d.NewReader(&b.in)
	case events:
		b.events = decoder.NewSequence(&b.in, noKinds.Lookup, decoder.Limits{
			NumberBytes: b.most, NameBytes: b.most, HeldBytes: b.most,
		})
	}
}

// noKinds has none: an event has no kind, and nobody asks for one.
var noKinds = schema.NewCatalog()

// readObject reads the whole object. A Status in its place stays as it is.
func (b *body) readObject() error {
	text, err := io.ReadAll(&b.in)
	if err != nil {
		return err
	}
	if b.out, err = b.d.AppendJSON(nil, text); err != nil {
		return err
	}
	if string(textOf(b.out, "kind")) == "Status" && string(textOf(b.out, "apiVersion")) == "v1" {
		b.out = text
	}
	b.in.kept += uint64(len(b.out))
	return io.EOF
}

// readEvent reads the next event. Those about objects are projected. The Status of others stays as
// it is.
func (b *body) readEvent() error {
	before := b.in.read
	if err := b.events.Next(); err != nil {
		return err
	}
	text := b.events.Raw()
	out, err := b.d.AppendJSON(b.out[:0], text)
	if err != nil {
		return err
	}
	switch string(textOf(out, "type")) {
	case "ADDED", "MODIFIED", "DELETED", "BOOKMARK":
	case "":
		return stderrors.New("an event has no type")
	default:
		out = append(out[:0], text...)
	}
	b.out, b.taken = append(out, '\n'), 0
	b.count.events.Add(1)
	b.count.read.Add(b.in.read - before)
	b.count.kept.Add(uint64(len(b.out)))
	return nil
}

// textOf returns the string that a member of an object has, as it is written, or nil.
func textOf(object []byte, name string) []byte {
	value := apiserver.Member(object, name)
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// end notes how the body has ended.
func (b *body) end(err error) {
	if b.as != events {
		b.count.read.Add(b.in.read)
		b.count.kept.Add(b.in.kept)
	}
	switch {
	case b.closed.Load() || stderrors.Is(err, context.Canceled): // by the client
	case err != io.EOF:
		b.count.failed.Add(1)
	case b.as == list:
		b.count.lists.Add(1)
	case b.as == object:
		b.count.objects.Add(1)
	}
	b.err = b.toClient(err)
	b.release()
}

// toClient returns an error as clients of net/http know it. client-go compares some by identity.
func (b *body) toClient(err error) error {
	switch {
	case b.in.err != nil:
		return b.in.err
	case err == io.EOF:
		return err
	case stderrors.Is(err, io.ErrUnexpectedEOF):
		return io.ErrUnexpectedEOF
	}
	if read, ok := stderrors.AsType[*errors.IOError](err); ok {
		err = read.Err
	}
	return fmt.Errorf("projection: the response for %s is malformed or too large: %w", b.rule.name, err)
}

// Close closes the body below, which ends a Read that waits for it. What is held is freed now, or
// by that Read.
func (b *body) Close() error {
	b.closed.Store(true)
	err := b.src.Close()
	if b.mu.TryLock() {
		b.release()
		b.mu.Unlock()
	}
	return err
}

// release gives back what is held, except for what was projected and not read yet.
func (b *body) release() {
	if b.d != nil && b.pool != nil {
		b.pool.Put(b.d)
	}
	b.pool, b.list, b.events = nil, nil, nil
	b.in.zip = nil
	if b.closed.Load() {
		b.out, b.taken = nil, 0
	}
}

// A source reads what is projected: it decompresses, counts, and ends with an error beyond a limit.
type source struct {
	r      io.Reader
	zipped bool
	zip    *gzip.Reader
	left   int64 // how many bytes may follow, or less than 0 for any number
	read   uint64
	kept   uint64
	err    error // of the reader below, if it has ended with one
}

var errTooLarge = stderrors.New("it has more bytes than a limit of the projection's Options")

// Read reads from the response.
func (s *source) Read(p []byte) (n int, err error) {
	if s.zipped && s.zip == nil {
		if err := s.unzip(); err != nil {
			return 0, err
		}
	}
	if s.zip != nil {
		n, err = s.zip.Read(p)
	} else {
		n, err = s.r.Read(p)
	}
	s.read += uint64(max(n, 0))
	if s.left >= 0 {
		if s.left -= int64(n); s.left < 0 {
			return 0, errTooLarge
		}
	}
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// unzip starts to decompress.
func (s *source) unzip() (err error) {
	if s.zip, err = gzip.NewReader(s.r); err == io.EOF {
		err = io.ErrUnexpectedEOF // an empty response is no response in gzip
	}
	s.err = err
	return err
}
