package decoder

import (
	"bytes"
	"unsafe"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/values"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A Budget is memory that several decoders share. Servers use one to bound what
// all their clients together make them hold. Its method is called by the
// goroutines of all these decoders, at the same time.
type Budget interface {
	// Take asks for n bytes and reports whether there is room for them. A
	// negative n returns bytes to the budget, and that never fails. Take
	// must not panic: a decoder that is interrupted by a panic must not be
	// used again, and panics if it is.
	Take(n int) bool
}

// SetBudget makes the decoder charge b, from now on, for the memory of its
// buffers and for the growth of dst, before it allocates them. A nil b ends the
// charging. The caller charges for what the decoder holds already, which is
// [Decoder.Cap] bytes. Where b has no room, decoding fails with
// [errors.ErrBudget], dst is returned unchanged, and the decoder releases its
// large buffers.
//
// Three things are not charged: the values that [Decoder.Unmarshal] makes, the
// bytes that a [Sequence] reads ahead, and errors, the largest of which are
// proportional to the nesting depth of the document.
//
// When the caller is done with a document, it may return all that was taken for
// it at once: Cap tells how much the decoder still holds.
func (d *Decoder) SetBudget(b Budget) {
	if b == nil {
		d.account.Open(nil, 0)
		d.yaml.Budget = nil
		return
	}
	d.account.Open(b, d.Cap())
	d.yaml.Budget = b
}

// Cap returns how many bytes of memory the decoder holds for reuse, including
// its findings.
func (d *Decoder) Cap() int {
	n := int(unsafe.Sizeof(*d)) + d.held() - d.walker.Held() + d.walker.Cap() + d.duplicatesBytes + d.repaired.Cap()
	if d.ofMetadata != nil {
		n += d.ofMetadata.Cap()
	}
	return n
}

// within is append for a decoder that has a budget.
func (d *Decoder) within(dst, src []byte, isYAML bool) (out []byte, err error) {
	mark := d.account.Mark()
	defer memory.Recover(&err, func() {
		out = dst
		d.exhausted(mark)
	})
	if isYAML {
		out, err = d.decodeYAML(dst, src)
	} else {
		out, err = d.decodeJSON(dst, src)
	}
	if err == errors.ErrBudget { // of the bridge
		d.exhausted(mark)
	}
	d.account.Settle(d.Cap())
	return out, err
}

// findServerDuplicates finds what YAMLDuplicates returns. While that is done, all names of the objects that are open are in maps,
// and where the lines of src end.
func (d *Decoder) findServerDuplicates(src []byte) {
	const perName, perLine = 160, 16
	size := 4*len(d.json) + perName*bytes.Count(d.json, []byte(`":`)) + perLine*bytes.Count(src, []byte{'\n'})
	d.account.Take(size)
	d.duplicates = d.yaml.ServerDuplicates(d.json)
	for _, line := range d.duplicates {
		d.duplicatesBytes += len(line) + int(unsafe.Sizeof(line))
	}
	d.account.Give(size)
}

// exhausted makes the decoder ready for use after there was no room, and gives back what was taken since the mark.
func (d *Decoder) exhausted(mark memory.Account) {
	d.walker.Found.Reset()
	d.walker.Forget()
	d.lines.Text, d.original = nil, nil
	d.duplicates, d.duplicatesBytes, d.ofMetadata = nil, 0, nil
	d.yaml.Forget()
	d.drop()
	d.account.Rollback(mark, d.Cap())
}

// drop lets go of all buffers that grow with documents.
func (d *Decoder) drop() {
	d.json, d.stream, d.output, d.result, d.scratch, d.repaired = nil, nil, nil, nil, nil, apiserver.Repaired{}
	d.values = values.Maker{}
	d.yaml, d.yamlHeld = yamlbridge.Reader{
		Dialect: d.yaml.Dialect, Origin: d.origin, AliasFactor: d.yaml.AliasFactor, Budget: d.yaml.Budget,
	}, 0
	d.walker.Drop()
}

// bridge turns a YAML document into JSON. The bridge charges for itself what it takes, and for the JSON.
func (d *Decoder) bridge(src []byte) error {
	json, err := d.yaml.AppendJSON(d.json[:0], src)
	d.account.Moved(cap(json) - cap(d.json))
	d.json = json
	d.noteBridge()
	return err
}

// noteBridge notes what the bridge has come to hold.
func (d *Decoder) noteBridge() {
	before := d.yamlHeld
	d.yamlHeld = d.yaml.Cap()
	d.account.Moved(d.yamlHeld - before)
}

// roomWithin is makeRoom for a decoder that has a budget.
func (s *stream) roomWithin() (room []byte, err error) {
	mark := s.d.account.Mark()
	defer memory.Recover(&err, func() { s.exhausted(mark) })
	room, err = s.makeRoom()
	return room, err
}

// putWithin is walkOn for a decoder that has a budget.
func (s *stream) putWithin(n int, eof bool) {
	mark := s.d.account.Mark()
	defer memory.Recover(&s.err, func() { s.exhausted(mark) })
	s.walkOn(n, eof)
	s.d.account.Settle(s.d.Cap())
}

// exhausted ends the stream where there was no room: nothing more can be taken from it.
func (s *stream) exhausted(mark memory.Account) {
	s.out, s.taken, s.last = nil, 0, nil
	s.d.exhausted(mark)
}
