package yamlbridge_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/yamlbridge"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSuite reads yaml-test-suite in the Core dialect.
func TestSuite(t *testing.T) {
	invalid, single := 0, 0
	for test := range corpus.YAMLTestSuite(t) {
		switch {
		case test.Error:
			invalid++
			assert.False(t, readsAsCore(test.YAML), "%s (%s) is not YAML\n%s", test.ID, test.Title, test.YAML)
		case len(test.JSON) == 1:
			single++
			r := yamlbridge.Reader{Dialect: yamlbridge.Core}
			got, err := r.AppendJSON(nil, test.YAML)
			assert.True(t, err == nil && sameJSON(t, test.JSON[0], got), "%s (%s)\n%s\nwant: %s\ngot:  %s %v", test.ID, test.Title, test.YAML, test.JSON[0], got, err)
		}
	}
	assert.Equal(t, 94, invalid)
	assert.Equal(t, 256, single)
}

// readsAsCore reports whether all documents of a stream are read.
func readsAsCore(src []byte) bool {
	r := yamlbridge.Reader{Dialect: yamlbridge.Core}
	if _, err := r.AppendJSON(nil, src); err == nil || !strings.Contains(err.Error(), "second document") {
		return err == nil
	}
	// A second document is no fault of the stream.
	for doc := range yamlbridge.Documents(src) {
		if _, err := r.AppendJSON(nil, doc.Bytes); err != nil {
			return false
		}
	}
	return true
}

// sameJSON reports whether two texts have the same value: the suite spells numbers differently.
func sameJSON(t *testing.T, a, b []byte) bool {
	decode := func(js []byte) (v any) {
		d := json.NewDecoder(bytes.NewReader(js))
		require.NoError(t, d.Decode(&v), "%s", js)
		return v
	}
	return reflect.DeepEqual(decode(a), decode(b))
}

// TestSuiteStreams reads the tests of yaml-test-suite with several documents.
// [yamlbridge.Documents] leaves out empty ones.
func TestSuiteStreams(t *testing.T) {
	streams := 0
	for test := range corpus.YAMLTestSuite(t) {
		if test.Error || len(test.JSON) < 2 {
			continue
		}
		streams++
		var want, got []string
		for _, js := range test.JSON {
			if string(js) != "null" {
				want = append(want, canonical(t, js))
			}
		}
		for doc := range yamlbridge.Documents(test.YAML) {
			r := yamlbridge.Reader{Dialect: yamlbridge.Core}
			js, err := r.AppendJSON(nil, doc.Bytes)
			require.NoError(t, err, "%s (%s)\n%s", test.ID, test.Title, doc.Bytes)
			if string(js) != "null" {
				got = append(got, canonical(t, js))
			}
		}
		assert.Equal(t, want, got, "%s (%s)\n%s", test.ID, test.Title, test.YAML)
	}
	assert.Equal(t, 18, streams)
}

func canonical(t *testing.T, js []byte) string {
	var v any
	require.NoError(t, json.Unmarshal(js, &v), "%s", js)
	js, err := json.Marshal(v)
	require.NoError(t, err)
	return string(js)
}
