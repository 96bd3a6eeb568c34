package screen_test

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/screen"
	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

var schemas = flag.Int("schemas", 50, "how many random `schemas` TestSoundness takes")

// A subject is a program whose screen is compared with its validator.
type subject struct {
	p        *program.Program
	decoders []*decoder.Decoder
	judges   map[program.Request][]*decoder.Decoder // decoders that validate
	settle   *decoder.Decoder                       // brings metadata into the form in which the server validates it
	m        *screen.Machine

	stored []byte // the last result, as a server has it
	// How many results there were, how many the screen passed, and how many were valid.
	seen, passed, valid, updated int
}

func newSubject(p *schema.Program, m *screen.Machine) *subject {
	limits := decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30}
	judges := make(map[program.Request][]*decoder.Decoder)
	for as, v := range map[program.Request]decoder.ValueValidation{
		program.Create: decoder.ValidateCreate, program.StatusUpdate: decoder.ValidateStatusUpdate,
	} {
		judges[as] = []*decoder.Decoder{decoder.New(p, v, limits), decoder.New(p, v, limits, decoder.ServerRequests)}
	}
	return &subject{
		p: program.Of(p), m: m,
		decoders: []*decoder.Decoder{
			decoder.New(p), decoder.New(p, decoder.ServerRequests, decoder.NumbersAsSent(true)),
		},
		settle: decoder.New(p, decoder.ServerTypedRequests, decoder.NumbersAsSent(true)),
		judges: judges,
	}
}

// textsOf returns the texts of errors or of invalid values, in an order of its own.
func textsOf(errs []program.Error, found errors.List) (texts []string) {
	for i := range errs {
		texts = append(texts, errs[i].Error())
	}
	for _, f := range found {
		if f.Kind == errors.InvalidValue {
			texts = append(texts, f.Invalid.Error())
		}
	}
	slices.Sort(texts)
	return texts
}

// check asserts that the screen passes no result of the document that has an error, and that a
// decoder that validates finds all its errors.
func (s *subject) check(t testing.TB, src []byte, describe func() string) {
	t.Helper()
	for i, d := range s.decoders {
		out, err := d.AppendJSON(nil, src)
		if err != nil {
			continue
		}
		for _, as := range []program.Request{program.Create, program.StatusUpdate} {
			passes := s.m.IsValid(s.p, out, as)
			errs, complete := s.p.Validator.Validate(out, as, 1<<26)
			s.seen++
			judge := s.judges[as][i]
			_, _ = judge.AppendJSON(nil, src)
			settled, err := s.settle.AppendJSON(nil, out)
			if err != nil {
				settled = out
			} else {
				s.checkUpdate(t, settled, as, describe)
			}
			exact, _ := s.p.Validator.Validate(settled, as, 1<<26)
			if want, got := textsOf(exact, nil), textsOf(nil, judge.Findings()); !slices.Equal(want, got) {
				t.Fatalf("a decoder finds not the errors, but %q, for request %d:\n%s\n%q\n%s", got, as, out, want, describe())
			}
			if len(errs) == 0 && complete {
				s.valid++
			}
			if !passes {
				continue
			}
			s.passed++
			require.True(t, complete)
			if len(errs) > 0 {
				t.Fatalf("the screen passes what has errors, for request %d:\n%s\n%s\n%s",
					as, out, errs[0].Error(), describe())
			}
		}
	}
}

