package extproc

import (
	"encoding/binary"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// A window is what is left of a message, or of a field in it, and is read from the window around it.
type window struct {
	in   source
	left int64
}

type source interface {
	io.Reader
	io.ByteReader
}

var errMalformed = malformed("the message is malformed")

// ReadByte returns the next byte, or io.EOF at the end of the window.
func (w *window) ReadByte() (byte, error) {
	if w.left == 0 {
		return 0, io.EOF
	}
	b, err := w.in.ReadByte()
	if err != nil {
		return 0, cutOff(err)
	}
	w.left--
	return b, nil
}

// Read returns the next bytes, or io.EOF at the end of the window.
func (w *window) Read(p []byte) (int, error) {
	if w.left == 0 {
		return 0, io.EOF
	}
	n, err := w.in.Read(p[:min(int64(len(p)), w.left)])
	w.left -= int64(n)
	if n > 0 {
		return n, nil
	}
	return 0, cutOff(err)
}

// cutOff returns the error for a stream that ends inside of a message.
func cutOff(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// field reads the number and the type of the next field. It returns io.EOF at the end of the window.
func (w *window) field() (protowire.Number, protowire.Type, error) {
	if w.left == 0 {
		return 0, 0, io.EOF
	}
	tag, err := w.varint()
	if err != nil {
		return 0, 0, err
	}
	number, typ := protowire.DecodeTag(tag)
	if !number.IsValid() {
		return 0, 0, errMalformed
	}
	return number, typ, nil
}

// varint reads an integer of variable length.
func (w *window) varint() (uint64, error) {
	before := w.left
	v, err := binary.ReadUvarint(w)
	// Otherwise it ends with the window, or is too long.
	if isCutOff := w.left > 0 && before-w.left < binary.MaxVarintLen64; err != nil && !isCutOff {
		return 0, errMalformed
	}
	return v, err
}

// length reads the length of a field, which must lie in the window.
func (w *window) length(typ protowire.Type) (int64, error) {
	if typ != protowire.BytesType {
		return 0, errMalformed
	}
	n, err := w.varint()
	switch {
	case err != nil:
		return 0, err
	case n > uint64(w.left):
		return 0, errMalformed
	}
	return int64(n), nil
}

// flag reads a bool.
func (w *window) flag(typ protowire.Type) (bool, error) {
	if typ != protowire.VarintType {
		return false, errMalformed
	}
	v, err := w.varint()
	return v != 0, err
}

// skip reads a field that does not matter.
func (w *window) skip(typ protowire.Type) (err error) {
	var n int64
	switch typ {
	case protowire.VarintType:
		_, err = w.varint()
	case protowire.Fixed32Type:
		n = 4
	case protowire.Fixed64Type:
		n = 8
	case protowire.BytesType:
		n, err = w.length(typ)
	default: // groups are of no use here
		return errMalformed
	}
	if err != nil {
		return err
	}
	return w.discard(n)
}

// discard reads n bytes that do not matter.
func (w *window) discard(n int64) error {
	if n > w.left {
		return errMalformed
	}
	field := window{in: w, left: n}
	_, err := io.Copy(io.Discard, &field)
	return err
}
