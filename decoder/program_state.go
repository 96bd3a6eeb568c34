package decoder

import (
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
)

// A programState is the part of a decoder that belongs to its program. The rest of a decoder
// works with any program.
type programState struct {
	program *program.Program
	// predicted holds for each field, and for each node, the field that came
	// next when it was last seen. Producers write fields in a steady order.
	predicted []*program.Field

	// These are set in server modes only.
	oddNumberDefault bool     // a default has a number that the server writes differently
	metadataDefault  bool     // a default is within metadata
	unstableDefault  bool     // a default may change when it is decoded: see decodeAgain
	metadataDecoder  *Decoder // inserts defaults into metadata
	foldedFields     bool     // the server may take a field of the root for kind or apiVersion
}

func newProgramState(p *program.Program, asServer bool) *programState {
	t := &programState{
		program: p,
		// It has whole lines of the cache, which it shares with no decoder of another goroutine.
		predicted: make([]*program.Field, p.Cells, (p.Cells+15)&^15),
	}
	for i := range t.predicted {
		t.predicted[i] = program.NoField
	}
	if asServer {
		t.examineDefaults()
		t.foldedFields = hasFoldedFields(p.Root)
	}
	return t
}

// setProgram makes the decoder decode by the program of t.
func (d *Decoder) setProgram(t *programState) {
	d.programState = t
	d.walker.Tune(t.program, t.predicted)
}

// maxRecent is half of the number of states that a Sequence keeps.
const maxRecent = 32

// A programCache has the states that a Sequence has used last: those of the last maxRecent
// programs, and of as many before. So the memory for programs is bounded, however many kinds
// there are. It takes as long to make a state as to decode a small object.
type programCache struct {
	recent, older map[*schema.Program]*programState
}

// state returns the state for a program.
func (c *programCache) state(p *schema.Program, asServer bool) *programState {
	t := c.recent[p]
	if t != nil {
		return t
	}
	if t = c.older[p]; t == nil {
		t = newProgramState(program.Of(p), asServer)
	}
	if c.recent == nil || len(c.recent) == maxRecent {
		c.recent, c.older = make(map[*schema.Program]*programState), c.recent
	}
	c.recent[p] = t
	return t
}
