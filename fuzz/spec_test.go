package fuzz

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// withSpec returns a maker of what compares three: the server, the decoder, and the specification
// in a mode.
func withSpec(newComparer maker, mode spec.Mode) maker {
	return func(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error) {
		c, err := newComparer(s, js, opts...)
		if err != nil {
			return nil, err
		}
		rules := spec.NewRules(s, schema.Deployed, true).In(mode)
		third := *c
		third.rules, third.notes = &rules, make(map[string]int)
		c.third = &third
		return c, nil
	}
}

// compareThird compares the specification with the outcome of the decoder, which is of class k
// when compared with the server. A specification that agrees with the decoder is of that class,
// too. Where the decoder does not get as far as the schema, it is compared with the server itself.
func (c *comparer) compareThird(doc, out []byte, found ferrors.List, err error, k class) (_ class, what, detail string) {
	var mismatch *ferrors.TypeError
	if err != nil && !errors.As(err, &mismatch) || !isDocument(doc) {
		c.notes["specification and server alone"]++
		alone, what, detail := c.third.compare(doc)
		if alone == differs {
			return differs, "specification and server: " + what, detail
		}
		return k, "", ""
	}
	if detail = c.third.rules.Difference(doc, out, found, err); detail != "" {
		return differs, "specification and decoder", detail
	}
	return k, "", ""
}

// TestSpecParity compares three for each pair: the packages of the server, the decoder, and the
// specification. They agree on results, on findings with their order, and on what is refused.
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
			testParity(t, withSpec(m.newComparer, m.mode), *pairsFlag)
		})
	}
}

// TestKEP compares the decoder with the specification under schema.KEP, which no server implements.
func TestKEP(t *testing.T) {
	var compared, refused, skipped atomic.Int64
	forSchemas(t, *pairsFlag, func(first uint64) {
		if t.Failed() {
			return
		}
		s, js := NewSchema(first)
		program, err := schema.Compile(s, schema.KEP)
		if err != nil {
			skipped.Add(1) // a default of another type
			return
		}
		limits := decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30, DefaultBytes: 1 << 16}
		d := decoder.New(program, limits)
		rules := spec.NewRules(s, schema.KEP, true)
		for seed := first; seed < first+DocumentsPerSchema && !t.Failed(); seed++ {
			doc := NewDocument(seed, s)
			if !isDocument(doc) {
				continue
			}
			out, err := d.AppendJSON(nil, doc)
			if difference := rules.Difference(doc, out, d.Findings(), err); difference != "" {
				t.Errorf("seed %d: %s\nschema:   %s\ndocument: %s", seed, difference, js, doc)
			}
			compared.Add(1)
			if err != nil {
				refused.Add(1)
			}
		}
	})
	t.Logf("%d pairs compared, %d of them refused; %d schemas skipped",
		compared.Load(), refused.Load(), skipped.Load())
	assert.Greater(t, refused.Load(), compared.Load()/20)
	assert.Less(t, refused.Load(), compared.Load()/2)
}

// TestObjectMeta holds the types of metadata in the specification against those of Kubernetes.
func TestObjectMeta(t *testing.T) {
	want := asJSON(reflect.TypeFor[metav1.ObjectMeta]())
	assert.Contains(t, want, "\nownerReferences,omitempty []{\napiVersion string")
	assert.Equal(t, want, asJSON(reflect.TypeFor[spec.ObjectMeta]()))
}

// asJSON describes how values of a Go type are read and written: names, options, and types.
func asJSON(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[spec.Time]():
		return "time"
	case reflect.TypeFor[metav1.FieldsV1](), reflect.TypeFor[json.RawMessage]():
		return "any JSON"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + asJSON(t.Elem())
	case reflect.Slice:
		return "[]" + asJSON(t.Elem())
	case reflect.Map:
		return "map of " + asJSON(t.Key()) + " to " + asJSON(t.Elem())
	case reflect.Struct:
		var text strings.Builder
		for f := range t.Fields() {
			// On a struct omitempty has no effect.
			tag := strings.ReplaceAll(f.Tag.Get("json"), ",omitempty,omitzero", ",omitzero")
			text.WriteString("\n" + tag + " " + asJSON(f.Type))
		}
		return "{" + text.String() + "\n}"
	}
	return t.Kind().String()
}

// isDocument reports whether a text is one that the specification is about.
func isDocument(doc []byte) bool {
	var v any
	return jsontext.Value(doc).IsValid(jsontext.AllowDuplicateNames(true)) &&
		kjson.UnmarshalCaseSensitivePreserveInts(doc, &v) == nil
}
