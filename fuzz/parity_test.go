package fuzz

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

var (
	pairsFlag     = flag.Int("pairs", 40_000, "how many generated `pairs` TestParity compares")
	mutationsFlag = flag.Int("mutations", 20, "how many `mutations` of each real resource TestRealResources compares")
	reportsFlag   = flag.Int("reports", 5, "how many `differences` of each sort are reported")
	examplesFlag  = flag.Bool("examples", false, "print a minimal `example` of each difference that is meant")
	fromFlag      = flag.Uint64("from", 0, "the `seed` that TestParity starts with")
)

// A class is the outcome of a comparison. Those that are no difference, and
// those that have a name here, are no errors.
type class string

const (
	same       class = "same"
	bothRefuse class = "both refuse"
	capped     class = "the oracle is capped"

	// What the hardened default refuses.
	hardenedUTF8 class = "refused: invalid UTF-8, or a surrogate without a partner"

	// What comes from reading kind and apiVersion in a pass of its own.
	sniffCase  class = "accepted: KIND and the like, of another type"
	sniffLoser class = "accepted: kind or apiVersion of another type, where a later one replaces it"

	// What comes from metadata being kept as it was sent.
	metaTime     class = "accepted: what is no time in metadata"
	metaDefaults class = "value: defaults in metadata, of what normalisation removes"

	// What comes from storage.
	serverPanics class = "accepted: without metadata, at which the server panics"

	// Everything else.
	differs class = "DIFFERENCE"
)

// A comparer compares the decoder with the server for one schema.
type comparer struct {
	schema  *schema.Structural
	server  *Server
	program *schema.Program
	decoder *decoder.Decoder
	// exact is for a decoder that is made with decoder.Kubernetes, to which no
	// difference in verdict or value is allowed.
	exact bool
	// stored is for documents that come from storage, which are not looked at for
	// findings.
	stored bool
	notes  map[string]int
}

func newComparer(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error) {
	server, err := NewServer(js, testVersion, testKind)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	server.AnyType = true
	program, err := schema.Compile(s, opts...)
	if err != nil {
		return nil, err
	}
	limits := decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30, NumberBytes: 1 << 20, NameBytes: 1 << 20}
	return &comparer{schema: s, server: server, program: program, decoder: decoder.New(program, decoder.WithLimits(limits)), notes: make(map[string]int)}, nil
}

// newExactComparer is newComparer for the decoder that stands in for the server.
func newExactComparer(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error) {
	c, err := newComparer(s, js, opts...)
	if err != nil {
		return nil, err
	}
	c.exact = true
	limits := decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30}
	c.decoder = decoder.New(c.program, decoder.WithLimits(limits), decoder.Kubernetes())
	c.server.AnyType, c.server.AnyKind = false, true
	return c, nil
}

// newStorageComparer is newComparer for the decoder of what is stored.
func newStorageComparer(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error) {
	c, err := newExactComparer(s, js, opts...)
	if err != nil {
		return nil, err
	}
	c.stored = true
	c.decoder = decoder.New(c.program, decoder.FromStorage(), decoder.FieldValidation(decoder.Ignore))
	return c, nil
}

// compare returns the class of the outcome, and for a difference what it is.
func (c *comparer) compare(doc []byte) (_ class, what, detail string) {
	if c.stored {
		return c.compareStored(doc)
	}
	answer, theirs := c.server.Decode(doc)
	out, ours := c.decoder.AppendJSON(nil, doc)
	var fault *StageError
	errors.As(theirs, &fault)
	switch {
	case fault != nil && fault.Stage == Capped:
		return capped, "", ""
	case theirs != nil && ours != nil:
		return c.bothRefuse(doc, ours)
	case c.exact && ours != nil:
		return differs, "verdict: only we refuse", ours.Error()
	case c.exact && theirs != nil && fault.Stage != Sniff:
		return differs, "verdict: only they refuse", theirs.Error()
	case ours != nil:
		return c.onlyWeRefuse(doc, ours)
	case theirs != nil:
		return onlyTheyRefuse(doc, fault)
	}
	if what, detail := c.compareFindings(answer); what != "" {
		return differs, what, detail
	}
	if c.exact {
		return compareExactly(answer.Object, out)
	}
	return c.compareValues(doc, answer, out)
}

