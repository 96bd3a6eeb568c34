package fuzz

import (
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/spec"
	"github.com/espalier-dev/espalier/schema"
)

// specified returns what the specification says of a document. What is no JSON, or has a number
// beyond the range of float64, is no document.
func specified(r spec.Rules, doc []byte) ([]byte, ferrors.List, error) {
	var v any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(doc, &v); err != nil {
		return nil, nil, err
	}
	document, err := spec.Parse(doc)
	if err != nil {
		return nil, nil, err
	}
	result, found, ok := r.Decode(document)
	if !ok {
		return nil, nil, &ferrors.TypeError{Findings: found}
	}
	return spec.Text(result), found, nil
}

// specComparer returns a maker of what compares the specification, in a mode, with the server.
func specComparer(newComparer maker, mode spec.Mode) maker {
	return func(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error) {
		c, err := newComparer(s, js, opts...)
		if err == nil {
			rules := spec.NewRules(s, schema.Deployed, true).In(mode)
			c.rules = &rules
		}
		return c, err
	}
}

// TestSpecParity compares the specification with the server.
func TestSpecParity(t *testing.T) {
	for _, m := range []struct {
		name        string
		newComparer maker
		mode        spec.Mode
	}{
		{"as sent", newComparer, spec.AsSent},
		{"requests", newExactComparer, spec.Requests},
		{"stored", newStorageComparer, spec.Stored},
	} {
		t.Run(m.name, func(t *testing.T) {
			testParity(t, specComparer(m.newComparer, m.mode), *pairsFlag/4)
		})
	}
}

// TestSpec compares the decoder with the specification, under both semantics.
func TestSpec(t *testing.T) {
	var compared, refused, skipped atomic.Int64
	forSchemas(t, *pairsFlag/2, func(first uint64) {
		s, js := NewSchema(first)
		for _, semantics := range []schema.Semantics{schema.Deployed, schema.KEP} {
			program, err := schema.Compile(s, semantics)
			if err != nil {
				skipped.Add(1) // a default of another type, by the KEP
				continue
			}
			limits := decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30, DefaultBytes: 1 << 16}
			d := decoder.New(program, limits)
			rules := spec.NewRules(s, semantics, true)
			for seed := first; seed < first+DocumentsPerSchema && !t.Failed(); seed++ {
				doc, _ := NewDocument(seed, s)
				if !isDocument(doc) {
					continue
				}
				out, err := d.AppendJSON(nil, doc)
				if difference := rules.Difference(doc, out, d.Findings(), err); difference != "" {
					t.Errorf("seed %d, %s: %s\nschema:   %s\ndocument: %s",
						seed, semantics, difference, js, doc)
				}
				compared.Add(1)
				if err != nil {
					refused.Add(1)
				}
			}
		}
	})
	t.Logf("%d pairs compared, %d of them refused; %d schemas skipped",
		compared.Load(), refused.Load(), skipped.Load())
	assert.Less(t, refused.Load(), compared.Load()/2)
}

// isDocument reports whether a text is one that the specification is about.
func isDocument(doc []byte) bool {
	var v any
	return jsontext.Value(doc).IsValid(jsontext.AllowDuplicateNames(true)) &&
		kjson.UnmarshalCaseSensitivePreserveInts(doc, &v) == nil
}
