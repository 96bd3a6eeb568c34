package decoder

import (
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

type Decoder struct{}

type Option func(*Decoder)

type Validation uint8

const (
	Ignore Validation = iota
	Warn
	Strict
)

// FieldValidation default Warn? (see docs)
func FieldValidation(v Validation) Option { return func(*Decoder) {} }

// Compact removes insignificant white space from output.
func Compact(on bool) Option { return func(*Decoder) {} }

func New(p *schema.Program, opts ...Option) *Decoder { return &Decoder{} }

func (d *Decoder) AppendJSON(dst, src []byte) ([]byte, error) { panic("stub") }
func (d *Decoder) AppendYAML(dst, src []byte) ([]byte, error) { panic("stub") }
func (d *Decoder) Findings() errors.List                      { return nil }
func PeekType(src []byte) (apiVersion, kind string, err error) { panic("stub") }
