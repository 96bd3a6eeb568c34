package examine

// This file examines the objects of one large input in several goroutines. Each has an examiner, and
// gets some documents, or some items of a List, at a time. The objects are visited in their order.

import (
	stderrors "errors"
	"io"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/layout"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/parallel"
)

const (
	// batchBytes is how much text a goroutine gets at a time, and about how much it hands over.
	batchBytes = 256 << 10
	// objectBytes is what an object takes at least, and a finding.
	objectBytes = 1 << 10
	// largeDocument is from where on a document is not copied, but examined when all before it are,
	// and by all goroutines if it is a List.
	largeDocument = 1 << 20
)

// A team examines an input.
type team struct {
	members []*Examiner
	prepare func(e *Examiner, o *Object)
	visit   func(*Object) bool
}

// ReadDivided is like [Examiner.Read], but up to Workers goroutines examine a large file, or a large List.
// prepare is called for each object by one of them, with its examiner. When it has returned,
// the object has neither Result, Decoder nor Items any more, and its document neither JSON nor Locate.
// visit is called for the objects in their order, as by Read.
func (e *Examiner) ReadDivided(
	name string, stdin io.Reader, prepare func(e *Examiner, o *Object), visit func(*Object) bool,
) {
	if e.Workers > 1 {
		e.team = &team{prepare: prepare, visit: visit}
		defer func() { e.team = nil }()
	}
	e.Read(name, stdin, func(o *Object) bool {
		finish(prepare, e, o)
		return visit(o)
	})
}

// finish calls prepare, and takes away what the next object overwrites.
func finish(prepare func(e *Examiner, o *Object), e *Examiner, o *Object) {
	prepare(e, o)
	o.Result, o.Decoder, o.Items = nil, nil, nil
	o.Doc.JSON, o.Doc.Locate = nil, nil
}

// isDivided reports whether the documents of the input may be examined in any order: whether one is
// an object does not depend on the others.
func (e *Examiner) isDivided() bool {
	return e.team != nil && !e.isFound() && e.role == layout.Object
}

// A task examines a document with an examiner. It returns false if visit has.
type task func(e *Examiner, doc input.Document, visit func(*Object) bool) bool

// divide examines the documents of pieces.
func (e *Examiner) divide(pieces iter.Seq2[input.Document, error]) {
	next, stop := iter.Pull2(pieces)
	defer stop()
	whole := func(e *Examiner, piece input.Document, visit func(*Object) bool) bool {
		doc, err := e.reader.Complete(piece)
		return e.next(doc, err, visit)
	}
	alone := func(o *Object) bool {
		finish(e.team.prepare, e, o)
		return e.team.visit(o)
	}
	for {
		var doc input.Document
		var err error
		more := false
		wanted := e.together(func(yield func([]input.Document) bool) {
			for b := (batch{}); ; {
				doc, err, more = next()
				if !more || err != nil || len(doc.Text) > largeDocument {
					b.yield(yield)
					return
				}
				if b.add(doc); b.size >= batchBytes && !b.yield(yield) {
					return
				}
			}
		}, whole)
		if !wanted || !more {
			return
		}
		if err == nil {
			doc, err = e.reader.Complete(doc)
		}
		if !e.next(doc, err, alone) {
			return
		}
	}
}

// divideItems examines the items of a List.
func (e *Examiner) divideItems(items []input.Document, one task) bool {
	return e.together(func(yield func([]input.Document) bool) {
		from, size := 0, 0
		for i := range items {
			if size += objectBytes + len(items[i].JSON); size >= batchBytes || i == len(items)-1 {
				if !yield(items[from : i+1]) {
					return
				}
				from, size = i+1, 0
			}
		}
	}, one)
}

// together calls one for all documents, and visits the objects in their order. It reports whether more
// are wanted.
func (e *Examiner) together(batches iter.Seq[[]input.Document], one task) bool {
	t := e.team
	for len(t.members) < e.Workers {
		t.members = append(t.members, New(e.Settings))
	}
	for _, m := range t.members {
		m.start(e.file)
	}
	done := make(chan struct{})
	var stopped atomic.Bool
	err := parallel.InOrder(len(t.members), func(yield func([]input.Document) bool) {
		defer close(done)
		batches(yield)
	}, func(worker int, docs []input.Document, emit func([]*Object) bool) {
		m := t.members[worker]
		// A few objects at a time would soon wait for the batch before, and all of them might take any memory.
		var found []*Object
		size := 0
		for _, doc := range docs {
			wanted := one(m, doc, func(o *Object) bool {
				finish(t.prepare, m, o)
				found = append(found, o)
				if size += objectBytes*(1+len(o.Findings)) + len(o.Output); size >= batchBytes {
					emit(found)
					found, size = nil, 0
				}
				return !stopped.Load()
			})
			if !wanted {
				return
			}
		}
		emit(found)
	}, func(_ []input.Document, objects []*Object) error {
		for _, o := range objects {
			if !t.visit(o) {
				stopped.Store(true)
				return errStopped
			}
		}
		return nil
	})
	<-done // nobody reads the input any more
	return err == nil
}

var errStopped = stderrors.New("no more objects are wanted")

// A batch has copies of pieces that follow each other.
type batch struct {
	docs []input.Document
	size int
}

func (b *batch) add(piece input.Document) {
	piece.Text = slices.Clone(piece.Text)
	if !piece.IsYAML {
		piece.JSON = piece.Text
	}
	b.docs = append(b.docs, piece)
	b.size += objectBytes + len(piece.Text)
}

// yield yields the documents, if there are some, and reports whether more are wanted.
func (b *batch) yield(yield func([]input.Document) bool) bool {
	docs := b.docs
	*b = batch{}
	return len(docs) == 0 || yield(docs)
}
