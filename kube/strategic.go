package kube

// This file checks strategic merge patches. Custom resources have none: the API server accepts them
// for types that are compiled into it. Programs that have schemas for such types can check patches
// by the schemas, without the types.

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/mergepatch"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// The directives of strategic merge patches. The name of a list follows those that end with a
// slash.
const (
	patchDirective    = "$patch"
	retainDirective   = "$retainKeys"
	orderDirective    = "$setElementOrder/"
	deletionDirective = "$deleteFromPrimitiveList/"
)

// A StrategicPatchChecker checks strategic merge patches for objects of one
// schema. Any number of goroutines can use it.
type StrategicPatchChecker struct {
	pool *decoder.Pool
}

// NewStrategicPatchChecker returns a checker for resources of a schema.
func NewStrategicPatchChecker(s *schema.Structural) (*StrategicPatchChecker, error) {
	if s == nil {
		s = new(schema.Structural)
	}
	s = s.MergePatch()
	s.XEmbeddedResource = true
	addDirectives(s, map[*schema.Structural]bool{})
	program, err := schema.Compile(s, schema.ResourceRoot(false))
	if err != nil {
		return nil, err
	}
	return &StrategicPatchChecker{decoder.NewPool(program, decoder.Warn)}, nil
}

// Check returns the findings in a patch: repeated names, and unknown fields
// that are not null, including the lists that directives name. The contents of
// $setElementOrder and $deleteFromPrimitiveList are not checked against the
// schema.
//
// An error is an *errors.SyntaxError, an *errors.LimitError, or an
// *errors.TypeError if the patch is not an object. A malformed directive is an
// [*Error] in the server's words: $patch must be replace or delete, $retainKeys
// must be a list of all fields that are present, and each of the others must be
// a list, or a list of scalars. Check does not check whether elements have the
// keys by which they are merged, or come in the order that is set, because
// schemas do not say which keys these are.
func (c *StrategicPatchChecker) Check(patch []byte) (ferrors.List, error) {
	d := c.pool.Get()
	defer c.pool.Put(d)
	var object map[string]any
	if err := d.Unmarshal(patch, &object); err != nil {
		return nil, err
	}
	list := withoutRemovals(d.Findings(), patch)
	var whole map[string]any // a repeated name has its last value, pruned or not
	if err := kjson.UnmarshalCaseSensitivePreserveInts(patch, &whole); err != nil {
		return nil, err
	}
	if whole == nil {
		return nil, errNoStrategicPatch
	}
	if err := checkDirectives(ferrors.Path{}, whole); err != nil {
		return nil, err
	}
	return list, nil
}

var errNoStrategicPatch = errors.New("kube: a strategic merge patch must be an object")

// metadata is the schema of ObjectMeta, as far as names go.
var metadata = sync.OnceValue(func() *schema.Structural {
	const text = `{"type": "object", "properties": {
		"name": {"type": "string"}, "generateName": {"type": "string"}, "namespace": {"type": "string"}, "selfLink": {"type": "string"},
		"uid": {"type": "string"}, "resourceVersion": {"type": "string"}, "generation": {"type": "integer"},
		"creationTimestamp": {"type": "string"}, "deletionTimestamp": {"type": "string"}, "deletionGracePeriodSeconds": {"type": "integer"},
		"labels": {"type": "object", "additionalProperties": {"type": "string"}},
		"annotations": {"type": "object", "additionalProperties": {"type": "string"}},
		"ownerReferences": {"type": "array", "items": {"type": "object", "properties": {
			"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "name": {"type": "string"}, "uid": {"type": "string"},
			"controller": {"type": "boolean"}, "blockOwnerDeletion": {"type": "boolean"}}}},
		"finalizers": {"type": "array", "items": {"type": "string"}},
		"managedFields": {"type": "array", "items": {"type": "object", "properties": {
			"manager": {"type": "string"}, "operation": {"type": "string"}, "apiVersion": {"type": "string"}, "time": {"type": "string"},
			"fieldsType": {"type": "string"}, "fieldsV1": {"x-kubernetes-preserve-unknown-fields": true},
			"subresource": {"type": "string"}}}}}}`
	s, err := schema.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return s
})

// addDirectives declares the directives wherever they may be in a patch for a schema, together with
// the implicit fields of resources, which may be there as well. done are the schemas that have them
// already: a schema may contain itself.
func addDirectives(s *schema.Structural, done map[*schema.Structural]bool) {
	if s == anything || done[s] {
		return
	}
	done[s] = true
	if s.XEmbeddedResource {
		s.XEmbeddedResource = false
		if s.Properties == nil {
			s.Properties = map[string]*schema.Structural{}
		}
		s.Properties["apiVersion"] = &schema.Structural{Type: "string", Nullable: true}
		s.Properties["kind"] = &schema.Structural{Type: "string", Nullable: true}
		s.Properties["metadata"] = metadata().MergePatch()
	}
	for _, name := range slices.Collect(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		if property.Items != nil {
			s.Properties[orderDirective+name] = anything
			s.Properties[deletionDirective+name] = anything
		}
		addDirectives(property, done)
	}
	if len(s.Properties) > 0 {
		s.Properties[patchDirective] = anything
		s.Properties[retainDirective] = anything
	}
	if s.Items != nil && s.Items.Schema != nil {
		addDirectives(s.Items.Schema, done)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		addDirectives(s.AdditionalProperties.Schema, done)
	}
}

var anything = &schema.Structural{XPreserveUnknownFields: new(true), Nullable: true}

// checkDirectives checks the directives in an object of a patch. It recurses as deep as the JSON
// nests, which is limited.
func checkDirectives(at ferrors.Path, object map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if fault := checkDirective(name, object); fault != nil {
			path := at.Child(name)
			return &Error{Text: fault.Error(), Err: &ferrors.ObjectError{Msg: fault.Error(), Path: path}}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if err := checkWithin(at.Child(name), object[name]); err != nil {
			return err
		}
	}
	return nil
}

func checkWithin(at ferrors.Path, v any) error {
	switch v := v.(type) {
	case map[string]any:
		return checkDirectives(at, v)
	case []any:
		for i, element := range v {
			if err := checkWithin(at.Element(i), element); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkDirective checks a member of an object of a patch. If the member has the name of a directive
// but is none, checkDirective returns an error in the server's words.
func checkDirective(name string, object map[string]any) error {
	v := object[name]
	list, isList := v.([]any)
	switch {
	case name == patchDirective && v != "replace" && v != "delete":
		return fmt.Errorf("unknown patch type: %v", v)
	case name == retainDirective && !isList:
		return mergepatch.ErrBadPatchFormatForRetainKeys
	case name == retainDirective:
		return checkRetained(list, object)
	case strings.HasPrefix(name, orderDirective) && !isList:
		return mergepatch.ErrBadPatchFormatForSetElementOrderList
	case strings.HasPrefix(name, deletionDirective) && (!isList || slices.ContainsFunc(list, isContainer)):
		return mergepatch.ErrBadPatchFormatForPrimitiveList
	}
	return nil
}

// checkRetained returns an error if a field of a patch is not among those to be retained.
func checkRetained(list []any, object map[string]any) error {
	for name, v := range object {
		if v != nil && !strings.HasPrefix(name, "$") && !slices.Contains(list, any(name)) {
			return mergepatch.ErrBadPatchFormatForRetainKeys
		}
	}
	return nil
}

func isContainer(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}
