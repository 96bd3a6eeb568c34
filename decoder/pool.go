package decoder

import (
	"sync"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
)

// A Pool has decoders for one program, for use by any number of goroutines. A decoder
// that was used before has its buffers and knows in which order fields come; making one takes
// some microseconds and a kilobyte, and eight bytes for each field of the program.
type Pool struct {
	decoders   sync.Pool
	program    *program.Program
	validation FieldValidation
}

// NewPool returns a pool of decoders as New makes them. It panics where New does.
func NewPool(p *schema.Program, opts ...Option) *Pool {
	table, o := tableOf(p), optionsOf(opts)
	o.refuseBudget("a Pool")
	return &Pool{sync.Pool{New: func() any { return newDecoder(table, o) }}, table, o.validation}
}

// Get returns a decoder that nobody else uses.
func (p *Pool) Get() *Decoder { return p.GetFor(p.validation) }

// GetFor is Get with another [FieldValidation] than that of the pool's options, for servers that are told with each
// request. It panics where there is no such FieldValidation.
func (p *Pool) GetFor(v FieldValidation) *Decoder {
	if v > Ignore {
		panic("decoder: Pool.GetFor: there is no " + v.String())
	}
	d := p.decoders.Get().(*Decoder)
	d.validation = v
	return d
}

// Put gives back a decoder, which must come from Get or GetFor of this pool, and takes away its budget and its origin. The caller must not use it, its readers or
// writers any more, nor the list that Findings has returned.
func (p *Pool) Put(d *Decoder) {
	if d == nil {
		panic("decoder: Pool.Put: the decoder is nil")
	}
	if d.walker.program != p.program {
		panic("decoder: Pool.Put: the decoder is of another program")
	}
	d.poison()
	d.poisonTexts()
	d.SetBudget(nil)
	d.SetOrigin(errors.Position{})
	p.decoders.Put(d)
}
