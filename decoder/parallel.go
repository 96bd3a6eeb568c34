package decoder

// NOTE: the goroutine that iterates reads the stream into batches, hands these to the other goroutines,
// and decodes some itself while it waits for the oldest. So nothing is decoded that was not read, and
// nobody waits for a goroutine that waits for somebody.
//
//	the stream -> batches in a ring, in order -> the oldest is yielded, and read into again
//	                   |          ^
//	                  work       done
//	                   v          |
//	              goroutines and the iterating one
//
// To find where an object ends, all of it must be validated. The iterating goroutine does so for the
// first batch only. From that it learns the border: how an object ends, and the next one begins. Then
// it guesses. A run is a batch that ends at such a border, and is not looked into before a goroutine
// decodes it. A run is right if it has whole objects and nothing else, from its start to its end. So if
// all runs before it are right, it starts with an object. If one is not, because the border was in the
// middle of an object or there is a fault, then the rest of it and all runs after it are put back into
// the stream, and are read as the first batch was. So what is refused is always refused by Next.

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/steps"
	"github.com/espalier-dev/espalier/internal/walk"
)

// A Decoded is an object that [Sequence.InParallel] has decoded. All of it but
// the errors and the paths of findings is valid until the next step of the
// iteration, and must not be changed.
type Decoded struct {
	Raw      []byte          // its text: see Sequence.Raw
	Position errors.Position // where the text starts in the stream
	JSON     []byte          // what Sequence.AppendJSON returns, and its error; nil if that is fatal
	Err      error
	Findings errors.List
	Omitted  int // see Decoder.Omitted
}

// InParallel returns an iterator over the remaining objects, which at most
// workers goroutines decode at a time, the iterating one among them. The objects
// come in their order, each with what [Sequence.AppendJSON] returns for it. An
// error of Next other than io.EOF is the last step, without an object.
//
//	for object, err := range objects.InParallel(runtime.GOMAXPROCS(0)) {
//		if err != nil {
//			return err // of the stream
//		}
//		...
//	}
//
// InParallel is for files: it reads ahead, and yields an object only when some
// more have been read, or the stream has ended. The texts of all objects that it
// holds have up to twice [Limits].HeldBytes, their results what these become,
// and each goroutine has a decoder. No goroutine is left when the iteration
// ends. The lookup is called by all of them at the same time, as
// schema.Catalog.Lookup may be. If it panics, so does the iteration.
//
// Where JSON objects up to 1 MB start alike, with the same name after the same
// white space, the goroutines find their ends, too, from guesses that they
// verify. The results do not depend on that. The lookup may be asked for an
// object more than once, and for one in an object.
//
// There are no stored objects, so [ValidateUpdate] fails. InParallel panics if
// workers is less than 1. Until the iteration has ended, the sequence must not
// be used. If the caller ends it early, some objects have been passed over.
func (s *Sequence) InParallel(workers int) iter.Seq2[*Decoded, error] {
	if workers < 1 {
		panic("decoder: Sequence.InParallel: there must be at least one worker")
	}
	return func(yield func(*Decoded, error) bool) {
		s.isSplit = true
		p := newParallel(s, workers)
		defer func() {
			p.stop()
			s.isSplit, s.hasProgram, s.object = false, false, nil
		}()
		for {
			p.readAhead()
			if p.held == 0 {
				if s.err != io.EOF {
					yield(nil, s.err)
				}
				return
			}
			if !p.finish().yield(yield) {
				return
			}
		}
	}
}

// batchBytes is how long the texts of a batch become. Handing over a batch takes a microsecond. Tests
// change it.
var batchBytes = 64 << 10

const (
	// batchesAhead is how many batches there are for each worker.
	batchesAhead = 3
	// keptBatchBytes is how large the buffers of a batch may be to be used again, and how far the
	// end of a run is looked for.
	keptBatchBytes = 1 << 20
	// maxBorder is how long the two parts of a border may be.
	maxBorder = 64
	// firstCredit is how many bytes may be read in vain at first, and maxCredit after any number that
	// were not.
	firstCredit, maxCredit = 1 << 20, 1 << 28
)

