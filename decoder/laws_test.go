package decoder_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A choice is a combination of semantics, reading and kind of root.
type choice uint8

const choices = 24

func (c choice) reading() laws.Reading { return laws.Reading(c % 24 / 8) }

func (c choice) resource() bool { return c&2 == 0 }

func (c choice) dialect() schema.Semantics { return schema.Semantics(c & 1) }

func (c choice) preserve() schema.Option { return schema.PreserveUnknownFields(c&4 != 0) }

// seedPairs adds pairs of a schema, as JSON, and a document: those of testdata and, if the corpus
// is there, small real ones and the texts of JSONTestSuite.
func seedPairs(f *testing.F, add func(schema, doc []byte, n int)) {
	n := 0
	pair := func(schema, doc []byte) {
		if len(doc) < 4096 && len(schema) < maxSchema {
			n++
			add(schema, doc, n)
		}
	}
	for _, c := range corpus.Load(f, "*/*") {
		s := asJSON(f, c.Schema)
		if c.JSON != nil {
			pair(s, c.JSON)
		}
		if c.YAML != nil {
			pair(s, c.YAML)
		}
	}
	if !corpus.IsThere(f) {
		return
	}
	s := []byte(`{"type":"object","properties":{"a":{"type":"string"},` +
		`"m":{"type":"object","additionalProperties":{"type":"array"}},` +
		`"raw":{"x-kubernetes-preserve-unknown-fields":true}}}`)
	places := []string{"a", "m", "raw", "unknown"}
	for text := range corpus.JSONTestSuite(f) {
		pair(s, []byte(`{"`+places[n%len(places)]+`":`+string(text.Data)+`}`))
	}
	realPairs(f, pair)
}

// maxSchema is the length of the largest schema that is tried, so that most time is left for
// documents.
const maxSchema = 8192

func realPairs(f *testing.F, pair func(schema, doc []byte)) {
	schemas := make(map[string][]byte)
	for file := range corpus.CRDs(f) {
		if len(file.Data) > 4*maxSchema {
			continue
		}
		crds, err := schema.ParseCRD(file.Data)
		require.NoError(f, err)
		for _, crd := range crds {
			for _, v := range crd.Versions {
				js, err := json.Marshal(v.Schema, json.Deterministic(true))
				require.NoError(f, err)
				schemas[crd.Group+"/"+v.Name+" "+crd.Kind] = js
			}
		}
	}
	for file := range corpus.Samples(f) {
		for doc := range yamlbridge.Documents(file.Data) {
			js := asJSON(f, doc.Bytes)
			apiVersion, kind, err := decoder.PeekType(js)
			require.NoError(f, err)
			if s := schemas[apiVersion+" "+kind]; s != nil {
				pair(s, js)
			}
		}
	}
}

func asJSON(t testing.TB, yaml []byte) []byte {
	js, err := yamlbridge.AppendJSON(nil, yaml)
	require.NoError(t, err)
	return js
}

// parseSmall returns a schema, or nil if the text is not a schema or is too large.
func parseSmall(text []byte) *schema.Structural {
	if len(text) > maxSchema || !jsontext.Value(text).IsValid() {
		return nil
	}
	s, err := schema.Parse(text)
	if err != nil {
		return nil
	}
	return s
}

// subject returns the subject of the laws for a schema, or nil if there is none.
func (c choice) subject(t *testing.T, schemaText []byte) *laws.Subject {
	s := parseSmall(schemaText)
	if s == nil {
		return nil
	}
	subject, err := laws.New(s, c.dialect(), c.reading(), c.resource(), c.preserve())
	if err != nil {
		var faults ferrors.SchemaErrors
		require.ErrorAs(t, err, &faults)
		return nil
	}
	return subject
}

// FuzzAppendJSON asserts the laws that hold for every schema and every document.
func FuzzAppendJSON(f *testing.F) {
	corpus.AddSeeds(f)
	seedPairs(f, func(schema, doc []byte, n int) { f.Add(schema, doc, uint8(n%choices), uint64(n)) })
	// Once this allocated a hundred bytes for each invalid one.
	f.Add([]byte("{}"), []byte(`{"u`+strings.Repeat("\xe7", 2500)), uint8('P'), uint64(0))
	// Once the white space between these members depended on the mode.
	members := []byte(`{"a":1,"SPEC":1,"SPEC":2,"SPEC":3,"x":{"a":1,"b":2,"a":3,"a":4},"SPEC":5}`)
	for n := range uint64(20) {
		f.Add([]byte(`{"properties":{"a":{}}}`), members, uint8(n%choices), n)
	}
	f.Fuzz(func(t *testing.T, schemaText, src []byte, of uint8, seed uint64) {
		if subject := choice(of).subject(t, schemaText); subject != nil && len(src) <= 8192 {
			subject.Check(t, seed, src)
		}
	})
}

// FuzzEntryPoints asserts that streams, sequences, maps and tokens agree with AppendJSON.
func FuzzEntryPoints(f *testing.F) {
	corpus.AddSeeds(f)
	defer decoder.SetFirstWindow(16)()
	seedPairs(f, func(schema, doc []byte, n int) { f.Add(schema, doc, uint8(n%choices), uint64(n)) })
	f.Fuzz(func(t *testing.T, schemaText, src []byte, of uint8, seed uint64) {
		if subject := choice(of).subject(t, schemaText); subject != nil && len(src) <= 8192 {
			subject.CheckValues(t, src)
			subject.CheckStreams(t, seed, src)
			subject.CheckSequence(t, src, len(src)/2)
			subject.CheckYAML(t, src, len(src)/2)
			subject.CheckYAMLSequence(t, src, len(src)/2)
		}
	})
}

