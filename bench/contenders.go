package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// An Output says which result a contender's result is compared with.
type Output uint8

// The outputs. The first is the result of all the work.
const (
	Decoded       Output = iota // the Kubernetes result: pruned, without nulls, defaulted
	Parsed                      // the document as it is
	Verdict                     // no result: only whether the document is accepted
	Partial                     // the result of a stage, which is compared with nothing
	Valid                       // whether a server would create the object; a result is compared with nothing
	DecodedStruct               // Decoded, in a struct
	ParsedStruct                // Parsed, in a struct
)

// A Contender does a piece of work in its own way.
type Contender struct {
	Name   string
	Output Output
	Less   string // the part of the job that it does not do
	// Start prepares the work on a document.
	Start func(d *Document) Run
}

// A Run is the work on a document, prepared. Do is what is timed.
type Run struct {
	Do func() error
	// Result returns the result of the last Do: JSON as []byte, or a value.
	Result func() any
	// Findings returns the strict errors of the last Do, if they are texts.
	Findings func() []string
}

// toBytes is a run that makes JSON in a buffer that it keeps. Documents of a schema share the
// buffer, as in a server: with one for each document of the corpus, the figures would be those of
// caches.
func toBytes(d *Document, do func(dst []byte) ([]byte, error)) Run {
	// It shares no line of the cache, as goroutines would otherwise wait for each other.
	type buffer struct {
		_     [64]byte
		bytes []byte
		_     [64]byte
	}
	dst := &made(d.Schema, "buffer", func() *buffer { return new(buffer) }).bytes
	return Run{
		Do: func() (err error) {
			*dst, err = do((*dst)[:0])
			return err
		},
		Result: func() any { return *dst },
	}
}

// toValue is a run that makes a value.
func toValue(do func() (any, error)) Run {
	var v any
	return Run{
		Do:     func() (err error) { v, err = do(); return err },
		Result: func() any { return v },
	}
}

// verdict is a run without a result.
func verdict(do func() error) Run { return Run{Do: do} }

// A Job is work that all of its contenders do. The others are compared with the first.
type Job struct {
	Name, Title string
	InYAML      bool // the documents are read as YAML
	Many        bool // a run does each document many times, so only ratios are meaningful
	Verdict     bool // it is for the workloads of Verdicts, and only for these
	Contenders  []Contender
}

// takes reports whether the job is for a workload.
func (j *Job) takes(w *Workload) bool {
	isLong := w.Docs[0].Times > 1
	switch j.Name {
	case "cores":
		return isLong
	case "list":
		return isLong || w.Name == "W8"
	case structs:
		return slices.Contains([]string{"W1", "W2", "W3", "W4", "typed"}, w.Name)
	}
	if w.Typed || isLong {
		return false
	}
	return j.Verdict == w.Verdict && j.hasRules() == w.Rules && (!j.InYAML || w.Docs[0].YAML != nil)
}

// hasRules reports whether rules in CEL are evaluated.
func (j *Job) hasRules() bool { return j.Name == "rules" }

// Jobs returns all jobs.
func Jobs() []*Job {
	return slices.Concat([]*Job{
		{"bytes", "JSON to JSON: decode, prune, drop nulls, default, marshal", false, false, false,
			slices.Concat([]Contender{ours("Espalier AppendJSON, Ignore", decoder.Ignore)}, kubernetesBytes(), jsontextPruners(false), peersToBytes())},
		{"strict", "JSON to JSON, strict: as before, with paths of unknown and duplicate fields", false, false, false,
			slices.Concat([]Contender{ours("Espalier AppendJSON, Strict", decoder.Strict)}, kubernetesStrict(), jsontextPruners(true))},
		{"busy", "JSON to JSON on all processors at the same time", false, true, false,
			busy(ours("Espalier AppendJSON, Ignore", decoder.Ignore), kubernetesBytes()[0])},
		{"busystrict", "JSON to JSON, strict, on all processors at the same time", false, true, false,
			busy(ours("Espalier AppendJSON, Strict", decoder.Strict), kubernetesStrict()[0])},
		{"map", "JSON to map[string]any: decode, prune, drop nulls, default", false, false, false,
			slices.Concat([]Contender{oursToMap(), rebuilt()}, kubernetesMap(), peersToMap())},
		structJob(),
		{"skip", "Skipping an unknown subtree, all of its grammar validated", false, false, false,
			slices.Concat([]Contender{oursSkipping()}, skippers())},
		{"yaml", "YAML to JSON bytes, strict: parse, prune, drop nulls, default, marshal", true, false, false,
			slices.Concat([]Contender{oursFromYAML()}, kubernetesYAML())},
		{"yamlbridge", "YAML to JSON bytes or to a value, no schema", true, false, false,
			slices.Concat([]Contender{oursYAMLOnly()}, peersYAML())},
		listJob(),
		coresJob(),
	}, verdictJobs())
}

// allFindings keeps the findings that the default limits would only count, as Kubernetes keeps
// them, and allows documents of 100 MB their defaults.
var allFindings = decoder.Limits{Findings: 1 << 24, FindingBytes: 1 << 30, DefaultBytes: 1 << 30}

// decoderOf returns the decoder of a schema for a mode. Documents of one schema share it, as in a
// server.
func decoderOf(s *Schema, v decoder.FieldValidation) *decoder.Decoder {
	type key struct{ decoder.FieldValidation }
	return made(s, key{v}, func() *decoder.Decoder {
		return decoder.New(s.Program, v, allFindings)
	})
}