// A parallel is the state of one iteration.
type parallel struct {
	from      *Sequence
	own       *worker // of the iterating goroutine
	ring      []batch
	next      int // the batch to read into
	held      int // how many batches before next are not yielded
	runs      int // how many of these are runs, which come after the others
	heldBytes int // the texts in these
	work      chan *batch
	workers   sync.WaitGroup

	border []byte // the end of an object and the start of the next one; nil if it is not known
	start  int    // how much of that is of the next one
	// credit is how many more bytes may be read in vain: a quarter of what was read for good.
	credit int
}

// newParallel starts the other workers.
func newParallel(s *Sequence, workers int) *parallel {
	p := &parallel{from: s, own: newWorker(s), ring: make([]batch, workers*batchesAhead), credit: firstCredit}
	p.work = make(chan *batch, len(p.ring))
	for range workers - 1 {
		w := newWorker(s)
		p.workers.Go(func() {
			for b := range p.work {
				w.decodeBatch(b)
			}
		})
	}
	return p
}

// stop puts back what was not yielded, as far as it can be, and waits until the other workers have
// ended.
func (p *parallel) stop() {
	for p.held > 0 {
		if b := p.drop(); b.isRun {
			p.putBack(b, 0, beforeItem)
		}
	}
	close(p.work)
	p.workers.Wait()
}

// readAhead reads while the ring, the limit and the stream have more.
func (p *parallel) readAhead() {
	for p.held < len(p.ring) && p.heldBytes < p.from.decode.limits.HeldBytes && p.from.err == nil {
		b := &p.ring[p.next]
		b.reset()
		if !p.cut(b) {
			if p.runs > 0 {
				return // it is known where the next object starts when these are decoded
			}
			b.read(p.from)
			if len(b.objects) == 0 {
				return
			}
			p.earn(b)
			p.learn(b)
		}
		p.next = (p.next + 1) % len(p.ring)
		p.held++
		p.heldBytes += len(b.texts)
		if b.isRun {
			p.runs++
		}
		p.work <- b // there is room for the whole ring
	}
}

// cut makes a batch a run. It reports whether a border was found within the limits.
func (p *parallel) cut(b *batch) bool {
	if p.border == nil {
		return false
	}
	v := &p.from.values
	most := min(keptBatchBytes, p.from.decode.limits.HeldBytes)
	for start, at := 0, v.at+batchBytes; ; {
		if start, at = p.find(v.buf, at); start >= 0 {
			steps.Add(2 * (start - v.at))
			b.isRun, b.origin = true, v.position(v.at)
			b.texts = append(b.texts, v.buf[v.at:start]...)
			v.at = start
			return true
		}
		moved, err := 0, io.EOF
		if !v.eof && len(v.buf)-v.at < most {
			moved, err = v.fill(v.at)
		}
		if at -= moved; err != nil {
			steps.Add(len(v.buf) - v.at)
			p.credit -= len(v.buf) - v.at
			p.border = nil
			return false
		}
	}
}

// find finds the object behind the first border that starts at the index at or behind it. If there is none yet, start
// is -1, and the border is to be looked for from next on when there is more of the text.
func (p *parallel) find(text []byte, at int) (start, next int) {
	if at >= len(text) {
		return -1, at
	}
	i := bytes.Index(text[at:], p.border)
	if i < 0 {
		return -1, max(at, len(text)-len(p.border)+1)
	}
	return at + i + len(p.border) - p.start, 0
}

