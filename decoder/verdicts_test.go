package decoder_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/respell"
	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

var definitions = flag.Int("definitions", 30, "how many random `definitions` TestVerdicts takes")

// requests are what values are validated for.
var requests = []decoder.ValueValidation{decoder.ValidateCreate, decoder.ValidateStatusUpdate}

// TestVerdicts asserts the laws about values that are validated, for random definitions and
// documents, in all readings.
func TestVerdicts(t *testing.T) {
	defer decoder.SetFirstWindow(16)()
	for seed := range uint64(*definitions) {
		r := rand.New(rand.NewPCG(seed, 2))
		crd := laws.RandomDefinition(r)
		compile := func(opts ...schema.Option) (*schema.Program, error) { return crd.Program("v1", opts...) }
		if seed%3 == 0 {
			compile = func(opts ...schema.Option) (*schema.Program, error) {
				return schema.Compile(crd.Versions[0].Schema, opts...)
			}
		}
		v, err := laws.NewVerdicts(compile, laws.Reading(seed%uint64(laws.Readings)), requests[seed/3%2],
			schema.Semantics(seed/6%2), schema.ResourceRoot(seed%3 > 0 || seed/3%2 == 0))
		require.NoError(t, err)
		m, err := sample.Of(crd, "v1")
		require.NoError(t, err)
		for n := range 16 {
			doc := laws.RandomDocument(r, crd)
			if n%4 == 3 {
				doc = m.Mutated(sample.Bytes(r.Uint64()))
			}
			if n%2 == 1 {
				doc = respell.RandomStyle(r).Append(nil, doc, r)
			}
			v.Check(t, doc)
			if n < 4 {
				v.CheckEntryPoints(t, seed+uint64(n), doc)
			}
		}
	}
}

// TestValidationsDropNothing has what validations once made a decoder drop.
func TestValidationsDropNothing(t *testing.T) {
	s, err := schema.Parse([]byte(`{type: object, properties: {spec: {type: string}}}`))
	require.NoError(t, err)
	crd := &schema.CRD{Group: "example.com", Kind: "Trellis", Versions: []schema.Version{{
		Name: "v1", Schema: s, Scale: &schema.Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"},
	}}}
	p, err := crd.Program("v1", validation.Values())
	require.NoError(t, err)
	for _, mode := range []decoder.ServerMode{decoder.Standalone, decoder.ServerTypedRequests} {
		d := decoder.New(p, mode, decoder.ValidateCreate)
		out, err := d.AppendJSON(nil, []byte(`{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a"},"spec":"x"}`))
		var invalid *ferrors.InvalidError
		require.ErrorAs(t, err, &invalid)
		require.Equal(t, `.spec.replicas: Invalid value: 0: .spec.replicas accessor error: x is of the type string, expected map[string]interface{}`,
			invalid.Findings()[0].Invalid.Error())
		require.Contains(t, string(out), `"spec":"x"`)
	}
}

// FuzzVerdicts asserts the laws about values that are validated, for any schema and document.
func FuzzVerdicts(f *testing.F) {
	corpus.AddSeeds(f)
	defer decoder.SetFirstWindow(16)()
	seedPairs(f, func(schema, doc []byte, n int) { f.Add(schema, doc, uint8(n%choices), uint64(n)) })
	f.Fuzz(func(t *testing.T, schemaText, src []byte, of uint8, seed uint64) {
		s, c := parseSmall(schemaText), choice(of)
		if s == nil || len(src) > 8192 {
			return
		}
		v, err := laws.NewVerdicts(
			func(opts ...schema.Option) (*schema.Program, error) { return schema.Compile(s, opts...) },
			c.reading(), requests[seed%2], c.dialect(), schema.ResourceRoot(c.resource()), c.preserve())
		if err != nil {
			return
		}
		v.Check(t, src)
		v.CheckEntryPoints(t, seed, src)
	})
}

// FuzzUpdates asserts for documents that replace stored objects that a decoder finds what the exact
// validator does, in all ways into it and each time, and fails where that has no objects.
func FuzzUpdates(f *testing.F) {
	corpus.AddSeeds(f)
	defer decoder.SetFirstWindow(16)()
	seedPairs(f, func(schema, doc []byte, n int) {
		f.Add(schema, doc, doc, uint8(n%choices))
		f.Add(schema, bytes.ReplaceAll(doc, []byte("a"), []byte("b")), doc, uint8(n%choices))
	})
	f.Fuzz(func(t *testing.T, schemaText, old, src []byte, of uint8) {
		s, c := parseSmall(schemaText), choice(of)
		if s == nil || len(src) > 8192 || len(old) > 8192 {
			return
		}
		p, err := schema.Compile(s, c.dialect(), schema.ResourceRoot(c.resource()), c.preserve(), validation.Values())
		if err != nil {
			return
		}
		for as, request := range map[decoder.ValueValidation]program.Request{
			decoder.ValidateUpdate: program.Update, decoder.ValidateStatusUpdate: program.StatusUpdate,
		} {
			d := decoder.New(p, as, decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30})
			d.SetOld(slices.Concat(old))
			out, err := d.AppendJSON(nil, src)
			found := details(d.Findings())
			texts := textsOf(d.Findings())
			again, err2 := d.AppendJSON(nil, src)
			require.Equal(t, err, err2)
			require.Equal(t, string(out), string(again))
			require.Equal(t, found, details(d.Findings()))
			if invalid := new(ferrors.InvalidError); err != nil && !errors.As(err, &invalid) {
				return
			}
			_, err2 = io.ReadAll(d.NewReader(iotest.OneByteReader(bytes.NewReader(src))))
			require.Equal(t, err, err2)
			require.Equal(t, found, details(d.Findings()))
			errs, complete := program.Of(p).Validator.ValidateUpdate(out, old, request|program.AsSent, 1<<30)
			require.True(t, complete)
			want := make([]string, len(errs))
			for i := range errs {
				want[i] = errs[i].Error()
			}
			slices.Sort(want)
			require.Equal(t, want, texts, "%s after %s", out, old)
		}
	})
}

func textsOf(list ferrors.List) []string {
	texts := make([]string, 0, len(list))
	for _, f := range list {
		if f.Kind == ferrors.InvalidValue {
			texts = append(texts, f.Invalid.Error())
		}
	}
	slices.Sort(texts)
	return texts
}
