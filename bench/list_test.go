package main

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// TestListJob: both contenders make the same of all items.
func TestListJob(t *testing.T) {
	src := listOf(12)
	d := &Document{Schema: MustSchema(listSchemaHead + indent(resourceSchema(specSchema), 6)), Src: src}
	var results [][]byte
	for _, c := range listJob().Contenders {
		run := c.Start(d)
		require.NoError(t, run.Do())
		results = append(results, bytes.Clone(run.Result().([]byte)))
	}
	require.Equal(t, results[0], results[1])
	require.Equal(t, 12, bytes.Count(results[0], []byte(`"kind":"Workload"`)))
}

// TestLongList: the list is what it would be in a file, however it is read.
func TestLongList(t *testing.T) {
	list := []byte(`{"kind":"List","items":[{"a":[1]},{"b":2}],"metadata":{}}`)
	want := `{"kind":"List","items":[{"a":[1]},{"b":2},{"a":[1]},{"b":2},{"a":[1]},{"b":2}],"metadata":{}}`
	got, err := io.ReadAll(iotest.OneByteReader(newLongList(list, 3)))
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}
