package decoder_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

var wild = flag.Int("wild", 60, "how many random `schemas` TestWildSchemas takes")

// A wilderness makes schemas that no server would accept: every keyword anywhere. It also makes
// documents for them.
type wilderness struct {
	*rand.Rand
	made []*schema.Structural // which may be used again, also in themselves
}

func (w *wilderness) in(n int) bool { return w.IntN(n) == 0 }

func oneOf[T any](w *wilderness, of ...T) T { return of[w.IntN(len(of))] }

var wildNames = []string{
	"a", "b", "c", "k", "apiVersion", "kind", "metadata", "spec", "status", "name", "generateName", "labels",
	"exactly-16-bytes", "longer-than-sixteen-bytes", "é", `q"t`, "Kind",
}

var wildScalars = []string{
	`0`, `1`, `-1`, `-0`, `2`, `10`, `1.0`, `1.5`, `1e2`, `1e39`, `2147483648`, `999999999999999999`, `9223372036854775808`,
	`""`, `"a"`, `"b"`, `"ab"`, `"A"`, `"é"`, `"\u0061"`, `"1"`, `"v1"`, `"x y"`, `"a/b"`, `"2026-11-23"`, `true`, `false`, `null`,
	`"a text that is longer than sixteen bytes"`, `[]`, `{}`, `[1,1]`, `["a"]`, `[[1]]`, `{"a":1}`, `[{"a":1},{"a":1}]`, `[null,null]`,
}

func (w *wilderness) names() (list []string) {
	for range 1 + w.IntN(2) {
		list = append(list, oneOf(w, wildNames...))
	}
	return list
}

func (w *wilderness) schema(depth int) *schema.Structural {
	if len(w.made) > 0 && w.in(12) {
		return oneOf(w, w.made...)
	}
	s := new(schema.Structural)
	w.made = append(w.made, s)
	s.Type = oneOf(w, "object", "object", "object", "array", "array", "string", "integer", "number", "boolean", "", "", "odd")
	s.Nullable = w.in(4)
	if s.Type == "object" || w.in(10) {
		s.Properties = make(map[string]*schema.Structural)
		for range w.IntN(4) {
			if depth < 4 {
				s.Properties[oneOf(w, wildNames...)] = w.schema(depth + 1)
			}
		}
		if w.in(25) {
			for i := range 62 + w.IntN(8) {
				s.Properties[fmt.Sprint("f", i)] = &schema.Structural{Type: "integer"}
			}
		}
	}
	if w.in(6) && depth < 4 {
		s.AdditionalProperties = &schema.SchemaOrBool{Allows: !w.in(3)}
		if s.AdditionalProperties.Allows && !w.in(3) {
			s.AdditionalProperties.Schema = w.schema(depth + 1)
		}
	}
	if s.Type == "array" && !w.in(8) && depth < 4 || w.in(15) && depth < 4 {
		s.Items = &schema.SchemaOrArray{Schema: w.schema(depth + 1)}
	}
	yes := true
	if w.in(8) {
		s.XPreserveUnknownFields = &yes
	}
	s.XEmbeddedResource, s.XIntOrString = w.in(10), w.in(10)
	if s.Type == "array" && !w.in(3) || w.in(12) {
		kind := oneOf(w, "set", "map", "map", "atomic")
		s.XListType, s.XListMapKeys = &kind, w.names()
		if s.Items != nil && s.Items.Schema != nil && kind == "map" {
			for name := range s.Items.Schema.Properties {
				if w.in(2) {
					s.XListMapKeys[0] = name
				}
			}
		}
	}
	w.rules(s)
	if w.in(5) && depth < 4 {
		for range 1 + w.IntN(2) {
			for _, list := range []*[]*schema.Structural{&s.AllOf, &s.AnyOf, &s.OneOf} {
				if !w.in(3) {
					continue
				}
				below := w.schema(depth + 1)
				if w.in(2) {
					below = &schema.Structural{Required: w.names()}
				}
				*list = append(*list, below)
			}
		}
		if w.in(3) {
			s.Not = w.schema(depth + 1)
		}
	}
	if w.in(8) {
		s.Default = []byte(oneOf(w, wildScalars...))
	}
	return s
}

