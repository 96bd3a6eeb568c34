package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/spec"
	"github.com/espalier-dev/espalier/schema"
)

// A class is the outcome of a comparison. Outcomes that are no difference, and those with a name
// here, are no errors.
type class string

const (
	same       class = "same"
	bothRefuse class = "both refuse"
	capped     class = "the oracle is capped"

	// The hardened default refuses the document.
	hardenedUTF8 class = "refused: invalid UTF-8, or a surrogate without a partner"

	// The server reads kind and apiVersion in a pass of its own.
	sniffCase  class = "accepted: KIND and the like, of another type, or no apiVersion"
	sniffLoser class = "accepted: kind or apiVersion of another type, where a later one replaces it"

	// We keep metadata as it was sent.
	metaTime     class = "accepted: what is no time in metadata"
	metaDefaults class = "value: defaults in metadata, of what normalisation removes"

	// The server cannot decode a stored object without metadata.
	serverPanics class = "accepted: the server panics"

	// What internal/spec does not specify.
	anyType class = "accepted: a kind or an apiVersion that is none"

	// Any other difference.
	differs class = "DIFFERENCE"
)

// A comparer compares the decoder with the server for one schema.
type comparer struct {
	schema  *schema.Structural
	server  *Server
	program *schema.Program
	decoder *decoder.Decoder
	// exact is for decoders with decoder.ServerRequests, for which no difference in verdict or
	// value is allowed.
	exact bool
	// stored is for documents from storage, whose findings are not compared.
	stored bool
	// rules are compared in the decoder's place, if there are any.
	rules *spec.Rules
	found ferrors.List // by the decoder, or by the rules
	// third compares the specification with the server, if all three are compared.
	third *comparer
	// yaml is for bodies in YAML.
	yaml  bool
	notes map[string]int
}

// A maker makes comparers.
type maker func(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error)

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
	return &comparer{schema: s, server: server, program: program, decoder: decoder.New(program, limits), notes: make(map[string]int)}, nil
}

// newExactComparer is newComparer for a decoder with decoder.ServerRequests.
func newExactComparer(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error) {
	c, err := newComparer(s, js, opts...)
	if err != nil {
		return nil, err
	}
	c.exact = true
	limits := decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30}
	c.decoder = decoder.New(c.program, limits, decoder.ServerRequests)
	c.server.AnyType, c.server.AnyKind = false, true
	return c, nil
}

// newStorageComparer is newComparer for the decoder of stored objects.
func newStorageComparer(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error) {
	c, err := newExactComparer(s, js, opts...)
	if err != nil {
		return nil, err
	}
	c.stored = true
	c.decoder = decoder.New(c.program, decoder.ServerStorage, decoder.Ignore)
	return c, nil
}

// inYAML returns a maker of comparers for bodies in YAML.
func inYAML(newComparer maker) maker {
	return func(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error) {
		c, err := newComparer(s, js, opts...)
		if err == nil {
			c.yaml = true
		}
		return c, err
	}
}

// serve returns what the server makes of a document; decode returns our result.
func (c *comparer) serve(doc []byte) (*Answer, error) {
	switch {
	case c.stored:
		return c.server.DecodeStored(doc)
	case c.yaml:
		return c.server.DecodeYAML(doc)
	}
	return c.server.Decode(doc)
}

func (c *comparer) decode(doc []byte) (out []byte, err error) {
	if c.yaml {
		out, err = c.decoder.AppendYAML(nil, doc)
		c.found = slices.Clone(c.decoder.Findings())
		return out, err
	}
	return c.decodeJSON(doc)
}

func (c *comparer) decodeJSON(doc []byte) (out []byte, err error) {
	if c.rules != nil {
		out, c.found, err = specified(*c.rules, doc)
		return out, err
	}
	out, err = c.decoder.AppendJSON(nil, doc)
	c.found = slices.Clone(c.decoder.Findings())
	return out, err
}

// compare returns the class of the outcome, and describes a difference.
func (c *comparer) compare(doc []byte) (_ class, what, detail string) {
	answer, theirs := c.serve(doc)
	out, ours := c.decode(doc)
	found := c.found
	k, what, detail := c.judge(doc, answer, theirs, out, ours)
	if c.third != nil && k != differs {
		return c.compareThird(doc, out, found, ours, k)
	}
	return k, what, detail
}

