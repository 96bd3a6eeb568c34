package decoder

import (
	"bytes"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/screen"
	"github.com/espalier-dev/espalier/internal/values"
	"github.com/espalier-dev/espalier/internal/walk"
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
	n := memory.SizeOf[Decoder]() + d.heldBytes() - d.walker.Held() + d.walker.Cap() +
		d.duplicatesBytes + d.repaired.Cap()
	if w := d.parts.walker; w != nil {
		n += memory.SizeOf[walk.Walker]() + w.Cap() - w.Held()
	}
	if d.metadataDecoder != nil {
		n += d.metadataDecoder.Cap()
	}
	return n
}

// decodeWithinBudget decodes a JSON or YAML document with a decoder that has a budget, and
// returns errors.ErrBudget if that has no room.
func (d *Decoder) decodeWithinBudget(dst, src []byte, isYAML bool) (out []byte, err error) {
	mark := d.account.Mark()
	defer memory.Recover(&err, func() {
		out = dst
		d.rollBack(mark)
	})
	if isYAML {
		out, err = d.decodeYAML(dst, src)
	} else {
		out, err = d.decodeJSON(dst, src)
	}
	if err == errors.ErrBudget { // the bridge returns this error instead of a panic
		d.rollBack(mark)
	}
	d.account.Settle(d.Cap())
	return out, err
}

// findServerDuplicates finds the duplicates that YAMLDuplicates returns. It charges an estimate
// while it works: the names of all open objects are then in maps, and the ends of the lines
// of src in a list.
func (d *Decoder) findServerDuplicates(src []byte) {
	const perName, perLine = 160, 16
	size := 4*len(d.json) +
		perName*bytes.Count(d.json, []byte(`":`)) + perLine*bytes.Count(src, []byte{'\n'})
	d.account.Take(size)
	d.duplicates = d.yaml.ServerDuplicates(d.json)
	for _, line := range d.duplicates {
		d.duplicatesBytes += len(line) + memory.SizeOf[string]()
	}
	d.account.Give(size)
}

// rollBack makes the decoder ready for use after its budget had no room. It returns to the
// budget all bytes that were taken since the mark.
func (d *Decoder) rollBack(mark memory.Account) {
	d.walker.Found.Reset()
	d.walker.Forget()
	d.lines.Text, d.original = nil, nil
	d.duplicates, d.duplicatesBytes, d.metadataDecoder = nil, 0, nil
	d.dropBuffers()
	d.account.Rollback(mark, d.Cap())
}

// dropBuffers lets go of all buffers that grow with documents.
func (d *Decoder) dropBuffers() {
	d.json, d.stream, d.output, d.result, d.scratch = nil, nil, nil, nil, nil
	d.repaired = apiserver.Repaired{}
	d.values = values.Maker{}
	d.screen = screen.Machine{Account: &d.account}
	d.parts.drop()
	d.yaml = yamlbridge.Reader{
		Dialect:     d.yaml.Dialect,
		Origin:      d.origin,
		AliasFactor: d.yaml.AliasFactor,
		Budget:      d.yaml.Budget,
	}
	d.yamlHeld = 0
	d.walker.Drop()
}

// bridgeYAML converts a YAML document to JSON. The bridge itself charges the budget for its
// buffers and for the JSON.
func (d *Decoder) bridgeYAML(src []byte) error {
	json, err := d.yaml.AppendJSON(d.json[:0], src)
	d.account.Moved(cap(json) - cap(d.json))
	d.json = json
	d.accountForBridge()
	return err
}

// accountForBridge records how much memory the bridge holds now. The bridge has charged
// the budget for it already.
func (d *Decoder) accountForBridge() {
	before := d.yamlHeld
	d.yamlHeld = d.yaml.Cap()
	d.account.Moved(d.yamlHeld - before)
}

// roomWithinBudget is makeRoom for a decoder with a budget.
func (s *stream) roomWithinBudget() (room []byte, err error) {
	mark := s.d.account.Mark()
	defer memory.Recover(&err, func() { s.rollBack(mark) })
	room, err = s.makeRoom()
	return room, err
}

// putWithinBudget is walkOn for a decoder with a budget.
func (s *stream) putWithinBudget(n int, eof bool) {
	mark := s.d.account.Mark()
	defer memory.Recover(&s.err, func() { s.rollBack(mark) })
	s.walkOn(n, eof)
	s.d.account.Settle(s.d.Cap())
}

// rollBack ends the stream after the budget had no room. No more output can be taken from it.
func (s *stream) rollBack(mark memory.Account) {
	s.out, s.taken = nil, 0
	s.d.rollBack(mark)
}