// FuzzPeekType compares the type that PeekType returns with the decoded object, and with another
// reader.
func FuzzPeekType(f *testing.F) {
	corpus.AddSeeds(f)
	seedPairs(f, func(_, doc []byte, n int) { f.Add(doc) })
	s, err := schema.Parse([]byte(`{type: object}`))
	require.NoError(f, err)
	p, err := schema.Compile(s)
	require.NoError(f, err)
	d := decoder.New(p)
	f.Fuzz(func(t *testing.T, src []byte) {
		apiVersion, kind, err := decoder.PeekType(src)
		out, errDecode := d.AppendJSON(nil, src)
		if err != nil {
			require.Error(t, errDecode, "what cannot be peeked cannot be decoded")
			require.IsType(t, err, errDecode)
			return
		}
		if errDecode != nil {
			require.Contains(t, errDecode.Error(), "metadata", "only metadata is not looked at")
			return
		}
		for _, text := range [][]byte{src, out} {
			var object map[string]any
			require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(text, &object))
			require.Equal(t, []any{apiVersion, kind},
				[]any{textOf(object["apiVersion"]), textOf(object["kind"])}, "%s", text)
		}
	})
}

// textOf returns a value, or the empty string for nil.
func textOf(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// FuzzAppendYAML asserts that a YAML document is decoded as its JSON form is, and that a JSON
// document is decoded as JSON.
func FuzzAppendYAML(f *testing.F) {
	corpus.AddSeeds(f)
	seedPairs(f, func(schema, doc []byte, n int) { f.Add(schema, doc, uint8(n%256)) })
	f.Fuzz(func(t *testing.T, schemaText, src []byte, of uint8) {
		s, c := parseSmall(schemaText), choice(of)
		if s == nil || len(src) > 4096 {
			return
		}
		p, err := schema.Compile(s, c.dialect(), schema.ResourceRoot(c.resource()), c.preserve())
		if err != nil {
			return
		}
		opts := []decoder.Option{decoder.Limits{DefaultBytes: 1 << 16}}
		var r yamlbridge.Reader
		switch c.reading() {
		case laws.Kubernetes:
			opts = append(opts, decoder.ServerRequests)
			r.Dialect = yamlbridge.Server
		case laws.FromStorage:
			opts = append(opts, decoder.ServerStorage)
			r.Dialect = yamlbridge.Server
		}
		if of >= 128 {
			opts = append(opts, decoder.YAMLDialect(yamlbridge.Core))
			r.Dialect = yamlbridge.Core
		}
		d, other := decoder.New(p, opts...), decoder.New(p, opts...)
		out, err := d.AppendYAML(nil, src)

		js, errYAML := r.AppendJSON(nil, src)
		if errYAML != nil {
			require.Equal(t, errYAML, err, "what is not YAML has no result")
			require.Nil(t, out)
			require.Empty(t, d.Findings())
			return
		}
		fromJSON, errJSON := other.AppendJSON(nil, js)
		require.Equal(t, string(fromJSON), string(out))
		require.Equal(t, moved(errJSON, &r), err)
		want := other.Findings()
		move(want, &r)
		require.Equal(t, want, d.Findings())

		if !jsontext.Value(src).IsValid(jsontext.AllowDuplicateNames(true)) {
			return
		}
		direct, errDirect := other.AppendJSON(nil, src)
		if err != nil || errDirect != nil {
			return // YAML has numbers of any size: see package yamlbridge
		}
		require.Equal(t, asServer(t, direct), asServer(t, out))
		require.Equal(t, kindsAndPaths(other.Findings()), kindsAndPaths(d.Findings()))
	})
}

// moved returns an error about JSON with the positions of the YAML that the JSON was made from.
func moved(err error, r *yamlbridge.Reader) error {
	at := func(p ferrors.Position) ferrors.Position { return r.Position(int(p.Offset)) }
	switch err := err.(type) {
	case *ferrors.SyntaxError:
		err.Position = at(err.Position)
	case *ferrors.LimitError:
		err.Position = at(err.Position)
	case *ferrors.ObjectError:
		err.Position = at(err.Position)
	case *ferrors.TypeError:
		move(err.Findings, r)
	}
	return err
}

func move(found ferrors.List, r *yamlbridge.Reader) {
	for i := range found {
		f := &found[i]
		f.Position = r.Position(int(f.Position.Offset))
		if f.Kind == ferrors.DuplicateField {
			f.First = r.Position(int(f.First.Offset))
		}
	}
}

func kindsAndPaths(found ferrors.List) []string {
	var texts []string
	for i := range found {
		texts = append(texts, found[i].Error())
	}
	return texts
}

// asServer returns a value with all numbers as float64, as the YAML reader of the server makes
// them.
func asServer(t *testing.T, js []byte) any {
	var v any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(bytes.TrimSpace(js), &v))
	return floats(v)
}

func floats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = floats(v[name])
		}
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case int64:
		return float64(v)
	}
	return v
}
