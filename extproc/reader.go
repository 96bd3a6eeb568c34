package extproc

import (
	"bufio"
	"encoding/binary"
	"io"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"
)

// NOTE: messages are taken apart while they arrive, by hand. Generated code holds a whole message
// before it gives any of it away, so that a body could not be charged to the budget before it takes
// memory. The numbers are those of envoy/service/ext_proc/v3/external_processor.proto, which cannot
// change; the tests speak through the generated code.

// A kind is the number of the field of a ProcessingRequest that says what it is about.
type kind = protowire.Number

const (
	requestHeaders kind = 2 + iota
	responseHeaders
	requestBody
	responseBody
	requestTrailers
	responseTrailers
)

// The numbers of other fields of a ProcessingRequest.
const (
	observabilityMode protowire.Number = 10
	protocolConfig    protowire.Number = 11
)

const (
	// maxHeaderBytes is more than twice what Envoy accepts by default, 60 KiB.
	maxHeaderBytes = 128 << 10
	// maxHeaders is ten times what Envoy accepts by default.
	maxHeaders = 1000
)

// A reader reads the messages of one stream. After next, the body of a message that has one is read
// from chunk. isLast is known after finish.
type reader struct {
	in      *bufio.Reader
	message window
	part    window // an HttpBody
	chunk   window // its body

	kind       kind
	inPart     bool
	hasChunk   bool // the HttpBody has a body
	isComplete bool

	headers []header // of kinds with headers, except those of responses
	isLast  bool     // end_of_stream
	config  *config  // the same in all messages that have one
}

// A header is a field of HTTP, with its name in lower case.
type header struct{ name, value string }

// A config is a ProtocolConfiguration.
type config struct{ request, response mode }

func newReader(in io.Reader) *reader {
	r := &reader{in: bufio.NewReader(in), isComplete: true}
	r.message.in, r.part.in, r.chunk.in = r.in, &r.message, &r.part
	return r
}

// next reads the next message up to the body in it, or to its end. It returns io.EOF if the stream
// has ended before it.
func (r *reader) next() error {
	if err := r.finish(); err != nil {
		return err
	}
	var prefix [5]byte
	if _, err := io.ReadFull(r.in, prefix[:]); err != nil {
		return err
	}
	if prefix[0] != 0 {
		return &statusError{unimplemented, "compressed messages are not supported"}
	}
	r.message.left = int64(binary.BigEndian.Uint32(prefix[1:]))
	r.kind, r.headers, r.isLast = 0, nil, false
	r.hasChunk, r.isComplete = false, false
	return r.advance()
}

// finish reads the rest of the message.
func (r *reader) finish() error {
	for !r.isComplete {
		if err := r.part.discard(r.chunk.left); err != nil {
			return err
		}
		r.chunk.left = 0
		if err := r.advance(); err != nil {
			return err
		}
	}
	return nil
}

// advance reads the message up to the body in it, or to its end.
func (r *reader) advance() error {
	for {
		if r.inPart {
			if isChunk, err := r.bodyField(); isChunk || err != nil {
				return err
			}
			continue
		}
		number, typ, err := r.message.field()
		if err == io.EOF {
			r.isComplete = true
			if r.kind == 0 {
				return malformed("a message is about nothing")
			}
			return nil
		}
		if err == nil {
			err = r.field(number, typ)
		}
		if err != nil {
			return err
		}
	}
}

// field reads a field of a ProcessingRequest.
func (r *reader) field(number protowire.Number, typ protowire.Type) error {
	switch number {
	case requestHeaders, responseHeaders, requestBody, responseBody, requestTrailers, responseTrailers:
		if r.kind != 0 {
			return malformed("a message is about two things")
		}
		r.kind = number
		return r.about(typ)
	case observabilityMode:
		isSet, err := r.message.flag(typ)
		if err == nil && isSet {
			err = failed("in observability_mode nothing that is decided here takes effect")
		}
		return err
	case protocolConfig:
		text, err := r.text(typ)
		if err != nil {
			return err
		}
		before := r.config
		r.config, err = parseConfig(text)
		if err == nil && before != nil && *before != *r.config {
			err = malformed("a message changes how bodies are sent")
		}
		return err
	}
	return r.message.skip(typ)
}

