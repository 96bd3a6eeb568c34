package examine

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// TestReadDivided wants others than the examiner itself to examine all of each form of a large input.
// That their results are those of one, package main tests.
func TestReadDivided(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	object := func() string {
		random := make([]byte, 1000) // which gzip cannot make smaller by much
		for i := range random {
			random[i] = byte('!' + r.IntN(90))
		}
		text := strings.NewReplacer(`"`, `x`, `\`, `x`).Replace(string(random))
		return `{"apiVersion":"example.com/v1","kind":"Thing","text":"` + text + `"}`
	}
	const count = 2000
	objects := make([]string, count)
	for i := range objects {
		objects[i] = object()
	}
	list := `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(objects, ",") + `]}`
	stream := strings.Join(objects, "\n---\n")
	for name, text := range map[string]string{
		"list.json": list, "row.json": strings.Join(objects, " "), "lines.ndjson": strings.Join(objects, "\n"),
		"list.yaml":   "apiVersion: v1\nkind: List\nitems:\n- " + strings.Join(objects, "\n- "),
		"stream.yaml": stream, "stream.yaml.gz": compressed(t, stream),
	} {
		file := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		s, err := schemas.Load(schemas.Sources{}, schema.CheckTypes(true))
		require.NoError(t, err)
		e := New(&Settings{Loaded: s, Validation: decoder.Strict, Workers: 3})
		var others atomic.Int32
		visited := 0
		e.ReadDivided(file, nil, func(by *Examiner, _ *Object) {
			if by != e {
				others.Add(1)
			}
		}, func(o *Object) bool {
			visited++
			assert.Nil(t, o.Doc.JSON)
			return true
		})
		assert.Equal(t, int32(count), others.Load(), name)
		if strings.HasPrefix(name, "list") {
			visited-- // the List itself
		}
		assert.Equal(t, count, visited, name)
	}
}

func compressed(t *testing.T, text string) string {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.Greater(t, packed.Len(), 1<<20)
	return packed.String()
}
