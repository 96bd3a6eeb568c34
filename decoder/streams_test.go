package decoder_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// TestOmittedOnStreams holds that readers and writers count what they have not kept.
func TestOmittedOnStreams(t *testing.T) {
	const doc = `{"a":1,"b":2,"c":3}`
	d := decoder.New(compile(t, `{type: object}`), decoder.Limits{Findings: 1})
	r := d.NewReader(strings.NewReader(doc))
	n, err := r.Read(nil)
	require.NoError(t, err)
	assert.Zero(t, n, "nothing was asked for")
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "{}", string(out))
	assert.Equal(t, `1:2: unknown field "a"`, details(r.Findings()))
	assert.Equal(t, 2, r.Omitted())

	var b strings.Builder
	w := d.NewWriter(&b)
	_, err = io.WriteString(w, doc)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	assert.Equal(t, "{}", b.String())
	assert.Equal(t, `1:2: unknown field "a"`, details(w.Findings()))
	assert.Equal(t, 2, w.Omitted())
}

// A miscounter returns counts that no reader or writer may return.
type miscounter int

func (n miscounter) Read([]byte) (int, error)  { return int(n), nil }
func (n miscounter) Write([]byte) (int, error) { return int(n), nil }

func TestInvalidCounts(t *testing.T) {
	d := decoder.New(compile(t, `{type: object}`))
	for _, n := range []miscounter{-1, 1 << 30} {
		_, err := io.ReadAll(d.NewReader(n))
		require.ErrorContains(t, err, "read at offset 0: it returned an invalid count")
		objects := decoder.NewSequence(n, func(string, string) (*schema.Program, error) { return nil, nil })
		require.ErrorContains(t, objects.Next(), "read at offset 0: it returned an invalid count")
		w := d.NewWriter(n)
		_, err = io.WriteString(w, "{}")
		require.NoError(t, err)
		require.ErrorContains(t, w.Close(), "write at offset 0: it returned an invalid count")
		require.Error(t, w.Close(), "the error stays")
	}
}

func TestValidationNames(t *testing.T) {
	for v, name := range map[decoder.FieldValidation]string{decoder.Warn: "Warn", decoder.Strict: "Strict", decoder.Ignore: "Ignore"} {
		assert.Equal(t, name, v.String())
	}
}

// TestValidationText holds that a name is read as it is written, and no other is read.
func TestValidationText(t *testing.T) {
	for _, v := range []decoder.FieldValidation{decoder.Warn, decoder.Strict, decoder.Ignore} {
		text, err := v.MarshalText()
		require.NoError(t, err)
		var back decoder.FieldValidation
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, v, back)
	}
	v := decoder.Strict
	for _, name := range []string{"", "strict", "Validation(9)"} {
		require.ErrorContains(t, v.UnmarshalText([]byte(name)), `there is no field validation called "`+name+`": it is Warn, Strict or Ignore`)
	}
	assert.Equal(t, decoder.Strict, v)
	_, err := decoder.FieldValidation(9).MarshalText()
	require.EqualError(t, err, "decoder: there is no FieldValidation(9)")
}