// about reads the field that says what the message is about.
func (r *reader) about(typ protowire.Type) error {
	switch r.kind {
	case requestBody, responseBody:
		n, err := r.message.length(typ)
		r.part.left, r.inPart = n, true
		return err
	case requestHeaders, requestTrailers:
		text, err := r.text(typ)
		if err == nil {
			err = r.parseHeaders(text)
		}
		return err
	}
	if typ != protowire.BytesType {
		return errMalformed
	}
	return r.message.skip(typ)
}

// bodyField reads a field of an HttpBody, and reports whether it is the body, which is then in chunk.
func (r *reader) bodyField() (isChunk bool, err error) {
	number, typ, err := r.part.field()
	switch {
	case err == io.EOF:
		r.inPart = false
		return false, nil
	case err != nil:
		return false, err
	}
	switch number {
	case 1:
		if r.hasChunk { // others would read the last one, and this is read at once
			return false, malformed("a message has two bodies")
		}
		r.hasChunk = true
		r.chunk.left, err = r.part.length(typ)
		return err == nil, err
	case 2:
		r.isLast, err = r.part.flag(typ)
		return false, err
	case 3, 4, 5: // of mode GRPC, and of drains that were not asked for
		isSet, err := r.part.flag(typ)
		if err == nil && isSet {
			err = failed("the body is sent in a way that was not asked for")
		}
		return false, err
	}
	return false, r.part.skip(typ)
}

// text reads a field that is small.
func (r *reader) text(typ protowire.Type) ([]byte, error) {
	n, err := r.message.length(typ)
	switch {
	case err != nil:
		return nil, err
	case n > maxHeaderBytes:
		return nil, &statusError{resourceExhausted, "the headers are too large"}
	}
	text := make([]byte, n)
	_, err = io.ReadFull(&r.message, text)
	return text, cutOff(err)
}

// parseHeaders parses HttpHeaders and HttpTrailers.
func (r *reader) parseHeaders(text []byte) error {
	return fields(text, func(number protowire.Number, typ protowire.Type, value []byte, n uint64) error {
		switch {
		case number == 1 && typ == protowire.BytesType:
			return fields(value, func(number protowire.Number, typ protowire.Type, value []byte, _ uint64) error {
				if number != 1 || typ != protowire.BytesType {
					return nil
				}
				return r.parseHeader(value)
			})
		case number == 3 && typ == protowire.VarintType && r.kind == requestHeaders:
			r.isLast = n != 0
		}
		return nil
	})
}

// parseHeader parses a HeaderValue. Envoy sends either value or raw_value.
func (r *reader) parseHeader(text []byte) error {
	if len(r.headers) == maxHeaders {
		return &statusError{resourceExhausted, "there are too many headers"}
	}
	var h header
	var values int
	err := fields(text, func(number protowire.Number, typ protowire.Type, value []byte, _ uint64) error {
		switch {
		case typ != protowire.BytesType:
		case number == 1:
			h.name = string(value)
		case (number == 2 || number == 3) && len(value) > 0:
			values++
			h.value = string(value)
		}
		return nil
	})
	if err == nil && (h.name == "" || values > 1) {
		err = malformed("a header has no name, or two values")
	}
	r.headers = append(r.headers, h)
	return err
}

func parseConfig(text []byte) (*config, error) {
	c := new(config)
	err := fields(text, func(number protowire.Number, typ protowire.Type, _ []byte, n uint64) error {
		switch {
		case typ != protowire.VarintType:
		case number == 1:
			c.request = mode(n)
		case number == 2:
			c.response = mode(n)
		}
		return nil
	})
	return c, err
}

// fields calls f for the fields of a message, with the bytes or the number that each has.
func fields(text []byte, f func(protowire.Number, protowire.Type, []byte, uint64) error) error {
	for len(text) > 0 {
		number, typ, n := protowire.ConsumeTag(text)
		if n < 0 {
			return errMalformed
		}
		text = text[n:]
		var value []byte
		var v uint64
		switch typ {
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(text)
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(text)
		default:
			n = protowire.ConsumeFieldValue(number, typ, text)
		}
		if n < 0 {
			return errMalformed
		}
		text = text[n:]
		if err := f(number, typ, value, v); err != nil {
			return err
		}
	}
	return nil
}

// canonical returns headers by their canonical names.
func canonical(list []header) http.Header {
	h := make(http.Header, len(list))
	for _, f := range list {
		name := http.CanonicalHeaderKey(f.name)
		h[name] = append(h[name], f.value)
	}
	return h
}
