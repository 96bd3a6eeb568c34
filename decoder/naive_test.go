package decoder

import (
	"maps"
	"slices"

	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/schema"
)

// naive is the slow and obvious counterpart of the walker. It walks over maps, once for each thing
// that the API server does in a walk of its own. It is written from the server's rules, not from
// the walker.
type naive struct {
	dialect schema.Semantics
	unknown []string // paths in the server's spelling, unordered
}

// decode returns the pruned and defaulted object, and the strict findings:
// duplicates in order, then unknown fields by path.
func (r *naive) decode(src []byte, s *schema.Structural) (out map[string]any, duplicates []error,
	err error) {
	var in map[string]any
	duplicates, err = kjson.UnmarshalStrict(src, &in)
	if err != nil {
		return nil, nil, err
	}
	root := *s
	root.XEmbeddedResource = true
	r.prune(in, &root, "", isPreserving(s))
	if r.dialect == schema.Deployed {
		dropNulls(in, s, true)
	}
	r.metadata(in, &root, "")
	r.fill(in, s)
	slices.Sort(r.unknown)
	return in, duplicates, nil
}

func isPreserving(s *schema.Structural) bool {
	return s != nil && s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

func items(s *schema.Structural) *schema.Structural {
	if s == nil || s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

func valuesOf(s *schema.Structural) *schema.Structural {
	if s == nil || s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

func child(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func isReserved(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

// restarts reports whether pruning starts again in a schema that is specified below a preserving
// one.
func (r *naive) restarts(s *schema.Structural) bool {
	return r.dialect == schema.Deployed || s != nil && len(s.Properties) > 0
}

func (r *naive) prune(x any, s *schema.Structural, path string, keep bool) {
	keep = keep || isPreserving(s)
	if keep && s == nil {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(x)) {
			var property *schema.Structural
			if s != nil {
				property = s.Properties[name]
			}
			switch {
			case s != nil && s.XEmbeddedResource && isReserved(name):
			case property != nil:
				r.prune(x[name], property, child(path, name), keep && !r.restarts(property))
			case s != nil && s.AdditionalProperties != nil:
				r.prune(x[name], valuesOf(s), child(path, name), keep && !r.restarts(valuesOf(s)))
			case keep:
			default:
				delete(x, name)
				r.unknown = append(r.unknown, child(path, name))
			}
		}
	case []any:
		for i, e := range x {
			below := keep
			if r.dialect == schema.KEP && items(s) != nil && len(items(s).Properties) > 0 {
				below = false
			}
			r.prune(e, items(s), path+index(i), below)
		}
	}
}

func index(i int) string { return "[" + itoa(i) + "]" }

func itoa(i int) string {
	if i >= 10 {
		return itoa(i/10) + itoa(i%10)
	}
	return string(rune('0' + i))
}

func hasDefault(s *schema.Structural) bool {
	return s != nil && len(s.Default) > 0 && string(s.Default) != "null"
}

func dropNulls(x any, s *schema.Structural, root bool) {
	if s == nil {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(x)) {
			if root && isReserved(name) {
				continue
			}
			below := s.Properties[name]
			if below == nil {
				below = valuesOf(s)
			}
			if x[name] == nil && below != nil && !below.Nullable && !hasDefault(below) {
				delete(x, name)
				continue
			}
			dropNulls(x[name], below, false)
		}
	case []any:
		for _, e := range x {
			dropNulls(e, items(s), false)
		}
	}
}

var (
	naiveObjectMeta = []string{"name", "generateName", "namespace", "selfLink", "uid",
		"resourceVersion", "generation",
		"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences",
		"finalizers", "managedFields"}
	naiveOwnerReference = []string{"apiVersion", "kind", "name", "uid", "controller",
		"blockOwnerDeletion"}
	naiveManagedFields = []string{"manager", "operation", "apiVersion", "time", "fieldsType",
		"fieldsV1", "subresource"}
)

// metadata prunes the metadata of resources.
func (r *naive) metadata(x any, s *schema.Structural, path string) {
	if s == nil {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		if s.XEmbeddedResource {
			path := child(path, "metadata")
			m, _ := x["metadata"].(map[string]any)
			r.keepOnly(m, naiveObjectMeta, path)
			for name, known := range map[string][]string{"ownerReferences": naiveOwnerReference,
				"managedFields": naiveManagedFields} {
				list, _ := m[name].([]any)
				for i, e := range list {
					r.keepOnly(e, known, child(path, name)+index(i))
				}
			}
		}
		for name, v := range x {
			if p := s.Properties[name]; p != nil {
				r.metadata(v, p, child(path, name))
			} else {
				r.metadata(v, valuesOf(s), child(path, name))
			}
		}
	case []any:
		for i, e := range x {
			r.metadata(e, items(s), path+index(i))
		}
	}
}

func (r *naive) keepOnly(x any, names []string, path string) {
	m, _ := x.(map[string]any)
	for _, name := range slices.Collect(maps.Keys(m)) {
		if !slices.Contains(names, name) {
			delete(m, name)
			r.unknown = append(r.unknown, child(path, name))
		}
	}
}

// fill inserts defaults from the top down.
func (r *naive) fill(x any, s *schema.Structural) {
	if s == nil {
		return
	}
	isAbsent := func(v any, present bool, s *schema.Structural) bool {
		if r.dialect == schema.KEP {
			return !present
		}
		return !present || v == nil && !s.Nullable
	}
	switch x := x.(type) {
	case map[string]any:
		for name, p := range s.Properties {
			if v, ok := x[name]; hasDefault(p) && isAbsent(v, ok, p) {
				x[name] = defaultOf(p)
			}
		}
		for name, v := range x {
			p := s.Properties[name]
			if p == nil {
				p = valuesOf(s)
				if p != nil && hasDefault(p) && isAbsent(v, true, p) {
					x[name] = defaultOf(p)
				}
			}
			r.fill(x[name], p)
		}
	case []any:
		for i, e := range x {
			if p := items(s); hasDefault(p) && isAbsent(e, true, p) {
				x[i] = defaultOf(p)
			}
			r.fill(x[i], items(s))
		}
	}
}

func defaultOf(s *schema.Structural) any {
	var v any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(s.Default, &v); err != nil {
		panic(err)
	}
	return v
}
