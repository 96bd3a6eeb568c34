package fuzz

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/schema"
)

// anyText has documents read as far as the grammar of JSON goes.
var anyText = []jsontext.Options{
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
}

// RulesOf returns the rules that a document exercises under a schema. It looks at nothing but these
// two. A document with broken syntax exercises none of those that a tree would: it has no result.
func RulesOf(s *schema.Structural, doc []byte) Rules {
	o := observer{Decoder: jsontext.NewDecoder(bytes.NewReader(doc), anyText...)}
	if o.PeekKind() != '{' {
		o.hit(NoObject)
	}
	isWhole := false
	err := o.value(s, root)
	if err == nil {
		_, err = o.ReadToken()
		isWhole = err == io.EOF
	}
	if !isWhole {
		left := o.rules & (1<<NoObject | 1<<DeepNesting)
		if err == nil || !strings.Contains(err.Error(), "max depth") {
			left.hit(BrokenSyntax)
		}
		return left
	}
	compact := jsontext.Value(bytes.Clone(doc))
	_ = compact.Compact(append(anyText, jsontext.PreserveRawStrings(true))...)
	if len(compact) < len(doc) {
		o.hit(WhiteSpace)
	}
	return o.rules
}

// deep is from which depth on nesting is deep.
const deep = 50

// A place says by what a value is governed.
type place uint8

const (
	root       place = iota
	governed         // by a schema
	ungoverned       // kept or dropped as a whole
	inMetadata       // by the rules for metadata
)

// An observer reads a document beside its schema.
type observer struct {
	*jsontext.Decoder
	rules Rules
	below []Rule // UnknownBelowArray and so on, of the open containers
}

func (o *observer) hit(r Rule) { o.rules.hit(r) }

// value reads a value that s governs. If there is no schema, s is nil, and at says what becomes of
// the value.
func (o *observer) value(s *schema.Structural, at place) error {
	kind := o.PeekKind()
	if s == nil {
		s = new(schema.Structural)
	}
	if at == governed {
		o.types(s, kind)
	}
	switch kind {
	case '{':
		return o.object(s, at)
	case '[':
		return o.array(s, at)
	}
	text, err := o.ReadValue()
	switch {
	case err != nil:
	case kind == '"':
		o.text(text)
	case kind == '0':
		o.number(string(text))
	}
	return err
}

// types notes a value of another type than that of its schema.
func (o *observer) types(s *schema.Structural, kind jsontext.Kind) {
	switch {
	case kind == '{' && s.XIntOrString:
		o.hit(ObjectForIntOrString)
	case kind == '{' && s.Type == "array":
		o.hit(ObjectForArray)
	case kind == '{' && s.Type != "" && s.Type != "object":
		o.hit(ObjectForScalar)
	case kind == '[' && s.Type == "object":
		o.hit(ArrayForObject)
	case kind != '{' && kind != 'n' && s.Type == "object":
		o.hit(ScalarForObject)
	}
}

// text notes what is special about a string.
func (o *observer) text(written []byte) string {
	if !utf8.Valid(written) {
		o.hit(InvalidUTF8)
	}
	if _, err := jsontext.AppendUnquote(nil, bytes.ToValidUTF8(written, nil)); err != nil {
		o.hit(LoneSurrogate)
	}
	text, _ := jsontext.AppendUnquote(nil, written)
	if bytes.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		o.hit(NonASCII)
	}
	return string(text)
}

// number notes a number that the server writes in another way, or that float64 cannot hold.
func (o *observer) number(written string) {
	if n, err := strconv.ParseInt(written, 10, 64); err == nil {
		if strconv.FormatInt(n, 10) != written || n > 1<<53 || n < -1<<53 {
			o.hit(OddNumber)
		}
		return
	}
	f, err := strconv.ParseFloat(written, 64)
	if err != nil {
		o.hit(HugeNumber)
		return
	}
	if text, _ := json.Marshal(f); string(text) != written {
		o.hit(OddNumber)
	}
}

// open reads the start of an object or array.
func (o *observer) open() error {
	_, err := o.ReadToken()
	if o.StackDepth() >= deep {
		o.hit(DeepNesting)
	}
	return err
}

