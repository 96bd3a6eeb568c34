package decoder

import (
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// Limits bound what one document may cost. They are an [Option]: each field counts
// by itself, and one that is zero says nothing, also where other Limits were given. Where nothing
// is said, its default holds, which is the constant beside it.
type Limits struct {
	Depth        int // open objects and arrays, DefaultDepth
	Findings     int // that are kept; more are counted only; DefaultFindings
	FindingBytes int // of paths, over all findings that are kept, DefaultFindingBytes
	NumberBytes  int // of one number literal, DefaultNumberBytes
	NameBytes    int // of one name as it is written, DefaultNameBytes
	DefaultBytes int // that defaults insert into one document, DefaultDefaultBytes
	OutputBytes  int // of one result, DefaultOutputBytes; streams have no such limit
	HeldBytes    int // that a stream holds at a time (see Reader), DefaultHeldBytes
	// AliasFactor is how many bytes aliases may add for each byte of a YAML document, beyond 64 KiB:
	// yamlbridge.MaxAliasFactor, which it cannot be more than.
	AliasFactor int
}

// The limits that hold where [Limits] says nothing else.
const (
	// DefaultDepth is that of the API server (sigs.k8s.io/json).
	DefaultDepth = 10_000
	// DefaultFindings is the API server's for duplicate fields.
	DefaultFindings     = 100
	DefaultFindingBytes = 64 << 10
	// DefaultNumberBytes leaves room for any float64 written out in full.
	DefaultNumberBytes  = 1000
	DefaultNameBytes    = 50_000
	DefaultDefaultBytes = 16 << 20
	DefaultOutputBytes  = 1 << 30
	DefaultHeldBytes    = 64 << 20
)

func (l Limits) apply(o *options) { o.limits = o.limits.With(l) }

// fields returns where the limits are.
func (l *Limits) fields() [9]*int {
	return [...]*int{&l.Depth, &l.Findings, &l.FindingBytes, &l.NumberBytes, &l.NameBytes, &l.DefaultBytes, &l.OutputBytes, &l.HeldBytes, &l.AliasFactor}
}

// With returns the limits, with each of other in place of its own that is not zero there.
func (l Limits) With(other Limits) Limits {
	to := l.fields()
	for i, from := range other.fields() {
		if *from != 0 {
			*to[i] = *from
		}
	}
	return l
}

// withDefaults returns the limits with defaults in place of what is zero.
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

// of returns how much one of the limits allows.
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
	case errors.LimitStreamBytes:
		return maxInt // which matters where int has 32 bits
	}
	return l.OutputBytes
}
