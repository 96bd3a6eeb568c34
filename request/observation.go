package request

import (
	"time"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
)

// An Observation describes what became of a body.
type Observation struct {
	// Resource is the resource that the body was decoded by, or nil if the
	// request was refused before one was found.
	Resource        *Resource
	FieldValidation decoder.FieldValidation
	// Refused is why the request was refused, or nil if it was passed on.
	Refused *StatusError
	// Findings are the findings in the body. Those of the kind
	// errors.InvalidValue contain values. Omitted counts those beyond the
	// limits.
	Findings errors.List
	Omitted  int
	// BytesIn are the bytes of the body that were read, after
	// decompression. BytesOut are the bytes that were passed on.
	BytesIn, BytesOut int64
	// Reading is the time until the body had arrived. Decoding is the time
	// after that.
	Reading, Decoding time.Duration
}

// Observation returns what became of the body, after it was judged or its
// stream has ended. It should be called once: the exchange then drops the
// findings, because the recipient of the body may take long.
func (x *Exchange) Observation(refused *StatusError) Observation {
	o := Observation{
		Resource: x.resource, FieldValidation: x.validation, Refused: refused,
		Findings: x.findings, Omitted: x.omitted,
		BytesIn: x.received, BytesOut: x.sent, Reading: x.reading, Decoding: x.decoding,
	}
	x.findings = nil
	return o
}
