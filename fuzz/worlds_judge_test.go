package fuzz

import (
	"bytes"
	"encoding/json"
	stderrors "errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/spec"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// A worldDocument is a document in all the forms in which it is decoded.
type worldDocument struct {
	number uint64
	value  *worldValue
	text   []byte    // with white space behind it
	yaml   [3][]byte // by form
	typed  []byte    // the text of a resource
	named  []byte    // the same with metadata
}

// A worldValue is what documents with the same names and values have in common.
type worldValue struct {
	name                 string // the text without escapes
	asSent, typed, named spec.Value
}

// padding has nothing that is decoded, but lets machines read ahead.
const padding = 64

// What a resource has besides.
const (
	typeMembers = `"apiVersion":"example.com/v1","kind":"Thing"`
	nameMember  = `,"metadata":{"name":"n"}`
)

// A worldFamily has documents and schemas, each of which is compiled in some kinds. Its documents are in
// blocks, which are made when they are needed. Documents with one value are neighbors.
type worldFamily struct {
	documents, schemas, kinds uint64
	schema                    func(i uint64) *schema.Structural
	document                  func(b []byte, i uint64) []byte
	order                     []uint64 // of documents
	blocks                    []worldBlock
	newJudge                  func(s *schema.Structural, kind uint64) (worldJudge, error)
}

type worldBlock struct {
	once      sync.Once
	documents []worldDocument
}

// units is how many pairs of a schema and a kind there are.
func (f *worldFamily) units() uint64 { return f.schemas * f.kinds }

func (f *worldFamily) blocksOf() uint64 { return f.units() * uint64(len(f.blocks)) }

func newWorldFamilies() []*worldFamily {
	pruned, names := NewWorld(9, WorldNames, WorldScalars), []string{`"a"`, `"b"`}
	families := []*worldFamily{{
		documents: pruned.Documents(), schemas: WorldSchemas(), kinds: 4, newJudge: newPruneJudge,
		schema: WorldSchema, document: pruned.AppendDocument,
	}}
	values := WorldValueSchemas()
	// In ten tokens a list has two objects with keys. With nulls that would be too many.
	long, short := NewWorld(10, names, []string{"1", `"s"`}), NewWorld(8, names, []string{"1", `"s"`, "null"})
	for _, w := range []*World{long, short} {
		families = append(families, &worldFamily{
			documents: w.Values(), schemas: uint64(len(values)), kinds: 1, newJudge: newValueJudge,
			schema:   func(i uint64) *schema.Structural { return values[i] },
			document: func(b []byte, i uint64) []byte { return append(w.AppendValue(append(b, `{"a":`...), i), '}') },
		})
	}
	for _, f := range families {
		f.arrange()
	}
	return families
}

// arrange puts documents next to those that have the same value: they differ in how the name a is spelled.
func (f *worldFamily) arrange() {
	first := make(map[string]uint64)
	keys := make([]uint64, f.documents)
	f.order = make([]uint64, f.documents)
	var text []byte
	for i := range f.documents {
		text = f.document(text[:0], i)
		plain := strings.ReplaceAll(string(text), `\u0061`, "a")
		if _, ok := first[plain]; !ok {
			first[plain] = i
		}
		f.order[i], keys[i] = i, first[plain]
	}
	slices.SortStableFunc(f.order, func(a, b uint64) int { return int(keys[a]) - int(keys[b]) })
	f.blocks = make([]worldBlock, (f.documents+blockLength-1)/blockLength)
}

// block returns the documents of the i-th block.
func (f *worldFamily) block(i uint64) []worldDocument {
	b := &f.blocks[i]
	b.once.Do(func() {
		plain, value := "", (*worldValue)(nil)
		for _, number := range f.order[i*blockLength : min((i+1)*blockLength, f.documents)] {
			d := worldDocument{number: number, text: f.document(nil, number)}
			rest := d.text[1:]
			if len(rest) > 1 {
				rest = append([]byte{','}, rest...)
			}
			d.typed = slices.Concat([]byte("{"+typeMembers), rest)
			d.named = slices.Concat([]byte("{"+typeMembers+nameMember), rest)
			for form := range d.yaml {
				d.yaml[form] = AppendYAML(nil, d.text, form)
			}
			if text := strings.ReplaceAll(string(d.text), `\u0061`, "a"); text != plain {
				plain, value = text, &worldValue{plain, parsed(d.text), parsed(d.typed), parsed(d.named)}
			}
			d.value = value
			length := len(d.text)
			d.text = append(d.text, bytes.Repeat([]byte(" "), padding)...)[:length]
			b.documents = append(b.documents, d)
		}
	})
	return b.documents
}

func parsed(text []byte) spec.Value {
	v, err := spec.Parse(text)
	if err != nil {
		panic(err) // a document of a world is JSON
	}
	return v
}

// A worldJudge compares decoders of one schema with the specification.
type worldJudge interface {
	// compare decodes a document in one of the ways that there are, and says what is not as specified.
	compare(d *worldDocument, turn uint64) string
	// class returns a text that is the same for schemas between which the specification does not
	// distinguish for the document that was compared, and the mode of a server. It is nil if no
	// server is to be asked, or if the class was returned before.
	class(b []byte) ([]byte, spec.Mode)
}

// A worldReader decodes a document in one way.
type worldReader struct {
	chunks           oneByte
	read             bytes.Buffer
	out              []byte
	warn             *decoder.Decoder
	isMadeOfGoValues bool
	value            any
}

// readings is how many ways there are to read a document.
const readings = 9

// decode decodes a document in one way.
func (r *worldReader) decode(d *decoder.Decoder, doc *worldDocument, way uint64) (err error) {
	r.out, r.isMadeOfGoValues = r.out[:0], false
	switch way {
	case 0:
		r.out, err = d.AppendJSON(r.out, doc.text)
	case 1: // so that all of it may be simple
		r.out, err = d.AppendJSON(r.out, doc.text[:len(doc.text)+padding])
	case 2:
		r.out, err = d.AppendYAML(r.out, doc.text)
	case 3:
		r.value, r.isMadeOfGoValues = nil, true
		err = d.Unmarshal(doc.text, &r.value)
	case 4:
		r.chunks.left = doc.text
		r.read.Reset()
		_, err = r.read.ReadFrom(d.NewReader(&r.chunks))
		r.out = append(r.out, r.read.Bytes()...)
	case 5:
		r.read.Reset()
		writer := d.NewWriter(&r.read)
		for i := 0; i < len(doc.text) && err == nil; i += 3 {
			_, err = writer.Write(doc.text[i:min(i+3, len(doc.text))])
		}
		if e := writer.Close(); err == nil {
			err = e
		}
		r.out = append(r.out, r.read.Bytes()...)
	default:
		r.out, err = d.AppendYAML(r.out, doc.yaml[way-6])
	}
	return err
}

// isOnlyOfStreams reports whether an error is for a name that repeats: a stream cannot take back what it has sent.
// It says what is wrong if a decoder of whole documents finds no such name.
func (r *worldReader) isOnlyOfStreams(doc *worldDocument, way uint64, err error) (does bool, what string) {
	if err == nil || way != 4 && way != 5 {
		return false, ""
	}
	if _, does = stderrors.AsType[*ferrors.DuplicateError](err); !does {
		return false, ""
	}
	out, e := r.warn.AppendJSON(nil, doc.text)
	if isTypeError(e) || hasDuplicate(r.warn.Findings()) {
		return true, ""
	}
	return true, fmt.Sprintf("only a stream: %v, but %s, %v", err, out, e)
}

// difference compares what was decoded.
func (r *worldReader) difference(o *spec.Outcome, found ferrors.List, err error) string {
	if !r.isMadeOfGoValues {
		return o.Difference(r.out, found, err)
	}
	if difference := o.DifferenceInFindings(found, err); difference != "" || err != nil {
		return difference
	}
	if !isGoValue(o.Result, r.value) {
		return fmt.Sprintf("specified: %s\ngot:       %#v", spec.Text(o.Result), r.value)
	}
	return ""
}

// isGoValue reports whether x is what a value is for Go.
func isGoValue(v spec.Value, x any) bool {
	switch x := x.(type) {
	case map[string]any:
		object, ok := v.(spec.Object)
		for _, m := range object {
			y, isThere := x[m.Name]
			ok = ok && isThere && isGoValue(m.Value, y)
		}
		return ok && len(x) == len(object)
	case []any:
		array, ok := v.(spec.Array)
		ok = ok && len(array) == len(x)
		for i := 0; ok && i < len(x); i++ {
			ok = isGoValue(array[i], x[i])
		}
		return ok
	case int64:
		n, ok := v.(json.Number)
		return ok && string(n) == strconv.FormatInt(x, 10)
	}
	return v == x
}

// A pruneJudge compares decoders that prune and insert defaults.
type pruneJudge struct {
	worldReader
	rules            [3]spec.Rules // by mode
	ways             uint64
	strict           *decoder.Decoder
	requests, stored *decoder.Decoder

	value *worldValue // of the outcomes
	known [3]*spec.Outcome
	asked [3]bool   // class was called
	mode  spec.Mode // of what was compared
}

// newPruneJudge returns a judge. The kinds are the semantics, and whether the root is a resource. What
// servers make of resources is specified for those that are deployed, and that a server takes: it refuses
// schemas for undeclared members of the root, by which it would insert defaults in metadata.
func newPruneJudge(s *schema.Structural, kind uint64) (worldJudge, error) {
	semantics, isResource := schema.Semantics(kind&1), kind&2 != 0
	p, err := schema.Compile(s, semantics, schema.ResourceRoot(isResource))
	if err != nil {
		return nil, err
	}
	j := &pruneJudge{ways: readings + 1, strict: decoder.New(p, decoder.Strict)}
	j.warn = decoder.New(p)
	rules := spec.NewRules(s, semantics, isResource)
	for mode := range j.rules {
		j.rules[mode] = rules.In(spec.Mode(mode))
	}
	isRefused := s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil
	if semantics == schema.Deployed && isResource && !isRefused {
		j.requests, j.stored = decoder.New(p, decoder.ServerRequests), decoder.New(p, decoder.ServerStorage, decoder.Ignore)
		j.ways += 3
	}
	return j, nil
}

// outcome returns what is specified for a document.
func (j *pruneJudge) outcome(d *worldDocument, mode spec.Mode) *spec.Outcome {
	if j.value != d.value {
		j.value, j.known, j.asked = d.value, [3]*spec.Outcome{}, [3]bool{}
	}
	if j.mode = mode; j.known[mode] == nil {
		v := [...]spec.Value{spec.AsSent: d.value.asSent, spec.Requests: d.value.typed, spec.Stored: d.value.named}[mode]
		j.known[mode] = j.rules[mode].Outcome(v)
	}
	return j.known[mode]
}

func (j *pruneJudge) compare(d *worldDocument, turn uint64) string {
	way := turn % j.ways
	j.isMadeOfGoValues = false
	var err error
	switch way {
	case readings:
		j.out, err = j.strict.AppendJSON(j.out[:0], d.text)
		found := j.strict.Findings()
		strict, isStrict := stderrors.AsType[*ferrors.StrictError](err)
		if isStrict != (len(found) > 0 && !isTypeError(err)) || isStrict && len(strict.Findings()) != len(found) {
			return fmt.Sprintf("strict: %v, and the findings are %v", err, found)
		}
		if isStrict {
			err = nil
		}
		return j.difference(j.outcome(d, spec.AsSent), found, err)
	case readings + 1:
		j.out, err = j.requests.AppendJSON(j.out[:0], d.typed)
		return j.difference(j.outcome(d, spec.Requests), j.requests.Findings(), err)
	case readings + 2:
		j.out, err = j.stored.AppendJSON(j.out[:0], d.named)
		return j.difference(j.outcome(d, spec.Stored), j.stored.Findings(), err)
	case readings + 3:
		j.read.Reset()
		_, err = j.read.ReadFrom(j.requests.NewReader(bytes.NewReader(d.typed)))
		j.out = append(j.out[:0], j.read.Bytes()...)
		return j.difference(j.outcome(d, spec.Requests), j.requests.Findings(), err)
	}
	err = j.decode(j.warn, d, way)
	found := j.warn.Findings()
	if does, what := j.isOnlyOfStreams(d, way, err); does {
		j.outcome(d, spec.AsSent)
		return what
	}
	if difference := j.difference(j.outcome(d, spec.AsSent), found, err); difference != "" {
		return fmt.Sprintf("%s\n%q", difference, d.yaml)
	}
	return ""
}

func (j *pruneJudge) class(b []byte) ([]byte, spec.Mode) {
	if j.requests == nil || j.asked[j.mode] {
		return nil, 0
	}
	j.asked[j.mode] = true
	return j.known[j.mode].Append(b), j.mode
}

func isTypeError(err error) bool {
	_, is := stderrors.AsType[*ferrors.TypeError](err)
	return is
}

func hasDuplicate(list ferrors.List) bool {
	return slices.ContainsFunc(list, func(f ferrors.Finding) bool { return f.Kind == ferrors.DuplicateField })
}

type oneByte struct{ left []byte }

func (o *oneByte) Read(p []byte) (int, error) {
	if len(o.left) == 0 {
		return 0, io.EOF
	}
	p[0], o.left = o.left[0], o.left[1:]
	return 1, nil
}

// A valueJudge compares decoders that validate values, too.
type valueJudge struct {
	worldReader
	schema                   *schema.Structural
	rules                    spec.Rules
	create, strict, requests *decoder.Decoder

	value   *worldValue // of the outcome
	known   *spec.Outcome
	invalid []string
}

func newValueJudge(s *schema.Structural, _ uint64) (worldJudge, error) {
	p, err := schema.Compile(s, validation.Values(), schema.ResourceRoot(false))
	if err != nil {
		return nil, err
	}
	served, err := schema.Compile(s, validation.Values())
	if err != nil {
		return nil, err
	}
	create := decoder.New(p, decoder.ValidateCreate)
	return &valueJudge{
		worldReader: worldReader{warn: create}, schema: s, rules: spec.NewRules(s, schema.Deployed, false),
		create: create, strict: decoder.New(p, decoder.ValidateCreate, decoder.Strict),
		requests: decoder.New(served, decoder.ValidateCreate, decoder.ServerRequests),
	}, nil
}

func (j *valueJudge) compare(d *worldDocument, turn uint64) string {
	way := turn % (readings + 2)
	if j.value != d.value {
		j.value, j.known, j.invalid = d.value, j.rules.Outcome(d.value.asSent), nil
		if j.known.OK {
			j.invalid = invalidValues(j.known.Result, j.schema)
		}
	}
	by := j.create
	var err error
	switch way {
	case readings: // whose result is that of a resource
		_, err = j.requests.AppendJSON(nil, d.named)
		_, difference := j.split(j.requests.Findings(), err)
		return difference
	case readings + 1:
		by = j.strict
		err = j.decode(by, d, 0)
	default:
		err = j.decode(by, d, way)
	}
	found := by.Findings()
	if does, what := j.isOnlyOfStreams(d, way, err); does {
		return what
	}
	others, difference := j.split(found, err)
	if difference == "" {
		if isComplete(err) {
			err = nil
		}
		difference = j.difference(j.known, others, err)
	}
	if difference != "" {
		return fmt.Sprintf("%s\n%q", difference, d.yaml)
	}
	return ""
}

// split returns the findings that are not about invalid values, and says what is wrong with those that are.
func (j *valueJudge) split(found ferrors.List, err error) (others ferrors.List, difference string) {
	var got []string
	for i := range found {
		if f := &found[i]; f.Kind == ferrors.InvalidValue {
			got = append(got, invalidText(f.Invalid.Kind, f.Path))
		} else {
			others = append(others, *f)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, j.invalid) && (err == nil || isComplete(err)) {
		return others, fmt.Sprintf("invalid, as specified: %q\ngot: %q", j.invalid, got)
	}
	_, isInvalid := stderrors.AsType[*ferrors.InvalidError](err)
	if isInvalid && len(got) == 0 || err == nil && len(got) > 0 {
		return others, fmt.Sprintf("%v, and the findings are %v", err, found)
	}
	return others, ""
}

// isComplete reports whether a complete result comes with the error.
func isComplete(err error) bool {
	_, isStrict := stderrors.AsType[*ferrors.StrictError](err)
	_, isInvalid := stderrors.AsType[*ferrors.InvalidError](err)
	return isStrict || isInvalid
}

func (j *valueJudge) class(b []byte) ([]byte, spec.Mode) {
	b = j.known.Append(b)
	for _, text := range j.invalid {
		b = append(append(b, ' '), text...)
	}
	return b, spec.AsSent
}