func ours(name string, v decoder.FieldValidation) Contender {
	return Contender{name, Decoded, "", func(d *Document) Run {
		dec := decoderOf(d.Schema, v)
		r := toBytes(d, func(dst []byte) ([]byte, error) {
			dst, err := dec.AppendJSON(dst, d.Src)
			return dst, unlessStrict(err)
		})
		if v == decoder.Strict {
			r.Findings = func() []string { return textsOf(dec) }
		}
		return r
	}}
}

// unlessStrict drops the errors that come with a complete result.
func unlessStrict(err error) error {
	if _, ok := err.(*errors.StrictError); ok { // errors.As would allocate, and be counted
		return nil
	}
	return err
}

func textsOf(d *decoder.Decoder) (list []string) {
	for _, f := range d.Findings() {
		list = append(list, f.Error())
	}
	return list
}

func oursToMap() Contender {
	return Contender{"Espalier Unmarshal, Ignore", Decoded, "", func(d *Document) Run {
		dec := decoderOf(d.Schema, decoder.Ignore)
		var m map[string]any
		return Run{
			Do:     func() error { m = nil; return dec.Unmarshal(d.Src, &m) },
			Result: func() any { return m },
		}
	}}
}

var nothingDeclared = sync.OnceValue(func() *schema.Program {
	s, err := schema.Parse([]byte(`{type: object}`))
	if err != nil {
		panic(err)
	}
	p, err := schema.Compile(s, schema.ResourceRoot(false))
	if err != nil {
		panic(err)
	}
	return p
})

// oursSkipping drops the document as the value of a field that is not declared.
func oursSkipping() Contender {
	return Contender{"Espalier AppendJSON of {\"x\": document}, Ignore", Verdict, "", func(d *Document) Run {
		dec := made(d.Schema, "skipper", func() *decoder.Decoder {
			return decoder.New(nothingDeclared(), decoder.Ignore)
		})
		src := slices.Concat([]byte(`{"x":`), d.Src, []byte("}"))
		var dst []byte
		return verdict(func() (err error) { dst, err = dec.AppendJSON(dst[:0], src); return err })
	}}
}

func oursFromYAML() Contender {
	return Contender{"Espalier AppendYAML, Strict", Decoded, "", func(d *Document) Run {
		dec := decoderOf(d.Schema, decoder.Strict)
		r := toBytes(d, func(dst []byte) ([]byte, error) {
			dst, err := dec.AppendYAML(dst, d.YAML)
			return dst, unlessStrict(err)
		})
		r.Findings = func() []string { return textsOf(dec) }
		return r
	}}
}

func oursYAMLOnly() Contender {
	return Contender{"Espalier yamlbridge, with positions", Parsed, "", func(d *Document) Run {
		r := made(d.Schema, "yamlbridge", func() *yamlbridge.Reader { return new(yamlbridge.Reader) })
		return toBytes(d, func(dst []byte) ([]byte, error) { return r.AppendJSON(dst, d.YAML) })
	}}
}

// Compare runs a contender once, and says whether its result is wrong.
func Compare(c *Contender, d *Document) error {
	r := c.Start(d)
	if err := r.Do(); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	want, err := wanted(c.Output, d)
	if err != nil || want == nil {
		return err
	}
	got := r.Result()
	if js, ok := got.([]byte); ok {
		if got, err = valueOf(js); err != nil {
			return fmt.Errorf("%s: %w in its result", c.Name, err)
		}
	}
	if !reflect.DeepEqual(sameNumbers(got), want.object) {
		return fmt.Errorf("%s: another value than Kubernetes: %s", c.Name, firstDifference(got, want.object))
	}
	if r.Findings == nil {
		return nil
	}
	if got := r.Findings(); !slices.Equal(got, want.findings) {
		return fmt.Errorf("%s: other findings than Kubernetes: %.500q, not %.500q", c.Name, got, want.findings)
	}
	return nil
}

// An answer is the result of Kubernetes for a document, with numbers as float64.
type answer struct {
	object   any
	findings []string
}

type answerKey struct {
	*Document
	Output
}

func wanted(output Output, d *Document) (*answer, error) {
	var err error
	answerOf := func() *answer {
		var a answer
		switch output {
		case Decoded:
			a.object, a.findings, err = decodeStrict(d.Src, d.Structural)
		case Parsed:
			a.object, err = valueOf(d.Src)
		case DecodedStruct:
			a.object, err = wantedDecodedStruct(d)
		case ParsedStruct:
			a.object, err = wantedStruct(d, d.Src)
		}
		a.object = sameNumbers(a.object)
		return &a
	}
	if !slices.Contains([]Output{Decoded, Parsed, DecodedStruct, ParsedStruct}, output) {
		return nil, nil
	}
	a := made(d.Schema, answerKey{d, output}, answerOf)
	return a, err
}

func valueOf(js []byte) (v any, err error) {
	return v, kjson.UnmarshalCaseSensitivePreserveInts(bytes.TrimSpace(js), &v)
}

// sameNumbers converts each number to float64, as some peers have no int64.
func sameNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = sameNumbers(e)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, e := range v {
			l[i] = sameNumbers(e)
		}
		return l
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case int:
		return float64(v)
	case json.Number:
		f, _ := v.Float64()
		return f
	}
	return v
}

// firstDifference says roughly where two values differ.
func firstDifference(got, want any) string {
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	i := 0
	for i < min(len(g), len(w)) && g[i] == w[i] {
		i++
	}
	from := max(0, i-60)
	return fmt.Sprintf("%.120s, not %.120s", g[from:], w[from:])
}
