package main

import (
	"bytes"
	"testing"

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
