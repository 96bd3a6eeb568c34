//go:build amd64 && !purego

package walk

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/schema"
)

// TestStringMembersProgress asserts that a large map is walked by tokens up to its end.
func TestStringMembersProgress(t *testing.T) {
	if !kernel.Available {
		t.Skip("no kernels for this machine")
	}
	w := newWalker(compileYAML(t, `
type: object
properties: {data: {type: object, additionalProperties: {type: string}}}
`), limits{})
	r := rand.New(rand.NewPCG(1, 1))
	var members strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&members, `"key-%d-%s":"value %d",`, i, strings.Repeat("x", r.IntN(30)), r.IntN(1e6))
	}
	src := []byte(`{` + strings.TrimSuffix(members.String(), ",") + `}`)
	w.sp = 1
	w.frames[1] = frame{node: w.program.Root.Fields[0].Node, kind: inObject}
	w.pos = 1
	require.True(t, w.stringMembers(src))
	require.Greater(t, len(w.skip.Names.Names), 4990)
	require.Equal(t, byte(','), src[w.member])
	require.Equal(t, w.member+1, w.pos)
	for _, n := range w.skip.Names.Names {
		text := w.skip.Names.Text(src, &n)
		require.Equal(t, `"`+string(text)+`":`, string(src[n.At.Index():n.At.Index()+n.Size+3]))
		require.Equal(t, names.TagOf(text), n.Tag)
	}
}

// TestStringMembersTypes asserts that members are walked by tokens only if nothing can be found
// about strings.
func TestStringMembersTypes(t *testing.T) {
	if !kernel.Available {
		t.Skip("no kernels for this machine")
	}
	const strs = `{type: object, additionalProperties: {type: string}}`
	const integers = `{type: object, additionalProperties: {type: integer}}`
	checked := []schema.Option{schema.CheckTypes(true)}
	for _, c := range []struct {
		schema string
		opts   []schema.Option
		server bool
		limits limits
		doc    string
		want   bool
	}{
		{strs, nil, false, limits{}, `{"a":"b","c":"d",`, true}, {strs, nil, false, limits{}, `{"a":1,"c":"d",`, false},
		{strs, checked, false, limits{}, `{"a":"b","c":"d",`, true}, {integers, checked, false, limits{}, `{"a":"b","c":"d",`, false},
		{strs, checked, true, limits{}, `{"a":"b","c":"d",`, false}, {strs, nil, false, limits{NameBytes: 5}, `{"a":"b","c":"d",`, false},
	} {
		w := newWalker(compileYAML(t, c.schema, append(c.opts, schema.ResourceRoot(false))...), c.limits)
		w.sp, w.pos, w.AsServer = 1, 1, c.server
		w.frames[1] = frame{node: w.program.Root, kind: inObject}
		require.Equal(t, c.want, w.stringMembers([]byte(c.doc+strings.Repeat(" ", 2*skip.Slack))),
			"%+v", c)
	}
}