// compareExactly compares with what the server would write: a client reads that.
func compareExactly(object map[string]any, out []byte) (_ class, what, detail string) {
	var got map[string]any
	repeats, err := kjson.UnmarshalStrict(out, &got)
	if err != nil || len(repeats) > 0 {
		return differs, "output", fmt.Sprintf("%s\n%v %v", out, err, repeats)
	}
	if want := reread(object); !reflect.DeepEqual(want, any(got)) {
		return differs, "value", fmt.Sprintf("they: %s\nwe:   %s", show(object), out)
	}
	return same, "", ""
}

func (c *comparer) onlyWeRefuse(doc []byte, err error) (_ class, what, detail string) {
	var syntax *decoder.SyntaxError
	if errors.As(err, &syntax) && !jsontext.Value(doc).IsValid(jsontext.AllowDuplicateNames(true)) &&
		jsontext.Value(doc).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return hardenedUTF8, "", ""
	}
	return differs, "verdict: only we refuse", err.Error()
}

func onlyTheyRefuse(doc []byte, fault *StageError) (_ class, what, detail string) {
	var object map[string]any
	_, _ = kjson.UnmarshalStrict(doc, &object)
	text := fault.Error()
	switch {
	case fault.Stage == Sniff && strings.Contains(text, "into Go struct field"):
		for name, v := range object {
			if _, isString := v.(string); !isString && (name == "kind" || name == "apiVersion") {
				return differs, "verdict: only they refuse", text
			}
			if name != "kind" && name != "apiVersion" && (strings.EqualFold(name, "kind") || strings.EqualFold(name, "apiVersion")) {
				return sniffCase, "", ""
			}
		}
		return sniffLoser, "", ""
	case (fault.Stage == RootMetadata || fault.Stage == EmbeddedMetadata) && strings.Contains(text, "parsing time"):
		return metaTime, "", ""
	}
	return differs, "verdict: only they refuse", text
}

// compareValues compares the results after normalising what is left of metadata
// in both, as the server did before it inserted defaults.
func (c *comparer) compareValues(doc []byte, a *Answer, out []byte) (_ class, what, detail string) {
	// Where nothing checks a default, it may hold metadata that does not fit.
	// Of that, what fits is compared.
	drop := c.normalise(a.Object, false) != nil
	if drop {
		_ = c.normalise(a.Object, true)
	}
	got, repeats, err := c.normalised(out, drop)
	if err != nil || len(repeats) > 0 {
		return differs, "output", fmt.Sprintf("%s\n%v %v", out, err, repeats)
	}
	if reflect.DeepEqual(a.Object, got) {
		return same, "", ""
	}
	detail = fmt.Sprintf("they: %s\nwe:   %s", show(a.Object), show(got))
	// What if metadata had been normalised before it was sent?
	b, _, err := c.server.coerce(doc)
	if err != nil {
		return differs, "value", detail
	}
	out, err = c.decoder.AppendJSON(nil, []byte(show(b.Object)))
	if err == nil {
		if got, _, err = c.normalised(out, drop); err == nil && reflect.DeepEqual(reread(got), reread(a.Object)) {
			return metaDefaults, "", ""
		}
	}
	return differs, "value", detail
}

func (c *comparer) normalise(object map[string]any, drop bool) error {
	if err := objectmeta.Coerce(nil, object, c.server.schema, true, drop); err != nil {
		return err
	}
	return nil // no nil of a type
}

func (c *comparer) normalised(out []byte, drop bool) (object map[string]any, repeats []error, err error) {
	if repeats, err = kjson.UnmarshalStrict(out, &object); err == nil {
		err = c.normalise(object, drop)
	}
	return object, repeats, err
}

// reread writes and reads a value, in which 1.0 becomes 1.
func reread(v any) any {
	var again any
	_ = kjson.UnmarshalCaseSensitivePreserveInts([]byte(show(v)), &again)
	return again
}

func show(v any) string {
	js, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(js)
}

// A tally counts outcomes, and keeps the first differences of each sort.
type tally struct {
	sync.Mutex
	classes map[class]int
	notes   map[string]int
	reports map[string][]string
	// examples has a minimal pair for each class of its own, if asked for.
	examples map[class]string
}

func newTally() *tally {
	return &tally{classes: map[class]int{}, notes: map[string]int{}, reports: map[string][]string{}, examples: map[class]string{}}
}

