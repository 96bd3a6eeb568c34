package decoder

import (
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
)

// A tuning is what a decoder has for one program. All else of it serves any.
type tuning struct {
	program *program.Program
	// predicted holds for each field, and for each node, the field that came
	// next when it was last seen. Producers write fields in a steady order.
	predicted []*program.Field

	// In a server mode, of the defaults:
	oddDefaults      bool     // there are numbers to be rewritten
	metadataDefaults bool     // there are some within metadata
	unfitDefaults    bool     // there may be some that are not decoded as they are
	ofMetadata       *Decoder // inserts defaults into metadata

	foldedFields bool // the server may take a field of the root for kind or apiVersion
}

func newTuning(p *program.Program, kubernetes bool) *tuning {
	t := &tuning{
		program: p,
		// Whole lines of the cache, so that no decoder of another goroutine writes to one of them, too.
		predicted: make([]*program.Field, p.Cells, (p.Cells+15)&^15),
	}
	for i := range t.predicted {
		t.predicted[i] = program.NoField
	}
	if kubernetes {
		t.lookAtDefaults()
		t.foldedFields = hasFoldedFields(p.Root)
	}
	return t
}

// tune makes the decoder one for the program of the tuning.
func (d *Decoder) tune(t *tuning) {
	d.tuning = t
	d.walker.Tune(t.program, t.predicted)
}

// maxTunings is half of how many a Sequence keeps.
const maxTunings = 32

// tunings are those that a Sequence has used last: those of the last maxTunings programs and of some
// before, so that what many kinds leave behind does not grow. To make one takes as long as to decode a small object.
type tunings struct {
	last, before map[*schema.Program]*tuning
}

// of returns the tuning for a program.
func (ts *tunings) of(p *schema.Program, kubernetes bool) *tuning {
	t := ts.last[p]
	if t != nil {
		return t
	}
	if t = ts.before[p]; t == nil {
		t = newTuning(program.Of(p), kubernetes)
	}
	if ts.last == nil || len(ts.last) == maxTunings {
		ts.last, ts.before = make(map[*schema.Program]*tuning), ts.last
	}
	ts.last[p] = t
	return t
}
