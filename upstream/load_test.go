package main

import (
	"context"
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var serverFlag = flag.Bool("server", false, "build and start a server, which takes some minutes for the first time")

// TestLoad has a server do a little of what is measured, and holds that each phase is in the tables.
func TestLoad(t *testing.T) {
	if !*serverFlag {
		t.Skip("skipped without -server")
	}
	tree, err := openTree(context.Background())
	require.NoError(t, err)
	defer tree.close()
	var out strings.Builder
	require.NoError(t, measureLoad(context.Background(), &out, &suite{tree: tree}, []string{stock}, 1, load{definitions: 2, objects: 30, lists: 1}))
	for _, row := range []string{"ms of CPU", "kB allocated", "kB of heap", "1 definitions", "2 creates", "3 lists", "4 updates, watched"} {
		assert.Contains(t, out.String(), row)
	}
	t.Log(out.String())
}

// TestObject holds that the objects are what the definitions allow, and large enough to matter.
func TestObject(t *testing.T) {
	assert.Greater(t, len(object("a", 1)), 900)
	assert.Equal(t, 1, strings.Count(object("a", 1), "%s"), "the group is put in")
	assert.Equal(t, "/apis/load3.example.com/v1/namespaces/default/trellises", resource(3))
}
