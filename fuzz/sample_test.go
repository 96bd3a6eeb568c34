package fuzz

import (
	"bytes"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
)

var samplesFlag = flag.Int("samples", 2400, "how many `objects` TestSamples makes; TestNearlyValidSamples and TestChangedSamples make half as many")

// A sampledVersion makes objects of a version of the corpus, and has the server judge them.
type sampledVersion struct {
	realVersion
	first     uint64 // seed, of its own for each version
	maker     *sample.Maker
	server    *Server
	validator *Validator
}

func newSampledVersion(v realVersion) (*sampledVersion, error) {
	server, err := NewServer(v.js, k8sschema.GroupVersion{Group: v.crd.Group, Version: v.version.Name}, v.crd.Kind)
	if err != nil {
		return nil, err
	}
	validator, err := NewValidator(v.js)
	return &sampledVersion{v, 0, sample.New(v.version.Schema, v.apiVersion, v.crd.Kind), server, validator}, err
}

// judge returns the object that the server makes of a document, and its errors. Those about rules
// in CEL are apart.
func (v *sampledVersion) judge(js []byte) (object map[string]any, errs, rules field.ErrorList, err error) {
	answer, err := v.server.Decode(js)
	if err != nil {
		return nil, nil, nil, err
	}
	if strict := answer.Strict(); len(strict) > 0 {
		return nil, nil, nil, fmt.Errorf("%s", strict[0])
	}
	errs, rules = v.validator.Validate(answer.Object)
	return answer.Object, errs, rules, nil
}

// forSampled calls f for each version of the corpus, in several goroutines, with the numbers of
// objects to make.
func forSampled(t *testing.T, objects int, f func(v *sampledVersion, objects int)) (versions int) {
	if testing.Short() {
		objects = 0
	}
	all := slices.Collect(realVersions(t))
	if len(all) == 0 {
		t.Skip("there are no definitions")
	}
	inTurns(uint64(len(all)), func(i uint64) {
		s, err := newSampledVersion(all[i])
		if err != nil {
			t.Errorf("%s %s: %v", all[i].apiVersion, all[i].crd.Kind, err)
			return
		}
		s.first = i << 32
		f(s, max(objects/len(all), 3))
	})
	return len(all)
}

// TestSamples makes valid objects for the definitions of the corpus: the smallest, the full one, and
// random ones. The server must find them valid for 95 % of the versions at least. It counts which
// schemas are reached, and which objects break a rule in CEL, which package sample does not know.
func TestSamples(t *testing.T) {
	var mu sync.Mutex
	var made, reached, schemas, valid, ruled, broken int
	causes := make(map[string]int)
	versions := forSampled(t, *samplesFlag, func(v *sampledVersion, objects int) {
		found := make(map[*schema.Structural]bool)
		wrong := make(map[string]int)
		brokenHere := 0
		for n := range objects {
			object, errs, rules, err := v.judge(v.sample(n))
			if err != nil {
				wrong[err.Error()]++
			}
			for _, e := range errs {
				wrong[varying.ReplaceAllString(e.Field+": "+e.Detail, "*")]++
			}
			if len(rules) > 0 {
				brokenHere++
			}
			reach(object, v.version.Schema, found)
		}
		all := make(map[*schema.Structural]bool)
		for s := range schemasIn(v.version.Schema) {
			all[s] = true
		}

		mu.Lock()
		defer mu.Unlock()
		made, reached, schemas, broken = made+objects, reached+len(found), schemas+len(all), broken+brokenHere
		if v.validator.rules != nil {
			ruled += objects
		}
		if len(wrong) == 0 {
			valid++
		}
		for cause, n := range wrong {
			causes[v.apiVersion+" "+v.crd.Kind+": "+cause] += n
		}
	})
	t.Logf("%d objects of %d versions; all are valid for %d versions", made, versions, valid)
	t.Logf("%d of %d schemas reached (%.2f %%)", reached, schemas, float64(reached)*100/float64(schemas))
	t.Logf("%d of %d objects whose definition has rules in CEL break one", broken, ruled)
	logCounts(t, causes)
	assert.GreaterOrEqual(t, 100*valid, 95*versions)
	assert.GreaterOrEqual(t, 1000*reached, 995*schemas)
}

// varying are the parts of a message that vary from object to object.
var varying = regexp.MustCompile(`"[^"]*"|\d+`)

// sample returns the object of a number.
func (v *sampledVersion) sample(n int) []byte {
	var js []byte
	var err error
	switch n {
	case 0:
		js, err = v.maker.Smallest()
	case 1:
		js, err = v.maker.Full()
	default:
		js, err = v.maker.Valid(sample.Bytes(v.first + uint64(n)))
	}
	if err != nil {
		return []byte(err.Error()) // which the server refuses
	}
	return js
}

// reach collects the schemas of the values in x.
func reach(x any, s *schema.Structural, reached map[*schema.Structural]bool) {
	if s == nil {
		return
	}
	reached[s] = true
	switch x := x.(type) {
	case map[string]any:
		for name, v := range x {
			if p := s.Properties[name]; p != nil {
				reach(v, p, reached)
			} else if s.AdditionalProperties != nil {
				reach(v, s.AdditionalProperties.Schema, reached)
			}
		}
	case []any:
		for _, v := range x {
			if s.Items != nil {
				reach(v, s.Items.Schema, reached)
			}
		}
	}
}

// TestNearlyValidSamples makes objects in which one value violates its schema. The server must
// refuse each of them.
func TestNearlyValidSamples(t *testing.T) {
	var mu sync.Mutex
	keywords := make(map[string]int)
	forSampled(t, *samplesFlag/2, func(v *sampledVersion, objects int) {
		for n := range objects {
			js, violation, err := v.maker.NearlyValid(sample.Bytes(v.first + uint64(n)))
			if err != nil {
				t.Errorf("%s %s: %v", v.apiVersion, v.crd.Kind, err)
				return
			}
			if _, errs, _, err := v.judge(js); err == nil && len(errs) == 0 {
				t.Errorf("%s %s: nothing is wrong: %v\n%s", v.apiVersion, v.crd.Kind, violation, js)
			}
			mu.Lock()
			keywords[violation.Keyword]++
			mu.Unlock()
		}
	})
	t.Log(keywords)
	assert.GreaterOrEqual(t, len(keywords), 12)
}

// TestChangedSamples changes valid objects, which must be valid afterwards.
func TestChangedSamples(t *testing.T) {
	var mu sync.Mutex
	same, total := 0, 0
	forSampled(t, *samplesFlag/2, func(v *sampledVersion, objects int) {
		for n := range objects {
			old, err := v.maker.Valid(sample.Bytes(v.first + uint64(n)))
			if err != nil {
				t.Errorf("%s %s: %v", v.apiVersion, v.crd.Kind, err)
				return
			}
			js, err := v.maker.Changed(old, sample.Bytes(v.first+uint64(n)+1))
			if err == nil {
				var errs field.ErrorList
				_, errs, _, err = v.judge(js)
				if len(errs) > 0 {
					err = errs.ToAggregate()
				}
			}
			if err != nil {
				t.Errorf("%s %s: %v\n%s\n%s", v.apiVersion, v.crd.Kind, err, old, js)
			}
			mu.Lock()
			total++
			if bytes.Equal(old, js) {
				same++
			}
			mu.Unlock()
		}
	})
	t.Logf("%d of %d are not changed", same, total)
	require.Less(t, 5*same, total)
}
