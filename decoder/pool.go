package decoder

import (
	"sync"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
)

// A Pool has decoders for one program, for any number of goroutines. A decoder
// that was used before has its buffers already, and knows in which order fields
// usually come. A new decoder costs some microseconds, a kilobyte, and eight
// bytes for each field of the program.
type Pool struct {
	decoders   sync.Pool
	program    *program.Program
	validation FieldValidation
}

// NewPool returns a pool of decoders as New makes them. It panics where New
// does, and where it is given [WithBudget].
func NewPool(p *schema.Program, opts ...Option) *Pool {
	compiled, o := programOf(p), optionsOf(opts)
	o.refuseBudget("a Pool")
	o.refuseProgram(compiled)
	return &Pool{sync.Pool{New: func() any { return newDecoder(compiled, o) }}, compiled, o.validation}
}

// Get returns a decoder that nobody else uses.
func (p *Pool) Get() *Decoder { return p.GetFor(p.validation) }

// GetFor is Get with a [FieldValidation] that replaces the one in the options
// of the pool. It is for servers whose clients choose it with each request. It
// panics if v is not one of the constants.
func (p *Pool) GetFor(v FieldValidation) *Decoder {
	if v > Ignore {
		panic("decoder: Pool.GetFor: there is no " + v.String())
	}
	d := p.decoders.Get().(*Decoder)
	d.validation = v
	return d
}

// Put returns a decoder to the pool, and removes its budget, its origin and the
// stored object of SetOld. The decoder must come from Get or GetFor of this
// pool; Put panics if it is nil or has another program. After Put the caller
// must not use the decoder, its readers and writers, or the list that Findings
// returned.
func (p *Pool) Put(d *Decoder) {
	if d == nil {
		panic("decoder: Pool.Put: the decoder is nil")
	}
	if d.program != p.program {
		panic("decoder: Pool.Put: the decoder is of another program")
	}
	d.poison()
	d.poisonTexts()
	d.SetBudget(nil)
	d.SetOrigin(errors.Position{})
	d.SetOld(nil)
	p.decoders.Put(d)
}