// rules adds rules for a value alone.
func (w *wilderness) rules(s *schema.Structural) {
	number := func(of ...float64) *float64 { v := oneOf(w, of...); return &v }
	count := func() *int64 { v := int64(w.IntN(5) - 1); return &v }
	for i, rule := range []func(){
		func() { s.Required = w.names() },
		func() { s.Minimum, s.ExclusiveMinimum = number(-1, 0, 1, 1.5, 1<<53, 1e19), w.in(2) },
		func() { s.Maximum, s.ExclusiveMaximum = number(-1, 0, 1, 1.5, 1<<53, 1e19), w.in(2) },
		func() { s.MultipleOf = number(1, 2, 0.5, -1) },
		func() { s.MinLength = count() }, func() { s.MaxLength = count() },
		func() { s.MinItems = count() }, func() { s.MaxItems = count() },
		func() { s.MinProperties = count() }, func() { s.MaxProperties = count() },
		func() { s.Pattern = oneOf(w, "^a", "b", "^.{1,2}$", "(") },
		func() { s.Format = oneOf(w, "date", "int32", "int64", "float", "double", "byte", "odd", "ipv4") },
		func() { s.UniqueItems = true },
		func() {
			for range 1 + w.IntN(3) {
				s.Enum = append(s.Enum, []byte(oneOf(w, wildScalars...)))
			}
		},
	} {
		if w.in(8) || i == 0 && w.in(5) {
			rule()
		}
	}
}

// value appends a value that more or less follows the schema.
func (w *wilderness) value(b []byte, s *schema.Structural, depth int) []byte {
	if s == nil || depth > 6 || w.in(8) {
		return append(b, oneOf(w, wildScalars...)...)
	}
	if s.Default != nil && w.in(8) || len(s.Enum) > 0 && w.in(2) {
		if s.Default == nil || len(s.Enum) > 0 {
			return append(b, s.Enum[w.IntN(len(s.Enum))]...)
		}
		return append(b, s.Default...)
	}
	space := func() {
		for w.in(12) {
			b = append(b, oneOf(w, " ", "\n", "      ")...)
		}
	}
	switch {
	case s.Type == "array" || s.Type == "" && s.Items != nil:
		var item *schema.Structural
		if s.Items != nil {
			item = s.Items.Schema
		}
		b = append(b, '[')
		for i := range w.IntN(4) {
			if i > 0 {
				b = append(b, ',')
			}
			space()
			b = w.value(b, item, depth+1)
			space()
		}
		return append(b, ']')
	case s.Type == "object" || s.Properties != nil:
		b = append(b, '{')
		names := slices.Concat(s.Required, s.XListMapKeys)
		for name := range s.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		names = slices.Compact(names)
		if depth == 0 || s.XEmbeddedResource {
			names = append(names, "apiVersion", "kind", "metadata")
		}
		if w.in(3) {
			names = append(names, oneOf(w, wildNames...))
		}
		w.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		first := true
		for _, name := range names {
			if w.in(6) {
				continue
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			space()
			b = append(append(b, quotedName(name)...), ':')
			space()
			below := s.Properties[name]
			if below == nil && s.AdditionalProperties != nil {
				below = s.AdditionalProperties.Schema
			}
			switch {
			case (depth == 0 || s.XEmbeddedResource) && name == "metadata" && !w.in(8):
				b = append(b, oneOf(w, `{"name":"a"}`, `{"name":"b","labels":{"a":"b"}}`, `{"generateName":"a-"}`, `{}`,
					`{"name":"a","annotations":{"a/b":"c"},"finalizers":["a/b"]}`, `{"name":"","generateName":"x"}`,
					`{"labels":{"a":"b c","d":null}}`, `{"name":"a","name":"A","ownerReferences":[{"uid":"1"}]}`)...)
			case (depth == 0 || s.XEmbeddedResource) && (name == "kind" || name == "apiVersion") && !w.in(8):
				b = append(b, oneOf(w, `"a"`, `"v1"`, `"Ab"`)...)
			default:
				b = w.value(b, below, depth+1)
			}
			space()
		}
		return append(b, '}')
	}
	return append(b, oneOf(w, wildScalars[:28]...)...)
}

func quotedName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `\"`) + `"` }

