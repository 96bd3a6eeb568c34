package decoder

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

// TestOverlap puts the document at each place of the room that the result is appended to.
func TestOverlap(t *testing.T) {
	p := compileYAML(t, "{type: object, properties: {a: {type: string}, d: {type: string, default: a long default that overtakes what is read}}}")
	const doc, want = `{"x":1,"a":"b","y":2}`, `{"a":"b","d":"a long default that overtakes what is read"}`
	const findings = `[1:2: unknown field "x" 1:16: unknown field "y"]`
	d := New(p)
	for room := range 100 {
		for at := range room - len(doc) + 1 {
			for before := range 3 {
				buf := make([]byte, room)
				src := buf[at : at+copy(buf[at:], doc) : at+len(doc)]
				out, err := d.AppendJSON(buf[:before], src)
				require.NoError(t, err)
				require.Equal(t, want, string(out[before:]), "at %d of %d after %d", at, room, before)
				require.Equal(t, findings, fmt.Sprint(details(d.Findings())))
			}
		}
	}
	yaml := []byte("x: 1\na: b\n\"y\": 2\n" + strings.Repeat("# more\n", 20))
	out, err := d.AppendYAML(yaml[:0], yaml)
	require.NoError(t, err)
	require.Equal(t, want, string(out))
	require.Equal(t, `[1:1: unknown field "x" 3:1: unknown field "y"]`, fmt.Sprint(details(d.Findings())))

	// What is apart stays where it is: one ends where the other starts.
	buf := append(make([]byte, 0, 200), doc...)
	assert.Same(t, &buf[0], &apart(buf, buf)[0])
	assert.Same(t, &buf[0], &apart(buf[len(doc):], buf)[0])
	assert.Same(t, &buf[0], &apart(nil, buf)[0])
	assert.Empty(t, apart(buf[:0], nil))
}

// TestRawDoesNotReachOver holds that what is appended to the text of an object of a sequence does not write over
// the next one.
func TestRawDoesNotReachOver(t *testing.T) {
	s := NewSequence(strings.NewReader(`{"kind":"A"}{"kind":"B"}`), func(string, string) (*schema.Program, error) { return nil, nil })
	require.NoError(t, s.Next())
	_ = append(s.Raw(), `{"kind":"C"}`...)
	require.NoError(t, s.Next())
	assert.Equal(t, `{"kind":"B"}`, string(s.Raw()))
}

// A reentrant value decodes with the decoder that makes it.
type reentrant struct{ d *Decoder }

func (r *reentrant) UnmarshalJSON([]byte) error {
	_, err := r.d.AppendJSON(nil, []byte("{}"))
	return err
}

var _ json.Unmarshaler = (*reentrant)(nil)

// TestUsedWhileAtWork holds that a decoder is for one at a time, and is fit for use after it was not.
func TestUsedWhileAtWork(t *testing.T) {
	d := New(compileYAML(t, "{type: object, properties: {a: {type: string}}}"))
	const text = "decoder: a Decoder is used while it is at work: it is for one goroutine at a time, and a Pool for many"
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
	// Two that begin at the same time: the one that ends last is told.
	d.begin()
	d.end()
	assert.PanicsWithValue(t, text, d.end)
	_, err = d.AppendJSON(nil, []byte(`{"a":"b"}`))
	require.NoError(t, err)
	assert.Panics(t, func() { NewPool(compileYAML(t, "{type: object}")).Put(nil) })
}

// A failing value does what ends the call of Unmarshal that has called it.
type failing struct{}

var fail func()

func (failing) UnmarshalJSON([]byte) error { fail(); return nil }

// TestAfterPanics holds that a decoder is fit for use after code of others has panicked, or has ended its goroutine.
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