func (o *observer) array(s *schema.Structural, at place) error {
	var items *schema.Structural
	if s.Items != nil {
		items = s.Items.Schema
	}
	next := max(at, governed)
	if items == nil {
		next = max(at, ungoverned)
	}
	if err := o.open(); err != nil {
		return err
	}
	o.below = append(o.below, UnknownBelowArray)
	for o.PeekKind() != ']' {
		o.element(s, items)
		if err := o.value(items, next); err != nil {
			return err
		}
	}
	o.below = o.below[:len(o.below)-1]
	_, err := o.ReadToken()
	return err
}

// element notes what is special about the next element of an array, whose schema has these items.
func (o *observer) element(s, items *schema.Structural) {
	if items == nil {
		return
	}
	if preserves(s) {
		o.hit(ElementOfPreservingArray)
	}
	kind := o.PeekKind()
	switch {
	case kind == '[' && items.Type == "array":
		o.hit(ArrayOfArrays)
	case kind == 'n' && !items.Nullable && len(items.Default) > 0:
		o.hit(NullElementDefaulted)
	case kind == 'n' && !items.Nullable:
		o.hit(NullElement)
	}
}

func (o *observer) object(s *schema.Structural, at place) error {
	if len(s.Properties) > 64 {
		o.hit(ManyFields)
	}
	if s.XEmbeddedResource && at == governed {
		o.hit(Embedded)
		o.hitBelow(EmbeddedBelowArray, EmbeddedBelowMap)
		if preserves(s) {
			o.hit(EmbeddedPreserve)
		}
	}
	if err := o.open(); err != nil {
		return err
	}
	names := make(map[string][]string) // as they are written
	for o.PeekKind() != '}' {
		written, err := o.ReadValue()
		if err != nil {
			return err
		}
		spelling := string(written)
		name := o.name(written)
		names[name] = append(names[name], spelling)
		if err := o.member(s, name, at); err != nil {
			return err
		}
	}
	o.repeated(names)
	if at <= governed {
		o.absent(s, names)
	}
	_, err := o.ReadToken()
	return err
}

// name notes what is special about a name.
func (o *observer) name(written []byte) string {
	name := o.text(written)
	if bytes.IndexByte(written, '\\') >= 0 {
		o.hit(EscapedName)
	}
	odd := func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(` .[]"\*`, r) }
	if name == "" || strings.ContainsFunc(name, odd) {
		o.hit(OddName)
	}
	return name
}

// repeated notes the names of an object that repeat. It is given how each is written.
func (o *observer) repeated(names map[string][]string) {
	members := 0
	for _, written := range names {
		members += len(written)
	}
	for _, written := range names {
		if len(written) == 1 {
			continue
		}
		o.hit(Duplicate)
		for _, other := range written[1:] {
			if other != written[0] {
				o.hit(DuplicateEscaped)
			}
		}
		if members > 32 {
			o.hit(DuplicateOfMany)
		}
	}
}

// absent notes the defaults of fields that an object does not have.
func (o *observer) absent(s *schema.Structural, names map[string][]string) {
	for name, p := range s.Properties {
		if len(p.Default) == 0 || len(names[name]) > 0 {
			continue
		}
		o.hit(AbsentDefaulted)
		o.hitBelow(AbsentInElement, AbsentInMapValue)
		if len(p.Properties) > 0 {
			o.hit(AbsentParent)
		}
		if bytes.Contains(p.Default, []byte("null")) {
			o.hit(NullInDefault)
		}
		if bytes.Contains(p.Default, []byte(`"metadata":`)) {
			o.hit(MetadataInDefault)
		}
	}
}

// hitBelow notes one rule if the value is below an array, and one if it is below a map.
func (o *observer) hitBelow(array, inMap Rule) {
	for _, r := range o.below {
		if r == UnknownBelowArray {
			o.hit(array)
		} else {
			o.hit(inMap)
		}
	}
}

// member reads the value of a member.
func (o *observer) member(s *schema.Structural, name string, at place) error {
	isResource := at == root || at == governed && s.XEmbeddedResource
	switch {
	case at == inMetadata:
		return o.value(nil, at)
	case isResource && name == "metadata":
		return o.metadata(s, at)
	case isResource && isReserved(name):
		return o.typeMeta(name, at)
	case isReserved(name):
		o.hit(TypeMetaBelow)
	case at == root && (strings.EqualFold(name, "kind") || strings.EqualFold(name, "apiVersion")):
		o.hit(TypeMetaCase)
	}
	var p *schema.Structural
	inMap := false
	if at <= governed {
		p, inMap = o.specified(s, name, at)
	}
	if inMap {
		o.below = append(o.below, UnknownBelowMap)
		defer func() { o.below = o.below[:len(o.below)-1] }()
	}
	if o.PeekKind() == 'n' {
		o.null(p, inMap)
	}
	if p == nil {
		return o.value(nil, ungoverned)
	}
	return o.value(p, governed)
}