// A wildOutcome is what a decoder says of a document.
type wildOutcome struct {
	out, err string
	findings []string
}

func wildFindings(d *decoder.Decoder) (texts []string) {
	for _, f := range d.Findings() {
		if f.Kind != ferrors.InvalidValue {
			texts = append(texts, f.Detail()+" "+f.Path.String())
		}
	}
	return texts
}

func wildDecode(d *decoder.Decoder, doc []byte, how int) (o wildOutcome) {
	var out []byte
	var err error
	switch how {
	case 0:
		out, err = d.AppendJSON(nil, doc)
	case 1:
		out, err = d.AppendYAML(nil, doc)
	case 2:
		out, err = io.ReadAll(d.NewReader(bytes.NewReader(doc)))
	case 3:
		out, err = io.ReadAll(d.NewReader(iotest.OneByteReader(bytes.NewReader(doc))))
	}
	o.out, o.findings = string(out), wildFindings(d)
	if err != nil {
		o.err = err.Error()
	}
	return o
}

// sortedLines returns the lines of a text in an order of its own: streams may find in another order
// what is in one place.
func sortedLines(text string) []string { return slices.Sorted(strings.SplitSeq(text, "\n")) }

// described returns the start of a schema, which may contain itself.
func described(s *schema.Structural) string {
	js, err := s.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return string(js)
}

