package screen_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/screen"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A realObject is a decoded resource of the corpus.
type realObject struct {
	file           string
	program        *schema.Program
	source, result []byte
	yaml           []byte
}

func realObjects(t testing.TB) (list []realObject) {
	catalog := schema.NewCatalog(validation.Values())
	for file := range corpus.CRDs(t) {
		crds, err := schema.ParseCRD(file.Data)
		require.NoError(t, err)
		for _, crd := range crds {
			_ = catalog.Add(crd)
		}
	}
	for file := range corpus.Samples(t) {
		for doc := range yamlbridge.Documents(file.Data) {
			js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
			require.NoError(t, err)
			apiVersion, kind, err := decoder.PeekType(js)
			require.NoError(t, err)
			p, err := catalog.Lookup(apiVersion, kind)
			if err != nil {
				continue
			}
			if out, err := decoder.New(p).AppendJSON(nil, js); err == nil {
				list = append(list, realObject{file.Name, p, js, out, doc.Bytes})
			}
		}
	}
	return list
}

// TestRealObjects asserts that nearly all valid objects pass, and that no other does.
func TestRealObjects(t *testing.T) {
	total, valid, passed := 0, 0, 0
	var m screen.Machine
	for _, o := range realObjects(t) {
		total++
		p := program.Of(o.program)
		got := m.IsValid(p, o.result, program.Create)
		errs, complete := p.Validator.Validate(o.result, program.Create, 1<<24)
		require.True(t, complete)
		if len(errs) == 0 {
			valid++
			if got {
				passed++
			} else {
				t.Logf("%s: doubted\n%s", o.file, o.result)
			}
		} else if got {
			t.Errorf("%s passed: %v", o.file, errs[0].Error())
		}
	}
	t.Logf("%d objects, %d valid, %d passed", total, valid, passed)
	require.GreaterOrEqual(t, 100*passed, 98*valid, "valid objects that pass")
	require.Greater(t, valid, 600)
}

// TestRealUpdates asserts that nearly all valid objects pass as updates of themselves, as the server has
// stored them, and allocate nothing then.
func TestRealUpdates(t *testing.T) {
	total, passed := 0, 0
	var m screen.Machine
	var buf []byte
	for _, o := range realObjects(t) {
		p := program.Of(o.program)
		var old map[string]any
		require.NoError(t, json.Unmarshal(o.result, &old))
		metadata, _ := old["metadata"].(map[string]any)
		if metadata["name"] == nil || !m.IsValid(p, o.result, program.StatusUpdate) {
			continue
		}
		for name, value := range map[string]any{
			"uid": "u", "creationTimestamp": "2020-01-01T00:00:00Z", "generation": 1, "namespace": "default",
		} {
			if metadata[name] == nil {
				metadata[name] = value
			}
		}
		stored, err := json.Marshal(old)
		require.NoError(t, err)
		for _, as := range []decoder.ValueValidation{decoder.ValidateUpdate, decoder.ValidateStatusUpdate} {
			d := decoder.New(o.program, as)
			d.SetOld(stored)
			buf, err = d.AppendJSON(buf[:0], o.source)
			require.NoError(t, err, o.file)
			total++
			if testing.AllocsPerRun(3, func() { buf, _ = d.AppendJSON(buf[:0], o.source) }) == 0 {
				passed++
			} else {
				t.Logf("%s: doubted as %s\n%s", o.file, as, stored)
			}
		}
	}
	t.Logf("%d updates, %d passed", total, passed)
	require.GreaterOrEqual(t, 100*passed, 98*total)
}

// TestRealObjectsAllocateNothing asserts that a decoder that has seen a valid object allocates
// nothing for it.
func TestRealObjectsAllocateNothing(t *testing.T) {
	decoders := make(map[*schema.Program]*decoder.Decoder)
	var buf []byte
	for _, o := range realObjects(t) {
		d := decoders[o.program]
		if d == nil {
			d = decoder.New(o.program, decoder.ValidateCreate)
			decoders[o.program] = d
		}
		if _, err := d.AppendJSON(nil, o.source); err != nil {
			continue
		}
		p := program.Of(o.program)
		var m screen.Machine
		if !m.IsValid(p, o.result, program.Create) {
			continue
		}
		buf, _ = d.AppendYAML(buf[:0], o.yaml)
		require.Zero(t, testing.AllocsPerRun(3, func() { buf, _ = d.AppendJSON(buf[:0], o.source) }), "JSON of %s", o.file)
		require.Zero(t, testing.AllocsPerRun(3, func() { buf, _ = d.AppendYAML(buf[:0], o.yaml) }), "YAML of %s", o.file)
		require.Zero(t, testing.AllocsPerRun(3, func() { m.IsValid(p, o.result, program.Create) }), "screen for %s", o.file)
	}
}