// checkUpdate asserts that the screen passes no update that has an error: of an object by itself, and
// of the last one, with the metadata of the object.
func (s *subject) checkUpdate(t testing.TB, object []byte, as program.Request, describe func() string) {
	var is, was map[string]json.RawMessage
	if json.Unmarshal(object, &is) != nil || is == nil {
		return
	}
	olds := [][]byte{object}
	if json.Unmarshal(s.stored, &was) == nil {
		was["metadata"] = is["metadata"]
		old, err := json.Marshal(was)
		require.NoError(t, err)
		olds = append(olds, old)
	}
	for _, old := range olds {
		passes := s.m.IsValidUpdate(s.p, object, old, true)
		if as == program.StatusUpdate {
			passes = s.m.IsValidStatusUpdate(s.p, object, old, true)
		} else {
			as = program.Update
		}
		if !passes {
			continue
		}
		s.updated++
		errs, complete := s.p.Validator.ValidateUpdate(object, old, as, 1<<26)
		require.True(t, complete)
		if len(errs) > 0 {
			t.Fatalf("the screen passes an update that has errors, for request %d:\n%s\n%s\n%s\n%s",
				as, old, object, errs[0].Error(), describe())
		}
	}
	s.stored = object
}

// TestSoundness asserts for random definitions and documents that the screen passes no object that
// has an error, in no kind, for no request, with and without a definition.
func TestSoundness(t *testing.T) {
	var m screen.Machine
	var seen, passed, valid, updated int
	for seed := range uint64(*schemas) {
		r := rand.New(rand.NewPCG(seed, 1))
		crd := laws.RandomDefinition(r)
		s := crd.Versions[0].Schema
		var subjects []*subject
		compiled, err := crd.Program("v1", validation.Values())
		require.NoError(t, err)
		subjects = append(subjects, newSubject(compiled, &m))
		for _, resource := range []bool{true, false} {
			compiled, err := schema.Compile(s, validation.Values(), schema.ResourceRoot(resource))
			require.NoError(t, err)
			subjects = append(subjects, newSubject(compiled, &m))
		}
		describe := func() string {
			js, _ := s.MarshalJSON()
			return string(js)
		}
		check := func(doc []byte) {
			for i, of := range subjects {
				of.check(t, doc, func() string { return "subject " + string(rune('0'+i)) + " " + crd.Scope + "\n" + describe() })
			}
		}
		for range 40 {
			check(laws.RandomDocument(r, crd))
		}
		maker, err := sample.Of(crd, "v1")
		require.NoError(t, err)
		for range 4 {
			check(maker.Mutated(sample.Bytes(r.Uint64())))
		}
		for _, of := range subjects {
			seen, passed, valid = seen+of.seen, passed+of.passed, valid+of.valid
			updated += of.updated
		}
	}
	t.Logf("%d results, %d valid, %d passed, with %d updates", seen, valid, passed, updated)
	require.Greater(t, updated, seen/20)
}

// TestSoundnessOfRealDefinitions is TestSoundness for definitions of the corpus, in which each rule
// is broken once in a while.
func TestSoundnessOfRealDefinitions(t *testing.T) {
	const every = 7 // versions without their neighbours, as they are much alike
	var m screen.Machine
	var seen, passed, valid, n int
	for file := range corpus.CRDs(t) {
		crds, err := schema.ParseCRD(file.Data)
		require.NoError(t, err)
		for _, crd := range crds {
			for _, v := range crd.Versions {
				if n++; n%every > 0 || testing.Short() && n%(5*every) > 0 {
					continue
				}
				compiled, err := crd.Program(v.Name, validation.Values())
				require.NoError(t, err)
				maker, err := sample.Of(crd, v.Name)
				require.NoError(t, err)
				of := newSubject(compiled, &m)
				check := func(doc []byte) {
					of.check(t, doc, func() string { return crd.Name + ", " + v.Name })
				}
				for i := range uint64(4) {
					bytes := sample.Bytes(i)
					check(maker.Mutated(bytes))
					if doc, err := maker.Valid(bytes); err == nil {
						check(doc)
						near, _, err := maker.NearlyValid(bytes)
						require.NoError(t, err)
						check(near)
					}
				}
				if doc, err := maker.Full(); err == nil {
					check(doc)
				}
				seen, passed, valid = seen+of.seen, passed+of.passed, valid+of.valid
			}
		}
	}
	t.Logf("%d versions, %d results, %d valid, %d passed", n/every, seen, valid, passed)
}