// TestWildSchemas asserts for schemas of all kinds that validations which are not asked for change
// nothing, and that a decoder that validates finds what the exact validator finds.
func TestWildSchemas(t *testing.T) {
	defer decoder.SetFirstWindow(16)()
	invalid, valid := 0, 0
	for seed := range uint64(decoder.Fewer(*wild)) {
		w := &wilderness{Rand: rand.New(rand.NewPCG(seed, 8))}
		s := w.schema(0)
		isResource := !w.in(3)
		s.XEmbeddedResource = s.XEmbeddedResource && isResource // no server has another such root
		opts := []schema.Option{
			oneOf(w, schema.Deployed, schema.Deployed, schema.KEP), schema.CheckTypes(w.in(4)),
			schema.ResourceRoot(isResource), schema.PreserveUnknownFields(w.in(6)),
		}
		compile := func(opts ...schema.Option) (*schema.Program, error) { return schema.Compile(s, opts...) }
		if w.in(3) {
			selector := oneOf(w, ".spec.a", ".status.b", ".a")
			v := schema.Version{Name: "v1", Schema: s, HasStatus: w.in(2), Scale: &schema.Scale{
				SpecReplicasPath: oneOf(w, ".spec.a", ".spec.b.c", ".a"), StatusReplicasPath: oneOf(w, ".status.a", ".status.k.a"),
				LabelSelectorPath: oneOf(w, nil, &selector)}}
			c := &schema.CRD{Kind: "a", Scope: "Namespaced", Versions: []schema.Version{v}}
			compile = func(opts ...schema.Option) (*schema.Program, error) { return c.Program("v1", opts...) }
		}
		plain, err := compile(opts...)
		ruled, errRuled := compile(append(opts, validation.Values())...)
		require.Equal(t, err, errRuled, "seed %d", seed)
		if err != nil {
			continue
		}
		as := oneOf(w, decoder.ValidateCreate, decoder.ValidateStatusUpdate)
		request := program.Create
		if as == decoder.ValidateStatusUpdate {
			request = program.StatusUpdate
		}
		settings := []decoder.Option{
			oneOf(w, decoder.Warn, decoder.Strict, decoder.Ignore),
			oneOf(w, decoder.Standalone, decoder.Standalone, decoder.ServerRequests, decoder.ServerStorage, decoder.ServerTypedRequests),
			decoder.Limits{Findings: 1 << 16, FindingBytes: 1 << 24},
		}
		isServer := settings[1] != decoder.Standalone
		decoders := []*decoder.Decoder{
			decoder.New(plain, settings...), decoder.New(ruled, settings...), decoder.New(ruled, append(settings, as)...),
		}
		sent := decoder.New(ruled, settings[1], decoder.Ignore, decoder.NumbersAsSent(true))
		if !isServer {
			sent = decoder.New(ruled, decoder.ServerTypedRequests, decoder.Ignore, decoder.NumbersAsSent(true))
		}
		takesLong := false
		for n := range 24 {
			doc := w.value(nil, s, 0)
			for how := range 4 {
				if how >= 2 && isServer {
					break
				}
				want, got := wildDecode(decoders[0], doc, how), wildDecode(decoders[1], doc, how)
				if want.err != "" && strings.HasPrefix(want.out, got.out) {
					got.out = want.out // how much a stream writes before an error is open
				}
				require.Equal(t, want, got, "seed %d, document %d, way %d: %s", seed, n, how, doc)
			}
			if takesLong {
				continue
			}
			want := wildDecode(decoders[0], doc, 0)
			out, err := decoders[2].AppendJSON(nil, doc)
			if e, ok := err.(*ferrors.LimitError); ok && e.Limit == ferrors.LimitValidationSteps {
				takesLong = true // as any document of this schema
				continue
			}
			require.Equal(t, want.out, string(out), "seed %d: %s", seed, doc)
			require.Equal(t, want.findings, wildFindings(decoders[2]))
			if want.err != "" && len(out) == 0 {
				continue
			}
			if !isServer {
				judged := sortedLines(details(decoders[2].Findings()))
				for how := 2; how < 4; how++ {
					got := wildDecode(decoders[2], doc, how)
					if strings.Contains(got.err, "first was sent already") || strings.Contains(got.err, "first at") {
						continue // a name that repeats ends a stream
					}
					require.Equal(t, judged, sortedLines(details(decoders[2].Findings())), "seed %d, document %d, way %d of %.3000s: %s", seed, n, how, described(s), doc)
				}
				_, err = decoders[2].AppendJSON(nil, doc)
			}
			// Numbers are validated as they were sent, and metadata as a server has it.
			settled, err2 := sent.AppendJSON(nil, doc)
			if !isServer {
				settled, err2 = sent.AppendJSON(nil, out)
			}
			refused := err2 != nil && len(settled) == 0 // what only requests may not have
			if refused {
				settled = out
			}
			errs, complete := program.Of(ruled).Validator.Validate(settled, request, 1<<26)
			if !complete {
				continue
			}
			var missing, texts []string
			for i := range errs {
				missing = append(missing, errs[i].Error())
			}
			for _, f := range decoders[2].Findings() {
				if f.Kind == ferrors.InvalidValue {
					texts = append(texts, f.Invalid.Error())
				}
			}
			slices.Sort(missing)
			slices.Sort(texts)
			if !slices.Equal(missing, texts) && !(refused && len(missing) > 0 && len(texts) > 0) {
				found := func(in []string) func(string) bool {
					return func(text string) bool { return slices.Contains(in, text) }
				}
				t.Fatalf("seed %d, document %d of %.2000s:\n%s\n%s\nnot found: %q\nadded: %q", seed, n,
					described(s), doc, out, slices.DeleteFunc(slices.Clone(missing), found(texts)), slices.DeleteFunc(texts, found(missing)))
			}
			if len(errs) > 0 {
				require.Error(t, err)
				invalid++
			} else {
				valid++
			}
		}
	}
	t.Logf("%d documents are invalid, %d valid", invalid, valid)
	require.Greater(t, min(invalid, valid), decoder.Fewer(*wild))
}
