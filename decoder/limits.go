package decoder

import (
	"math"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// Limits bound what one document may cost. They are an [Option]. Each field
// counts by itself: a field that is zero leaves that limit as it is, whether
// another Limits option has set it or it has its default. New panics where a
// limit is negative.
type Limits struct {
	// Depth is how many objects and arrays may be open at a time. The
	// default is DefaultDepth.
	Depth int
	// Findings is how many findings are kept; further ones are only
	// counted. The default is DefaultFindings.
	Findings int
	// FindingBytes is how many bytes the paths of all kept findings may
	// have together. The default is DefaultFindingBytes.
	FindingBytes int
	// NumberBytes is the length of one number literal. The default is
	// DefaultNumberBytes.
	NumberBytes int
	// NameBytes is the length of one name as it is written, with its
	// escapes. The default is DefaultNameBytes.
	NameBytes int
	// DefaultBytes is how many bytes defaults may insert into one document.
	// The default is DefaultDefaultBytes.
	DefaultBytes int
	// OutputBytes is the size of one result; it does not apply to streams.
	// The default is DefaultOutputBytes.
	OutputBytes int
	// HeldBytes is how many bytes a stream may hold at a time (see Reader).
	// The default is DefaultHeldBytes.
	HeldBytes int
	// AliasFactor is how many bytes aliases may add for each byte of a YAML
	// document, beyond 64 KiB. The default and the maximum is
	// yamlbridge.MaxAliasFactor.
	AliasFactor int
}

// These are the limits that apply where [Limits] does not set others.
const (
	// DefaultDepth is the depth that the API server allows
	// (sigs.k8s.io/json).
	DefaultDepth = 10_000
	// DefaultFindings is the API server's limit for duplicate fields.
	DefaultFindings = 100
	// DefaultFindingBytes is 64 KiB.
	DefaultFindingBytes = 64 << 10
	// DefaultNumberBytes leaves room for every float64 that is written out
	// in full.
	DefaultNumberBytes = 1000
	// DefaultNameBytes is 50,000 bytes.
	DefaultNameBytes = 50_000
	// DefaultDefaultBytes is 16 MiB.
	DefaultDefaultBytes = 16 << 20
	// DefaultOutputBytes is 1 GiB.
	DefaultOutputBytes = 1 << 30
	// DefaultHeldBytes is 64 MiB.
	DefaultHeldBytes = 64 << 20
)

func (l Limits) apply(o *options) { o.limits = o.limits.With(l) }

// fields returns pointers to all fields.
func (l *Limits) fields() [9]*int {
	return [...]*int{
		&l.Depth, &l.Findings, &l.FindingBytes, &l.NumberBytes, &l.NameBytes, &l.DefaultBytes,
		&l.OutputBytes, &l.HeldBytes, &l.AliasFactor,
	}
}

// With returns l with each field replaced that is not zero in other.
func (l Limits) With(other Limits) Limits {
	to := l.fields()
	for i, from := range other.fields() {
		if *from != 0 {
			*to[i] = *from
		}
	}
	return l
}

// withDefaults returns the limits with the default of each field that is zero.
func (l Limits) withDefaults() Limits {
	return Limits{
		Depth:        DefaultDepth,
		Findings:     DefaultFindings,
		FindingBytes: DefaultFindingBytes,
		NumberBytes:  DefaultNumberBytes,
		NameBytes:    DefaultNameBytes,
		DefaultBytes: DefaultDefaultBytes,
		OutputBytes:  DefaultOutputBytes,
		HeldBytes:    DefaultHeldBytes,
		AliasFactor:  yamlbridge.MaxAliasFactor,
	}.With(l)
}

// of returns the value of one limit.
func (l Limits) of(which errors.Limit) (most int) {
	switch which {
	case errors.LimitDepth:
		return l.Depth
	case errors.LimitNumberBytes:
		return l.NumberBytes
	case errors.LimitNameBytes:
		return l.NameBytes
	case errors.LimitDefaultBytes:
		return l.DefaultBytes
	case errors.LimitHeldBytes:
		return l.HeldBytes
	case errors.LimitValidationSteps:
		return validationSteps(0)
	case errors.LimitStreamBytes:
		return math.MaxInt // a stream can reach this limit where int has 32 bits
	}
	return l.OutputBytes
}

// bounds returns the limits that package skip applies to what it reads.
func (l *Limits) bounds() skip.Bounds {
	return skip.Bounds{Depth: l.Depth, NameBytes: l.NameBytes, NumberBytes: l.NumberBytes}
}