func (y *tally) add(c class, what string, report func() string) {
	y.Lock()
	defer y.Unlock()
	y.classes[c]++
	if _, known := y.examples[c]; !known && *examplesFlag && c != same && c != differs {
		y.examples[c] = report()
	}
	if c == differs {
		y.notes[what]++
		if len(y.reports[what]) < *reportsFlag {
			y.reports[what] = append(y.reports[what], report())
		}
	}
}

// addSilently counts a difference like one that was reported.
func (y *tally) addSilently(what string) {
	y.Lock()
	defer y.Unlock()
	y.classes[differs]++
	y.notes[what]++
}

func (y *tally) log(t *testing.T) {
	for _, c := range slices.SortedFunc(maps.Keys(y.classes), func(a, b class) int { return cmp.Compare(y.classes[b], y.classes[a]) }) {
		t.Logf("%9d %s", y.classes[c], c)
		if example, ok := y.examples[c]; ok {
			t.Log(example)
		}
	}
	for _, note := range slices.Sorted(maps.Keys(y.notes)) {
		t.Logf("%9d %s", y.notes[note], note)
	}
	for _, reports := range y.reports {
		for _, report := range reports {
			t.Error(report)
		}
	}
}

// A maker makes comparers.
type maker func(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error)

// TestParity compares generated pairs.
func TestParity(t *testing.T) { testParity(t, newComparer) }

// TestExactParity compares them with the decoder that stands in for the server.
func TestExactParity(t *testing.T) { testParity(t, newExactComparer) }

// TestStorageParity does so for what comes from storage.
func TestStorageParity(t *testing.T) { testParity(t, newStorageComparer) }

func testParity(t *testing.T, newComparer maker) {
	pairs := *pairsFlag
	if testing.Short() {
		pairs = 2000
	}
	started, y := time.Now(), newTally()
	shards := uint64(runtime.GOMAXPROCS(0))
	first, last := *fromFlag/DocumentsPerSchema, (*fromFlag+uint64(pairs)-1)/DocumentsPerSchema
	var wait sync.WaitGroup
	for shard := range shards {
		wait.Go(func() {
			for n := first + shard; n <= last; n += shards {
				comparePairs(n*DocumentsPerSchema, y, newComparer)
			}
		})
	}
	wait.Wait()
	t.Logf("%d pairs from seed %d on, in %v", (last-first+1)*DocumentsPerSchema, first*DocumentsPerSchema, time.Since(started).Round(time.Second))
	y.log(t)
	require.Greater(t, y.classes[same], pairs/2)
}

// comparePairs compares all documents for one schema.
func comparePairs(first uint64, y *tally, newComparer maker) {
	s, js := NewSchema(first)
	c, err := newComparer(s, js)
	if err != nil {
		y.add(differs, "schema", func() string { return fmt.Sprintf("seed %d: %v\n%s", first, err, js) })
		return
	}
	reported := make(map[string]bool) // once for a schema
	for seed := first; seed < first+DocumentsPerSchema; seed++ {
		doc, _ := NewDocument(seed, s)
		k, what, _ := c.compare(doc)
		if k == differs {
			if reported[what] {
				y.addSilently(what)
				continue
			}
			reported[what] = true
		}
		y.add(k, what, func() string {
			s, doc := minimise(s, doc, k, what, newComparer)
			return fmt.Sprintf("seed %d\n%s", seed, explain(s, doc, newComparer))
		})
	}
	y.Lock()
	for note, n := range c.notes {
		y.notes[note] += n
	}
	y.Unlock()
}

func explain(s *schema.Structural, doc []byte, newComparer maker) string {
	js := marshal(s)
	c, err := newComparer(s, js)
	if err != nil {
		return err.Error()
	}
	k, what, detail := c.compare(doc)
	text := fmt.Sprintf("%s: %s\nschema:   %s\ndocument: %q\n%s", k, what, js, doc, detail)
	if k == differs {
		return text
	}
	answer, theirs := c.server.Decode(doc)
	out, ours := c.decoder.AppendJSON(nil, doc)
	if theirs == nil {
		text += fmt.Sprintf("\nthey: %s", show(answer.Object))
	}
	return text + fmt.Sprintf("\nthey: %v\nwe:   %s %v", theirs, out, ours)
}
