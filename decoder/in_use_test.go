package decoder

import (
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A reentrant value uses the decoder that unmarshals it.
type reentrant struct{ d *Decoder }

func (r *reentrant) UnmarshalJSON([]byte) error {
	_, err := r.d.AppendJSON(nil, []byte("{}"))
	return err
}

var _ json.Unmarshaler = (*reentrant)(nil)

// TestUsedWhileAtWork asserts that a decoder panics if it is used while it is in use, and
// works again afterwards.
func TestUsedWhileAtWork(t *testing.T) {
	d := New(compileYAML(t, "{type: object, properties: {a: {type: string}}}"))
	const text = "decoder: a Decoder is used while it is at work: " +
		"it is for one goroutine at a time, and a Pool for many"
	assert.PanicsWithValue(t, text, func() { _ = d.Unmarshal([]byte("{}"), &reentrant{d}) })
	assert.PanicsWithValue(t, text, func() { _ = d.UnmarshalYAML([]byte("{}"), &reentrant{d}) })
	d.begin()
	for _, use := range []func(){
		func() { _, _ = d.AppendJSON(nil, []byte("{}")) },
		func() { _, _ = d.AppendYAML(nil, []byte("{}")) },
		func() { var v any; _ = d.Unmarshal([]byte("{}"), &v) },
		func() { d.NewReader(strings.NewReader("{}")) },
		func() { d.NewYAMLReader(strings.NewReader("{}")) },
		func() { d.NewWriter(io.Discard) },
	} {
		assert.PanicsWithValue(t, text, use)
	}
	d.end()
	out, err := d.AppendJSON(nil, []byte(`{"a":"b"}`))
	require.NoError(t, err)
	assert.Equal(t, `{"a":"b"}`, string(out))
	// Of two uses that begin at the same time, the one that ends last panics.
	d.begin()
	d.end()
	assert.PanicsWithValue(t, text, d.end)
	_, err = d.AppendJSON(nil, []byte(`{"a":"b"}`))
	require.NoError(t, err)
	assert.Panics(t, func() { NewPool(compileYAML(t, "{type: object}")).Put(nil) })
}

// A failing value, reader or writer calls fail, which ends the call of the decoder.
type failing struct{}

var fail func()

func (failing) UnmarshalJSON([]byte) error { fail(); return nil }

// TestAfterPanics asserts that a decoder works after the code of a caller has panicked or has
// ended its goroutine.
func TestAfterPanics(t *testing.T) {
	d := New(compileYAML(t, "{type: object, properties: {a: {type: string}}}"))
	for _, fail = range []func(){func() { panic("failed") }, runtime.Goexit} {
		for _, use := range []func(){
			func() { _ = d.Unmarshal([]byte("{}"), &failing{}) },
			func() { _ = d.UnmarshalYAML([]byte("{}"), &failing{}) },
			func() { _, _ = io.ReadAll(d.NewReader(failing{})) },
			func() { _ = d.NewWriter(failing{}).Close() },
		} {
			ended := make(chan bool)
			go func() {
				defer close(ended)
				defer func() { _ = recover() }()
				use()
			}()
			<-ended
			out, err := d.AppendJSON(nil, []byte(`{"a":"b"}`))
			require.NoError(t, err)
			assert.Equal(t, `{"a":"b"}`, string(out))
		}
	}
}

func (failing) Read([]byte) (int, error)  { fail(); return 0, io.EOF }
func (failing) Write([]byte) (int, error) { fail(); return 0, io.EOF }