// judge compares our outcome with the server's.
func (c *comparer) judge(doc []byte, answer *Answer, theirs error, out []byte, ours error) (_ class, what, detail string) {
	var fault *StageError
	errors.As(theirs, &fault)
	switch {
	case fault != nil && fault.Stage == Capped:
		return capped, "", ""
	case fault != nil && fault.Stage == Panic && ours == nil:
		return serverPanics, "", ""
	case theirs != nil && ours != nil && c.rules != nil:
		return bothRefuse, "", "" // the specification does not say why, or where
	case theirs != nil && ours != nil:
		return c.bothRefuse(doc, ours)
	case c.exact && c.rules != nil && theirs != nil:
		return onlyTheyRefuseType(doc, fault)
	case c.exact && ours != nil:
		return differs, "verdict: only we refuse", ours.Error()
	case c.exact && theirs != nil:
		return differs, "verdict: only they refuse", theirs.Error()
	case ours != nil:
		return c.onlyWeRefuse(doc, ours)
	case theirs != nil:
		return onlyTheyRefuse(c.json(doc), fault)
	}
	if !c.stored {
		if what, detail := c.compareFindings(answer); what != "" {
			return differs, what, detail
		}
	}
	if c.exact {
		return compareExactly(answer.Object, out)
	}
	return c.compareValues(doc, answer, out)
}

// json returns the document as the JSON that the server decodes.
func (c *comparer) json(doc []byte) []byte {
	if !c.yaml {
		return doc
	}
	js, _ := yaml.YAMLToJSON(doc)
	return js
}

// compareExactly compares our result with the text that the server would write, which a client
// reads.
func compareExactly(object map[string]any, out []byte) (_ class, what, detail string) {
	var got map[string]any
	repeats, err := kjson.UnmarshalStrict(out, &got)
	if err != nil || len(repeats) > 0 {
		return differs, "output", fmt.Sprintf("%s\n%v %v", out, err, repeats)
	}
	if !reflect.DeepEqual(withNumbers([]byte(show(object))), withNumbers(out)) {
		return differs, "value", fmt.Sprintf("they: %s\nwe:   %s", show(object), out)
	}
	return same, "", ""
}

// withNumbers reads JSON, in which numbers keep their text.
func withNumbers(js []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(js))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err
	}
	return v
}

func (c *comparer) onlyWeRefuse(doc []byte, err error) (_ class, what, detail string) {
	var syntax *ferrors.SyntaxError
	if errors.As(err, &syntax) && !jsontext.Value(doc).IsValid(jsontext.AllowDuplicateNames(true)) &&
		jsontext.Value(doc).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return hardenedUTF8, "", ""
	}
	return differs, "verdict: only we refuse", err.Error()
}

// onlyTheyRefuseType is onlyTheyRefuse for the specification, in which any text is a kind, and an
// apiVersion.
func onlyTheyRefuseType(doc []byte, fault *StageError) (_ class, what, detail string) {
	k, what, detail := onlyTheyRefuse(doc, fault)
	isType := fault.Stage == Kind || fault.Stage == GroupVersion ||
		strings.Contains(detail, "unexpected GroupVersion")
	switch {
	case k == differs && isType:
		return anyType, "", ""
	case k == metaTime:
		return differs, "verdict: only they refuse", fault.Error()
	}
	return k, what, detail
}

func onlyTheyRefuse(doc []byte, fault *StageError) (_ class, what, detail string) {
	var object map[string]any
	_, _ = kjson.UnmarshalStrict(doc, &object)
	text := fault.Error()
	switch {
	case fault.Stage == Sniff && (strings.Contains(text, "into Go struct field") || strings.Contains(text, "unexpected GroupVersion")):
		for name, v := range object {
			if _, isString := v.(string); !isString && (name == "kind" || name == "apiVersion") {
				return differs, "verdict: only they refuse", text
			}
			if name != "kind" && name != "apiVersion" && (strings.EqualFold(name, "kind") || strings.EqualFold(name, "apiVersion")) {
				return sniffCase, "", ""
			}
		}
		if strings.Contains(text, "into Go struct field") {
			return sniffLoser, "", ""
		}
	case (fault.Stage == RootMetadata || fault.Stage == EmbeddedMetadata) && strings.Contains(text, "parsing time"):
		return metaTime, "", ""
	}
	return differs, "verdict: only they refuse", text
}

// compareValues compares the results. It first normalises the rest of metadata in both, as the
// server did before it inserted defaults.
func (c *comparer) compareValues(doc []byte, a *Answer, out []byte) (_ class, what, detail string) {
	// Unchecked defaults may have metadata that does not fit. The part that fits is compared.
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
	// Compare as if metadata had been normalised before it was sent.
	js := c.json(doc)
	b, _, err := c.server.coerce(js, js)
	if err != nil {
		return differs, "value", detail
	}
	out, err = c.decodeJSON([]byte(show(b.Object)))
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
	return nil // not a typed nil
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
