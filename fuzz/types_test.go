package fuzz

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// jsonType matches the server's message for a value of a wrong type. If the schema has a format,
// the message names the format instead, also for strings in a wrong format.
var jsonType = regexp.MustCompile("must be of type (object|array|string|boolean|integer|number):")

// TestTypes compares the wrong types that CheckTypes reports with those that the server's
// validation refuses. The objects are resources of the corpus with mistakes in them.
func TestTypes(t *testing.T) {
	validators := map[*comparer]validation.SchemaValidator{}
	comparers := realSchemas(t, func(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error) {
		c, err := newComparer(s, js, append(opts, schema.CheckTypes(true))...)
		if err != nil {
			return nil, err
		}
		internal, err := toInternal(js)
		if err != nil {
			return nil, err
		}
		validators[c], _, err = validation.NewSchemaValidator(internal)
		return c, err
	})
	objects, mismatches, mutants := 0, 0, 6
	if testing.Short() {
		mutants = 2
	}
	for o := range realObjects(t) {
		c := comparers[o.apiVersion+" "+o.kind]
		if c == nil {
			continue
		}
		objects++
		for n := range uint64(mutants) {
			mutant := o.js
			if n > 0 {
				mutant = Mutate(o.js, rand.New(rand.NewPCG(uint64(objects), n)))
			}
			if bytes.Contains(mutant, []byte(`"":`)) {
				continue // the server spells empty names differently
			}
			answer, err := c.server.Decode(mutant)
			if err != nil {
				continue
			}
			d := decoder.New(c.program)
			_, err = d.AppendJSON(nil, mutant)
			if err != nil && !errors.As(err, new(*ferrors.TypeError)) {
				continue
			}
			got, want := map[string]bool{}, map[string]bool{}
			for _, f := range d.Findings() {
				if f.Kind == ferrors.TypeMismatch {
					got[f.Path.String()] = true
				}
			}
			for _, err := range validation.ValidateCustomResource(nil, answer.Object, validators[c]) {
				switch {
				// Nulls and junctors are up to validation.
				case strings.HasSuffix(err.Detail, `"null"`), err.Field == "<nil>":
				case jsonType.MatchString(err.Detail), strings.Contains(err.Detail, "must be of type") && got[err.Field]:
					want[err.Field] = true
				}
			}
			mismatches += len(want)
			assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)), "%s\n%s", o.file, mutant)
		}
	}
	t.Logf("%d objects, %d values of wrong types", objects, mismatches)
	assert.Greater(t, mismatches, 100)
}
