package request

import (
	"time"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
)

// An Observation is what became of a body.
type Observation struct {
	// Resource is what the body was decoded by, or nil if it was refused before one was found.
	Resource        *Resource
	FieldValidation decoder.FieldValidation
	// Refused is why the request was refused, or nil if it was passed on.
	Refused *StatusError
	// Findings were found in the body; Omitted counts those beyond the limits.
	Findings errors.List
	Omitted  int
	// BytesIn are those of the body, after decompression, as far as it was read.
	// BytesOut are those that were passed on.
	BytesIn, BytesOut int64
	// Reading is how long it took until the body was there, Decoding what came after that.
	Reading, Decoding time.Duration
}

// Observation returns what became of the body, when it was judged or its stream has ended. It is asked for once: the exchange lets
// go of the findings, as whoever gets the body may take long.
func (x *Exchange) Observation(refused *StatusError) Observation {
	o := Observation{
		Resource: x.resource, FieldValidation: x.validation, Refused: refused,
		Findings: x.findings, Omitted: x.omitted,
		BytesIn: x.received, BytesOut: x.sent, Reading: x.reading, Decoding: x.decoding,
	}
	x.findings = nil
	return o
}