// specified returns the schema for a member of an object that s governs, or nil, and whether the
// member is a value of a map.
func (o *observer) specified(
	s *schema.Structural, name string, at place,
) (p *schema.Structural, inMap bool) {
	p, ap := s.Properties[name], s.AdditionalProperties
	switch {
	case p != nil:
		if ap != nil {
			o.hit(PropertyBesideAdditional)
		}
		if preserves(s) {
			o.hit(SpecifiedBelowPreserve)
		}
		return p, false
	case ap != nil && ap.Schema != nil:
		o.hit(AdditionalNode)
		return ap.Schema, true
	case ap != nil:
		if ap.Allows {
			o.hit(AnyAdditional)
		} else {
			o.hit(NoAdditional)
		}
		return nil, true
	case preserves(s):
		o.hit(KeptByPreserve)
		if at == root {
			o.hit(RootPreserve)
		}
		return nil, false
	}
	o.hit(UnknownField)
	o.hitBelow(UnknownBelowArray, UnknownBelowMap)
	return nil, false
}

// null notes what becomes of a null that is a member.
func (o *observer) null(s *schema.Structural, inMap bool) {
	switch {
	case s == nil:
		o.hit(NullUnspecified)
	case s.Nullable && len(s.Default) > 0:
		o.hit(NullOfNullableWithDefault)
	case s.Nullable:
		o.hit(NullOfNullable)
	case len(s.Default) > 0:
		o.hit(NullDefaulted)
		if inMap {
			o.hit(NullInMapDefaulted)
		}
	default:
		o.hit(NullDropped)
		if inMap {
			o.hit(NullInMap)
		}
		if preserves(s) {
			o.hit(NullPreserving)
		}
	}
}

// typeMeta reads the kind or the apiVersion of a resource.
func (o *observer) typeMeta(name string, at place) error {
	value, err := o.valueInMetadata()
	if err != nil {
		return err
	}
	var text string
	isText := json.Unmarshal(value, &text) == nil && value.Kind() == '"'
	switch {
	case at != root && !isText:
		o.hit(EmbeddedTypeMistyped)
	case at == root && (!isText || text == "" || name == "apiVersion" && strings.Count(text, "/") > 1):
		o.hit(TypeMetaOdd)
	}
	return nil
}

// metadata reads the metadata of a resource.
func (o *observer) metadata(s *schema.Structural, at place) error {
	value, err := o.valueInMetadata()
	if err != nil {
		return err
	}
	present, junk, mistyped := EmbeddedMetadataPresent, EmbeddedMetadataJunk, EmbeddedMetadataMistyped
	if at == root {
		present, junk, mistyped = RootMetadataPresent, RootMetadataJunk, RootMetadataMistyped
	}
	o.hit(present)
	if at == root && value.Kind() == 'n' {
		o.hit(RootMetadataNull)
	}
	if at != root && s.Properties["metadata"] != nil {
		o.hit(EmbeddedMetadataDeclared)
	}
	fits, isKnown := asMetadata(value)
	if !fits {
		o.hit(mistyped)
	}
	if !isKnown {
		o.hit(junk)
	}
	return nil
}

// valueInMetadata reads a value that no schema governs.
func (o *observer) valueInMetadata() (jsontext.Value, error) {
	value, err := o.ReadValue()
	if err != nil {
		return nil, err
	}
	value = value.Clone()
	within := observer{Decoder: jsontext.NewDecoder(bytes.NewReader(value), anyText...)}
	err = within.value(nil, inMetadata)
	o.rules |= within.rules
	return value, err
}

// asMetadata reports whether a value is metadata, and whether all of its fields are known.
func asMetadata(js []byte) (fits, isKnown bool) {
	var m *metav1.ObjectMeta
	strict, err := kjson.UnmarshalStrict(js, &m)
	isUnknown := func(err error) bool { return strings.HasPrefix(err.Error(), "unknown field") }
	return err == nil, !slices.ContainsFunc(strict, isUnknown)
}
