package extproc

import (
	"encoding/binary"
	"math"
	"net/http"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/espalier-dev/espalier/request"
)

// Numbers of fields of a ProcessingResponse.
const (
	immediateResponse protowire.Number = 7
	// aResponse is the difference between what a message is about and the field of its answer.
	aResponse = -1
)

// A writer writes the messages of one stream. Bodies are written from where they are: a copy would
// have to be charged.
type writer struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

// send writes a message, which is head and then body. It returns when the transport has taken it,
// which the recipient controls.
func (w *writer) send(head, body []byte) error {
	size := int64(len(head)) + int64(len(body))
	if size > math.MaxUint32 {
		return &statusError{internal, "a message is too large"}
	}
	prefix := make([]byte, 5, 5+len(head))
	binary.BigEndian.PutUint32(prefix[1:], uint32(size))
	if _, err := w.w.Write(append(prefix, head...)); err != nil {
		return err
	}
	if len(body) > 0 {
		if _, err := w.w.Write(body); err != nil {
			return err
		}
	}
	return w.control.Flush()
}

// headers answers a message about headers.
func (w *writer) headers(about kind, m mutation) error {
	return w.send(nest(about+aResponse, nest(1, m.asField(2), 0), 0), nil)
}

// trailers answers a message about trailers.
func (w *writer) trailers(about kind, m mutation) error {
	return w.send(nest(about+aResponse, m.asField(1), 0), nil)
}

// untouched answers a message about a body, which passes as it is.
func (w *writer) untouched(about kind) error {
	return w.send(nest(about+aResponse, nest(1, nil, 0), 0), nil)
}

// body answers a message about a body with another one, which may be empty.
func (w *writer) body(about kind, m mutation, body []byte) error {
	var replaced []byte
	if len(body) > 0 {
		replaced = bytesField(1, len(body))
	} else {
		replaced = protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 1) // clear_body
	}
	common := append(m.asField(2), nest(3, replaced, len(body))...)
	return w.send(nest(about+aResponse, nest(1, common, len(body)), len(body)), body)
}

// piece sends a part of a body in mode FULL_DUPLEX_STREAMED.
func (w *writer) piece(about kind, body []byte, isLast bool) error {
	var streamed []byte
	if isLast {
		streamed = protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 1)
	}
	streamed = append(streamed, bytesField(1, len(body))...)
	n := len(body)
	return w.send(nest(about+aResponse, nest(1, nest(3, nest(3, streamed, n), n), n), n), body)
}

// immediate sends an answer for the sender of the request.
func (w *writer) immediate(a request.Answer) error {
	code := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(a.Code))
	var m mutation
	for name, value := range a.Header {
		m.set = append(m.set, header{name, value})
	}
	answer := append(nest(1, code, 0), m.asField(2)...)
	answer = append(answer, bytesField(3, len(a.Body))...)
	return w.send(nest(immediateResponse, answer, len(a.Body)), a.Body)
}

// A mutation is a HeaderMutation.
type mutation struct {
	set    []header // in place of those that are there
	add    []header
	remove []string
}

// asField returns the mutation as a field of the message around it, or nothing if it is empty.
func (m *mutation) asField(number protowire.Number) []byte {
	var b []byte
	for _, h := range m.set {
		b = append(b, nest(1, h.asOption(false), 0)...)
	}
	for _, h := range m.add {
		b = append(b, nest(1, h.asOption(true), 0)...)
	}
	for _, name := range m.remove {
		b = protowire.AppendString(protowire.AppendTag(b, 2, protowire.BytesType), strings.ToLower(name))
	}
	if len(b) == 0 {
		return nil
	}
	return nest(number, b, 0)
}

// asOption returns a HeaderValueOption. It says twice whether the value is added to others: Envoy
// knows a deprecated field for that, whose default differs from that of the other.
func (h header) asOption(isAdded bool) []byte {
	value := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), strings.ToLower(h.name))
	value = protowire.AppendString(protowire.AppendTag(value, 3, protowire.BytesType), h.value)
	b := nest(1, value, 0)
	if isAdded {
		isTrue := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
		return append(b, nest(2, isTrue, 0)...)
	}
	const overwriteOrAdd = 2
	b = append(b, nest(2, nil, 0)...)
	return protowire.AppendVarint(protowire.AppendTag(b, 3, protowire.VarintType), overwriteOrAdd)
}

// nest returns a field that is a message: inner, and then more bytes that follow it.
func nest(number protowire.Number, inner []byte, more int) []byte {
	return append(bytesField(number, len(inner)+more), inner...)
}

// bytesField returns the start of a field of n bytes.
func bytesField(number protowire.Number, n int) []byte {
	b := make([]byte, 0, 64)
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.BytesType), uint64(n))
}