// learn learns the border from a batch that was just read. If there is one, the stream is advanced to
// the next object.
func (p *parallel) learn(b *batch) {
	s, v := p.from, &p.from.values
	i := jsonwire.Blanks(v.buf, v.at)
	if isList := s.items.IsValid(); isList {
		if jsonwire.At(v.buf, i) != ',' {
			return
		}
		i = jsonwire.Blanks(v.buf, i+1)
	}
	start := v.buf[i:min(i+maxBorder, len(v.buf))]
	start = start[:bytes.IndexByte(start, ':')+1]
	for _, span := range b.spans {
		n := 0
		for n < len(start) && n < span.to-span.from && start[n] == b.texts[span.from+n] {
			n++
		}
		start = start[:n]
	}
	last := b.texts[len(b.texts)-1]
	if s.documents != nil || p.credit <= 0 || i-v.at > maxBorder || last != '}' || len(start) < len(`{"`) {
		return
	}
	p.border = slices.Concat([]byte{last}, v.buf[v.at:i], start)
	p.start = len(start)
	v.at, s.state = i, beforeItem
}

// earn adds what a batch that was read for good allows.
func (p *parallel) earn(b *batch) { p.credit = min(p.credit+len(b.texts)/4, maxCredit) }

// oldest returns the oldest batch.
func (p *parallel) oldest() *batch { return &p.ring[(p.next-p.held+len(p.ring))%len(p.ring)] }

// release takes the oldest batch out of the ring. It can be used until the next one is read.
func (p *parallel) release(b *batch) *batch {
	p.held--
	p.heldBytes -= len(b.texts)
	if b.isRun {
		p.runs--
	}
	return b
}

// finish waits for the oldest batch, and decodes others meanwhile. When that is done it decodes no other
// first, as the workers would run out of batches: there is a new one for each that is yielded. If it is a
// run that is not right, all after its last object is put back.
func (p *parallel) finish() *batch {
	b := p.oldest()
	for len(b.done) == 0 && p.help() {
		continue
	}
	<-b.done
	p.release(b)
	switch {
	case !b.isRun || b.panic != nil:
	case b.isRight:
		p.earn(b)
	case len(b.spans) > 0:
		p.putBack(b, b.spans[len(b.spans)-1].to, afterItem)
	default:
		p.putBack(b, 0, beforeItem)
	}
	return b
}

// help decodes a batch that no worker has begun. It reports whether there was one.
func (p *parallel) help() bool {
	select {
	case b := <-p.work:
		p.own.decodeBatch(b)
		return true
	default:
		return false
	}
}

// drop takes the oldest batch out of the ring, whether it was decoded or not.
func (p *parallel) drop() *batch {
	for b := p.oldest(); ; {
		select {
		case <-b.done:
			return p.release(b)
		case other := <-p.work:
			other.done <- struct{}{}
		}
	}
}

// putBack puts the text of a run from the index at on and all runs after it back into the stream,
// which is in the given state there.
func (p *parallel) putBack(b *batch, at int, state listState) {
	lines := position.From(b.texts, b.origin)
	origin := lines.At(at)
	v := &p.from.values
	text := make([]byte, 0, len(b.texts)-at+p.heldBytes+len(v.buf)-v.at)
	text = append(text, b.texts[at:]...)
	for p.held > 0 {
		text = append(text, p.drop().texts...)
	}
	p.credit -= len(text)
	p.border = nil
	text = append(text, v.buf[v.at:]...)
	steps.Add(len(text))
	v.buf, v.at, v.lines = text, 0, position.From(text, origin)
	p.from.state = state
}

// A batch is a part of the stream with some objects.
type batch struct {
	texts   []byte
	objects []Decoded
	spans   []span // the places of the objects in texts
	out     []byte
	outEnds []int         // where their results end; -1 for an empty YAML document
	done    chan struct{} // has one element when the batch is decoded
	panic   any           // what the decoding goroutine has panicked with

	isRun   bool
	origin  errors.Position // of a run
	isRight bool            // the run has whole objects and nothing else
}

// A span is a place in a text.
type span struct{ from, to int }

