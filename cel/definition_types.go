package cel

import (
	"errors"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	kfield "k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// This file has what is known of a place in a schema (CELSchemaContext of apiextensions-apiserver,
// pkg/apis/apiextensions/validation/cel_validation.go, which would link clients of servers).

// A ruleNode is where a schema is.
type ruleNode struct {
	s    *apiextensions.JSONSchemaProps
	path *kfield.Path
	up   *ruleNode
	// uncorrelated leads to the first schema above that does not keep track of its parts.
	uncorrelated *kfield.Path

	way        way
	property   string
	isCompiled bool // rules are compiled here
	isLimited  bool // there is a limit for the number of values here, which is most
	most       uint64
	inScope    bool // here or above there are rules
	types      *typeInfo
	typesErr   error
}

// A way says how a schema is within another.
type way uint8

const (
	viaOther way = iota // where rules are not compiled
	viaProperty
	viaElement
	viaValue
)

// A typeInfo is the type of a value in CEL (CELTypeInfo).
type typeInfo struct {
	schema *structural.Structural
	decl   *apiservercel.DeclType
}

// newRoot returns the root of a schema. Its rules are compiled if isCompiled is set.
func newRoot(s *apiextensions.JSONSchemaProps, path *kfield.Path, isCompiled bool) *ruleNode {
	return &ruleNode{
		s: s, path: path, isCompiled: isCompiled, isLimited: true, most: 1,
		inScope: len(s.XValidations) > 0,
	}
}

// child returns the place of a schema in that of n. uncorrelated is the path of n if that does not
// keep track of its parts, or nil.
func (n *ruleNode) child(
	s *apiextensions.JSONSchemaProps, path *kfield.Path, way way, uncorrelated *kfield.Path,
) *ruleNode {
	c := &ruleNode{
		s: s, path: path, up: n, way: way, uncorrelated: n.uncorrelated,
		isCompiled: n.isCompiled && way != viaOther,
	}
	if c.uncorrelated == nil {
		c.uncorrelated = uncorrelated
	}
	c.inScope = n.inScope || len(s.XValidations) > 0
	if factor, ok := maxElements(n.s); ok && n.isLimited {
		c.isLimited, c.most = true, multiply(n.most, factor)
	}
	return c
}

// maxElements returns how many values there can be within one, for each schema in s, if there is a
// limit (extractMaxElements).
func maxElements(s *apiextensions.JSONSchemaProps) (n uint64, ok bool) {
	limit := new(int64(1))
	switch {
	case s.Type == "object" && s.AdditionalProperties != nil:
		limit = s.MaxProperties
	case s.Type == "array":
		limit = s.MaxItems
	}
	if limit == nil {
		return 0, false
	}
	return uint64(max(*limit, 0)), true
}

// typeInfo returns the type of the values here. It is taken from that of the values around if there
// are rules for these, and may be missing there.
func (n *ruleNode) typeInfo() (*typeInfo, error) {
	if !n.inScope || n.types != nil || n.typesErr != nil {
		return n.types, n.typesErr
	}
	if n.up != nil {
		around, err := n.up.typeInfo()
		if err != nil {
			n.typesErr = err
			return nil, err
		}
		if around != nil {
			n.types = around.within(n.way, n.property)
		}
	}
	if n.types == nil {
		n.types, n.typesErr = convert(n.s, n.up == nil || n.s.XEmbeddedResource)
	}
	return n.types, n.typesErr
}

func (t *typeInfo) within(way way, property string) *typeInfo {
	switch s := t.schema; {
	case way == viaElement && s.Items != nil:
		return &typeInfo{s.Items, t.decl.ElemType}
	case way == viaValue && s.AdditionalProperties != nil:
		return &typeInfo{s.AdditionalProperties.Structural, t.decl.ElemType}
	case way == viaProperty:
		if escaped, ok := apiservercel.Escape(property); ok && s.Properties != nil {
			if declared, ok := t.decl.Fields[escaped]; ok {
				p := s.Properties[property]
				return &typeInfo{&p, declared.Type}
			}
		}
	}
	return nil
}

func convert(s *apiextensions.JSONSchemaProps, isRoot bool) (*typeInfo, error) {
	ss, err := structural.NewStructural(s)
	if err != nil {
		return nil, err
	}
	decl := model.SchemaDeclType(ss, isRoot)
	if decl == nil {
		return nil, errors.New("unable to convert structural schema to CEL declarations")
	}
	return &typeInfo{ss, decl}, nil
}

// eachSchema calls f for a schema and all of those in it.
func eachSchema(s *apiextensions.JSONSchemaProps, f func(*apiextensions.JSONSchemaProps)) {
	if s == nil {
		return
	}
	f(s)
	eachSchema(s.Not, f)
	for _, list := range [][]apiextensions.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			eachSchema(&list[i], f)
		}
	}
	if s.Items != nil {
		eachSchema(s.Items.Schema, f)
		for i := range s.Items.JSONSchemas {
			eachSchema(&s.Items.JSONSchemas[i], f)
		}
	}
	if s.AdditionalProperties != nil {
		eachSchema(s.AdditionalProperties.Schema, f)
	}
	for _, p := range s.Properties {
		eachSchema(&p, f)
	}
}
