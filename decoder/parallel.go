package decoder

// NOTE: the goroutine that iterates reads objects into batches, hands these to the other goroutines,
// and decodes some itself while it waits for the oldest. So nothing is decoded that was not read, and
// nobody waits for a goroutine that waits for somebody.
//
//	the stream -> batches in a ring, in order -> the oldest is yielded, and read into again
//	                   |          ^
//	                  work       done
//	                   v          |
//	              goroutines and the iterating one

import (
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
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
// There are no stored objects, so [ValidateUpdate] fails. InParallel panics if
// workers is less than 1. Until the iteration has ended, the sequence must not
// be used.
func (s *Sequence) InParallel(workers int) iter.Seq2[*Decoded, error] {
	if workers < 1 {
		panic("decoder: Sequence.InParallel: there must be at least one worker")
	}
	return func(yield func(*Decoded, error) bool) {
		s.isSplit = true
		defer func() { s.isSplit = false }()
		p := newParallel(s, workers)
		defer p.stop()
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

const (
	// batchBytes is how long the texts of a batch become. Handing over a batch takes a microsecond.
	batchBytes = 64 << 10
	// batchesAhead is how many batches there are for each worker.
	batchesAhead = 3
	// keptBatchBytes is how large the buffers of a batch may be to be used again.
	keptBatchBytes = 1 << 20
)

// A parallel is the state of one iteration.
type parallel struct {
	from      *Sequence
	own       *worker // of the iterating goroutine
	ring      []batch
	next      int // the batch to read into
	held      int // how many batches before next are not yielded
	heldBytes int // the texts in these
	work      chan *batch
	workers   sync.WaitGroup
}

// newParallel starts the other workers.
func newParallel(s *Sequence, workers int) *parallel {
	p := &parallel{from: s, own: newWorker(s), ring: make([]batch, workers*batchesAhead)}
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

// stop waits until the other workers have ended.
func (p *parallel) stop() {
	for { // what nobody wants any longer
		select {
		case <-p.work:
			continue
		default:
		}
		break
	}
	close(p.work)
	p.workers.Wait()
}

// readAhead reads objects while the ring, the limit and the stream have more.
func (p *parallel) readAhead() {
	for p.held < len(p.ring) && p.heldBytes < p.from.decode.limits.HeldBytes && p.from.err == nil {
		b := &p.ring[p.next]
		b.read(p.from)
		if len(b.objects) == 0 {
			return
		}
		p.next = (p.next + 1) % len(p.ring)
		p.held++
		p.heldBytes += len(b.texts)
		p.work <- b // there is room for the whole ring
	}
}

// finish waits for the oldest batch, and decodes others meanwhile.
func (p *parallel) finish() *batch {
	b := &p.ring[(p.next-p.held+len(p.ring))%len(p.ring)]
	for {
		select {
		case <-b.done:
			p.held--
			p.heldBytes -= len(b.texts)
			return b
		case other := <-p.work:
			p.own.decodeBatch(other)
		}
	}
}

// A batch is a run of objects.
type batch struct {
	texts   []byte
	objects []Decoded
	ends    []int // where their texts end
	out     []byte
	outEnds []int         // where their results end; -1 for an empty YAML document
	done    chan struct{} // has one element when the batch is decoded
	panic   any           // what the decoding goroutine has panicked with
}

// read fills the batch from the stream.
func (b *batch) read(s *Sequence) {
	if cap(b.texts)+cap(b.out) > keptBatchBytes {
		b.texts, b.out = nil, nil
	}
	if b.done == nil {
		b.done = make(chan struct{}, 1)
	}
	b.texts, b.ends, b.objects = b.texts[:0], b.ends[:0], b.objects[:0]
	for len(b.texts) < batchBytes && s.Next() == nil {
		b.texts = append(b.texts, s.object...)
		b.ends = append(b.ends, len(b.texts))
		b.objects = append(b.objects, Decoded{Position: s.origin})
	}
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

// A worker decodes batches as a [Sequence] decodes its objects. It is one without a stream.
type worker struct{ Sequence }

func newWorker(s *Sequence) *worker {
	w := &worker{Sequence{lookup: s.lookup, documents: s.documents, // which is only compared with nil
		decode: newDecoder(&program.Program{Root: walk.Any}, s.decode.options)}}
	w.bridge = w.decode.yaml
	return w
}

// decodeBatch decodes the objects of a batch, and hands it over.
func (w *worker) decodeBatch(b *batch) {
	defer func() {
		if b.panic = recover(); b.panic != nil {
			b.panic = fmt.Sprintf("%v\n\nin a goroutine of decoder.Sequence.InParallel:\n%s", b.panic, stack())
		}
		b.done <- struct{}{}
	}()
	b.out, b.outEnds = b.out[:0], b.outEnds[:0]
	start := 0
	for i := range b.objects {
		o, end := &b.objects[i], b.ends[i]
		o.Raw = b.texts[start:end:end]
		start = end
		w.hasProgram, w.object, w.origin = false, o.Raw, o.Position
		if w.documents != nil && w.isNull() {
			b.outEnds = append(b.outEnds, -1)
			continue
		}
		b.out, o.Err = w.AppendJSON(b.out)
		b.outEnds = append(b.outEnds, len(b.out))
		o.Findings, o.Omitted = slices.Clone(w.Findings()), w.Omitted()
	}
}

// stack returns the stack of a goroutine that panics.
func stack() []byte {
	text := make([]byte, 16<<10)
	return text[:runtime.Stack(text, false)]
}