// reset prepares the batch for other objects.
func (b *batch) reset() {
	if cap(b.texts)+cap(b.out) > keptBatchBytes {
		b.texts, b.out = nil, nil
	}
	if b.done == nil {
		b.done = make(chan struct{}, 1)
	}
	b.texts, b.spans, b.objects = b.texts[:0], b.spans[:0], b.objects[:0]
	b.isRun, b.isRight = false, false
}

// read fills the batch with the next objects.
func (b *batch) read(s *Sequence) {
	for len(b.texts) < batchBytes && s.Next() == nil {
		from := len(b.texts)
		b.texts = append(b.texts, s.object...)
		b.add(from, len(b.texts), s.origin)
	}
}

// add adds an object.
func (b *batch) add(from, to int, at errors.Position) {
	b.spans = append(b.spans, span{from, to})
	b.objects = append(b.objects, Decoded{Position: at})
}

// yield yields the objects of the batch, and reports whether more are wanted.
func (b *batch) yield(yield func(*Decoded, error) bool) bool {
	if b.panic != nil {
		panic(b.panic)
	}
	start := 0
	for i := range b.objects {
		o := &b.objects[i]
		end := b.outEnds[i]
		if end < 0 {
			continue
		}
		if end > start {
			o.JSON = b.out[start:end:end]
		}
		start = end
		if !yield(o, nil) {
			return false
		}
	}
	return true
}

// A worker decodes batches as a [Sequence] decodes its objects. It is one whose stream is a run.
type worker struct{ Sequence }

func newWorker(s *Sequence) *worker {
	w := &worker{Sequence{lookup: s.lookup, scan: s.scan, documents: s.documents, // which is only compared with nil
		decode: newDecoder(&program.Program{Root: walk.Any}, s.decode.options)}}
	w.items.Line = 1 // a run is within the items, and there are no others
	w.bridge = w.decode.yaml
	w.values.limits, w.values.skip.Bounds = s.values.limits, s.values.skip.Bounds
	w.values.readErr = errEndOfRun
	return w
}

var errEndOfRun = stderrors.New("decoder: the end of a run") // which no caller sees

// decodeBatch decodes the objects of a batch, and hands it over.
func (w *worker) decodeBatch(b *batch) {
	defer func() {
		if b.panic = recover(); b.panic != nil {
			b.panic = fmt.Sprintf("%v\n\nin a goroutine of decoder.Sequence.InParallel:\n%s", b.panic, stack())
		}
		b.done <- struct{}{}
	}()
	b.out, b.outEnds = b.out[:0], b.outEnds[:0]
	if b.isRun {
		w.decodeRun(b)
		return
	}
	for i := range b.objects {
		at := b.spans[i]
		w.hasProgram, w.object, w.origin = false, b.texts[at.from:at.to:at.to], b.objects[i].Position
		w.decodeObject(b, &b.objects[i])
	}
}

// decodeRun decodes the objects of a run, up to the first fault.
func (w *worker) decodeRun(b *batch) {
	v := &w.values
	v.buf, v.at, v.lines = b.texts, 0, position.From(b.texts, b.origin)
	w.state, w.err = beforeItem, nil
	for w.Next() == nil {
		b.add(v.at-len(w.object), v.at, w.origin)
		w.decodeObject(b, &b.objects[len(b.objects)-1])
	}
	b.isRight = w.err == errEndOfRun && w.state == beforeItem && v.at == len(b.texts)
}

// decodeObject decodes the object of the worker.
func (w *worker) decodeObject(b *batch, o *Decoded) {
	o.Raw = w.object
	if w.documents != nil && w.isNull() {
		b.outEnds = append(b.outEnds, -1)
		return
	}
	b.out, o.Err = w.AppendJSON(b.out)
	b.outEnds = append(b.outEnds, len(b.out))
	o.Findings, o.Omitted = slices.Clone(w.Findings()), w.Omitted()
}

// stack returns the stack of a goroutine that panics.
func stack() []byte {
	text := make([]byte, 16<<10)
	return text[:runtime.Stack(text, false)]
}
