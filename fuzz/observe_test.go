package fuzz

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

// TestRulesOf shows each rule in a pair.
func TestRulesOf(t *testing.T) {
	const (
		keep     = `"x-kubernetes-preserve-unknown-fields":true`
		resource = `"x-kubernetes-embedded-resource":true`
	)
	field := func(keywords string) string { return `{"type":"object","properties":{"a":{` + keywords + `}}}` }
	many := make([]string, 70)
	fields := make([]string, 70)
	for i := range many {
		many[i] = `"m` + strconv.Itoa(i%69) + `":1`
		fields[i] = `"f` + strconv.Itoa(i) + `":{}`
	}
	shown := make(map[Rule]bool)
	for _, c := range []struct {
		schema, doc string
		want        []Rule
	}{
		{`{}`, `{}`, nil},
		{`{}`, `{"a":1}`, []Rule{UnknownField}},
		{field(`"items":{"type":"object"}`), `{"a":[{"b":1}]}`, []Rule{UnknownField, UnknownBelowArray}},
		{field(`"additionalProperties":{"type":"object"}`), `{"a":{"b":{"c":1}}}`, []Rule{UnknownField, UnknownBelowMap, AdditionalNode}},
		{`{` + keep + `}`, `{"a":1}`, []Rule{KeptByPreserve, RootPreserve}},
		{`{"properties":{"a":{}},` + keep + `}`, `{"a":{"b":1}}`, []Rule{UnknownField, SpecifiedBelowPreserve}},
		{field(`"items":{},` + keep), `{"a":[1]}`, []Rule{ElementOfPreservingArray}},
		{field(`"additionalProperties":true`), `{"a":{"b":1}}`, []Rule{AnyAdditional}},
		{field(`"additionalProperties":false`), `{"a":{"b":1}}`, []Rule{NoAdditional}},
		{field(`"properties":{"b":{}},"additionalProperties":true`), `{"a":{"b":1}}`, []Rule{PropertyBesideAdditional}},
		{field(`"type":"string"`), `{"a":{}}`, []Rule{ObjectForScalar}},
		{field(`"type":"array"`), `{"a":{}}`, []Rule{ObjectForArray}},
		{field(`"type":"object"`), `{"a":[]}`, []Rule{ArrayForObject}},
		{field(`"type":"object"`), `{"a":1}`, []Rule{ScalarForObject}},
		{field(`"x-kubernetes-int-or-string":true`), `{"a":{}}`, []Rule{ObjectForIntOrString}},
		{field(`"items":{"type":"array"}`), `{"a":[[]]}`, []Rule{ArrayOfArrays}},
		{`{"properties":{` + strings.Join(fields, ",") + `}}`, `{}`, []Rule{ManyFields}},
		{field(``), `{"a":null}`, []Rule{NullDropped}},
		{field(`"default":1`), `{"a":null}`, []Rule{NullDefaulted}},
		{field(`"nullable":true`), `{"a":null}`, []Rule{NullOfNullable}},
		{field(`"nullable":true,"default":1`), `{"a":null}`, []Rule{NullOfNullableWithDefault}},
		{field(`"items":{}`), `{"a":[null]}`, []Rule{NullElement}},
		{field(`"items":{"nullable":true}`), `{"a":[null]}`, nil},
		{field(`"items":{"default":1}`), `{"a":[null]}`, []Rule{NullElementDefaulted}},
		{field(`"additionalProperties":{}`), `{"a":{"b":null}}`, []Rule{AdditionalNode, NullDropped, NullInMap}},
		{field(`"additionalProperties":{"default":1}`), `{"a":{"b":null}}`, []Rule{AdditionalNode, NullDefaulted, NullInMapDefaulted}},
		{`{}`, `{"a":null}`, []Rule{UnknownField, NullUnspecified}},
		{field(keep), `{"a":null}`, []Rule{NullDropped, NullPreserving}},
		{field(`"default":1`), `{}`, []Rule{AbsentDefaulted}},
		{field(`"items":{"properties":{"b":{"default":1}}}`), `{"a":[{}]}`, []Rule{AbsentDefaulted, AbsentInElement}},
		{field(`"additionalProperties":{"properties":{"b":{"default":1}}}`), `{"a":{"c":{}}}`, []Rule{AdditionalNode, AbsentDefaulted, AbsentInMapValue}},
		{field(`"properties":{"b":{"default":1}},"default":{}`), `{}`, []Rule{AbsentDefaulted, AbsentParent}},
		{field(`"default":{"b":null}`), `{}`, []Rule{AbsentDefaulted, NullInDefault}},
		{field(`"default":{"metadata":{}}`), `{}`, []Rule{AbsentDefaulted, MetadataInDefault}},
		{`{}`, `{"metadata":{"name":"n"}}`, []Rule{RootMetadataPresent}},
		{`{}`, `{"metadata":{"ownerReferences":[{"b":1}]}}`, []Rule{RootMetadataPresent, RootMetadataJunk}},
		{`{}`, `{"metadata":{"labels":{"b":1}}}`, []Rule{RootMetadataPresent, RootMetadataMistyped}},
		{`{}`, `{"metadata":null}`, []Rule{RootMetadataPresent, RootMetadataNull}},
		{field(resource), `{"a":{}}`, []Rule{Embedded}},
		{field(resource), `{"a":{"metadata":{}}}`, []Rule{Embedded, EmbeddedMetadataPresent}},
		{field(resource), `{"a":{"metadata":{"b":1}}}`, []Rule{Embedded, EmbeddedMetadataPresent, EmbeddedMetadataJunk}},
		{field(resource), `{"a":{"metadata":1}}`, []Rule{Embedded, EmbeddedMetadataPresent, EmbeddedMetadataMistyped}},
		{field(resource + `,"properties":{"metadata":{}}`), `{"a":{"metadata":{}}}`, []Rule{Embedded, EmbeddedMetadataPresent, EmbeddedMetadataDeclared}},
		{field(`"items":{` + resource + `}`), `{"a":[{}]}`, []Rule{Embedded, EmbeddedBelowArray}},
		{field(`"additionalProperties":{` + resource + `}`), `{"a":{"b":{}}}`, []Rule{AdditionalNode, Embedded, EmbeddedBelowMap}},
		{field(resource + "," + keep), `{"a":{}}`, []Rule{Embedded, EmbeddedPreserve}},
		{field(resource), `{"a":{"kind":1}}`, []Rule{Embedded, EmbeddedTypeMistyped}},
		{field(``), `{"a":{"kind":1}}`, []Rule{UnknownField, TypeMetaBelow}},
		{`{}`, `{"kind":"A","apiVersion":"a/b"}`, nil},
		{`{}`, `{"kind":""}`, []Rule{TypeMetaOdd}},
		{`{}`, `{"apiVersion":"a/b/c"}`, []Rule{TypeMetaOdd}},
		{`{}`, `{"apiVersion":["a"]}`, []Rule{TypeMetaOdd}},
		{`{` + keep + `}`, `{"KIND":""}`, []Rule{KeptByPreserve, RootPreserve, TypeMetaCase}},
		{field(``), `{"a":1,"a":2}`, []Rule{Duplicate}},
		{field(``), `{"a":1,"\u0061":2}`, []Rule{Duplicate, DuplicateEscaped, EscapedName}},
		{`{` + keep + `}`, `{` + strings.Join(many, ",") + `}`, []Rule{KeptByPreserve, RootPreserve, Duplicate, DuplicateOfMany}},
		{field(``), `{"\u0061":"\n"}`, []Rule{EscapedName}},
		{field(keep), `{"a":{"b.c":1}}`, []Rule{KeptByPreserve, OddName}},
		{field(``), `{"a":123456}`, nil},
		{field(``), `{"a":-0}`, []Rule{OddNumber}},
		{field(``), `{"a":9007199254740993}`, []Rule{OddNumber}},
		{field(``), `{"a":1.50}`, []Rule{OddNumber}},
		{field(``), `{"a":1e400}`, []Rule{HugeNumber}},
		{field(``), `{"a":"\u00e9"}`, []Rule{NonASCII}},
		{field(``), "{\"a\":\"\xff\"}", []Rule{NonASCII, InvalidUTF8}},
		{field(``), `{"a":"\ud800"}`, []Rule{NonASCII, LoneSurrogate}},
		{field(``), ` {}`, []Rule{WhiteSpace}},
		{field(``), `{"a":1}}`, []Rule{BrokenSyntax}},
		{field(``), `{} {}`, []Rule{BrokenSyntax}},
		{field(``), `{"a":nul}`, []Rule{BrokenSyntax}},
		{`{}`, `[]`, []Rule{NoObject}},
		{`{}`, ``, []Rule{BrokenSyntax, NoObject}},
		{field(``), `{"a":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`, []Rule{DeepNesting}},
		{field(``), `{"a":` + strings.Repeat("[", 11_000) + strings.Repeat("]", 11_000) + `}`, []Rule{DeepNesting}},
	} {
		s, err := schema.Parse([]byte(c.schema))
		require.NoError(t, err)
		got := RulesOf(s, []byte(c.doc))
		for r := range rules {
			isWanted := false
			for _, want := range c.want {
				isWanted = isWanted || want == r
			}
			shown[r] = shown[r] || isWanted
			assert.Equal(t, isWanted, got.Has(r), "%s\n%s\n%.80s", r, c.schema, c.doc)
		}
	}
	for r := range rules {
		assert.True(t, shown[r], "nothing shows %s", r)
	}
}
