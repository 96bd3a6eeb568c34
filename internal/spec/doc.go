// Package spec is the definition of what Espalier decides, as a program. It says what becomes of a
// document under a schema, and what is found in it. It is meant to be read beside the KEPs:
// it is recursive, slow, and walks over a tree once for each rule. [Rules.Decode] applies the
// rules in order. Each has a page:
//
//   - repeats.go: which member counts where names repeat.
//   - prune.go: which fields stay (KEP-2332).
//   - nulls.go: which nulls go (KEP-575, example 3).
//   - metadata.go: what is left of the metadata of resources (KEP-2332, proposal 4), and
//     objectmeta.go: the types that say so.
//   - types.go: which values are refused for their type (KEP-2332, proposal 3).
//   - defaults.go: which fields are inserted (KEP-575), and prunedefaults.go: what is done to
//     defaults before.
//   - repair.go: how the server normalises metadata.
//   - findings.go: what is reported, and in which order.
//   - server.go: the modes in which values are those of the server.
//   - value.go: documents as trees. outcome.go: what is specified for one, compare.go: how a
//     decoder is compared with that, text.go: without parsing.
//
// Where the KEPs are at odds with what a kube-apiserver does, both are there: schema.KEP is the
// text, schema.Deployed the server. That is so in three points: where pruning starts again
// (Rules.restarts), nulls (Rules.dropNulls, Rules.isReplaced), and types (Rules.checkTypes).
//
// Proposals, exceptions and examples have the numbers that they have in the KEPs. The examples are
// cases: testdata/kep-2332 and testdata/kep-575. The functions of the server that are named are
// those of k8s.io/apiextensions-apiserver v0.37, in pkg/apiserver unless the name says otherwise.
//
// By default the specification keeps what it keeps as it was sent, like a decoder without a server
// mode: numbers have their text, and metadata is pruned, but not normalised. The reading of bytes
// is not specified: syntax, limits and positions are defined by RFC 8259 and by the documentation
// of package decoder.
//
// The schema is structural, but for its defaults, which the server may never have validated. The
// package is an oracle for tests. Of what it judges it has the trees of package schema and the
// paths of package errors, and no other code.
package spec

import (
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// Rules say by what a document is judged.
type Rules struct {
	schema    *schema.Structural
	semantics schema.Semantics
	mode      Mode
	defaults  map[*schema.Structural]Value // those of the schema, parsed
}

// NewRules returns the rules for documents under a schema. isResource says whether the root is a
// resource, for which apiVersion, kind and metadata are specified implicitly.
func NewRules(s *schema.Structural, semantics schema.Semantics, isResource bool) Rules {
	root := *s
	// The server makes such a copy, too: pruning.PruneWithOptions.
	root.XEmbeddedResource = isResource
	if isResource {
		root.Properties = withoutReserved(s.Properties)
	}
	r := Rules{schema: &root, semantics: semantics, defaults: make(map[*schema.Structural]Value)}
	r.schema = r.pruneDefaults(&root, nil)
	return r
}

// withoutReserved returns the properties of a root without what is specified implicitly. Its own
// specification of metadata does not count: PruneWithOptions does not look at it, what
// PruneNonNullableNullsWithoutDefaults does to it is undone by unstructuredSchemaCoercer.apply, and
// a default in it is not allowed (KEP-575, Validation).
func withoutReserved(properties map[string]*schema.Structural) map[string]*schema.Structural {
	rest := make(map[string]*schema.Structural)
	for name, s := range properties {
		if !isReserved(name) {
			rest[name] = s
		}
	}
	return rest
}

// Decode returns what is left of a document, with defaults, and what was found in it. Where a
// value is refused for its type there is no result, and the findings say which value that is.
//
// The order of the rules is that of schemaCoercingDecoder.Decode, unstructuredSchemaCoercer.apply
// and unstructuredDefaulter.Default (customresource_handler.go).
func (r Rules) Decode(document Value) (result Value, found errors.List, ok bool) {
	var f findings
	f.findRepeated(document, nil)
	v := lastWins(document)
	if r.mode == Stored {
		return r.decodeStored(v)
	}
	v = r.prune(v, r.schema, false, nil, &f)
	v = r.dropNulls(v, r.schema)
	v = r.pruneMetadata(v, r.schema, nil, &f)
	r.checkTypes(v, r.schema, false, nil, &f)
	if len(f.refused()) > 0 {
		return nil, f.list(), false
	}
	if r.mode == AsSent {
		return r.insertDefaults(v, r.schema), f.list(), true
	}
	v = r.insertDefaults(r.repairMetadata(v, r.schema, true), r.schema)
	return readNumbers(v), f.list(), true
}

// isReserved reports whether a resource has the field implicitly: those of metav1.TypeMeta, and
// metadata (KEP-2332, proposal 4).
func isReserved(name string) bool {
	return slices.Contains([]string{"apiVersion", "kind", "metadata"}, name)
}

// specified returns the schema that s has for a member of an object, and whether it has any.
// additionalProperties specify all members that properties do not. Their schema is nil where
// they are true or false, which is value validation (KEP-2332, example 5).
func specified(s *schema.Structural, name string) (member *schema.Structural, ok bool) {
	if p, ok := s.Properties[name]; ok {
		return p, true
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema, true
	}
	return nil, false
}

// items returns the schema that s has for the elements of an array, or nil.
func items(s *schema.Structural) *schema.Structural {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}
