package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/internal/fieldpath"
)

// keptMetadata are the fields of metadata that every projection keeps: what clients, owners and
// garbage collection need. managedFields and selfLink are not among them.
var keptMetadata = strings.Fields("name generateName namespace uid resourceVersion generation " +
	"creationTimestamp deletionTimestamp deletionGracePeriodSeconds " +
	"labels annotations finalizers ownerReferences")

// Project returns a schema that keeps of a resource only the fields that a
// client reads: those at the paths, and those of the Go type t, if it is not
// nil. It always keeps apiVersion and kind, and of metadata all of ObjectMeta
// but managedFields and selfLink. No definition is needed: a path may lead to
// what no object has. [CheckProjection] finds such paths.
//
// A path is written as in the messages of the API server. [] stands for the
// elements of a list, and * for the members of a map:
//
//	spec.replicas
//	spec.containers[].image
//	spec.limits.*.hard
//	metadata.managedFields
//	spec.selector["example.com/zone"]   a name with dots or brackets
//
// What a path leads to is kept whole. The path * keeps everything but
// metadata.managedFields.
//
// Of a Go type the fields are those of encoding/json: exported ones, by their
// tags; embedded structs are part of the struct around them. Types that decode
// themselves, interfaces and raw JSON are kept whole. t must be a struct, a
// map, or a pointer to one of them; it may contain itself. What t says of
// metadata at the root does not count.
//
// A value of another kind than the projection expects, such as a string where a
// path goes on, stays as it is.
//
// The schema is for [Compile] with ResourceRoot(false): otherwise all of
// ObjectMeta is kept. It may contain itself. It prunes only, has no validations,
// and is not structural.
func Project(t reflect.Type, paths ...string) (*Structural, error) {
	root := new(Structural)
	if t != nil {
		if !isOfObjects(t) {
			return nil, fmt.Errorf("schema: Project: objects are not of type %s: it is neither a struct nor a map", t)
		}
		r := typeReader{made: map[reflect.Type]*Structural{}}
		root = r.of(t)
	}
	root = root.copied()
	root.Type = "object"
	for name, field := range map[string]*Structural{"apiVersion": whole, "kind": whole, "metadata": metadataProjection()} {
		root.Properties[name] = field
	}
	for _, path := range paths {
		steps, err := parseProjection(path)
		if err != nil {
			return nil, err
		}
		root = root.keeping(steps)
	}
	return root, nil
}

// whole keeps a value with everything in it. All of what is kept whole is this one schema.
var whole = &Structural{XPreserveUnknownFields: new(true), Nullable: true}

func metadataProjection() *Structural {
	m := &Structural{Nullable: true, Properties: map[string]*Structural{}}
	for _, name := range keptMetadata {
		m.Properties[name] = whole
	}
	return m
}

// copied returns a copy of s that can be changed. whole becomes an object that keeps all of its
// members whole.
func (s *Structural) copied() *Structural {
	c := &Structural{Nullable: true}
	switch {
	case s == whole:
		c.AdditionalProperties = &SchemaOrBool{Allows: true, Schema: whole}
	case s != nil:
		*c = *s
	}
	if c.Properties = maps.Clone(c.Properties); c.Properties == nil {
		c.Properties = map[string]*Structural{}
	}
	return c
}

// A projectionStep is a segment of a path: a name, any member, or any element.
type projectionStep struct {
	name  string
	kind  byte // 'n', '*' or '['
	count int  // of the steps before it
}

// keeping returns s, which may be nil for what keeps nothing, with what the path keeps. It does not
// change s, which may be in several places.
func (s *Structural) keeping(path []projectionStep) *Structural {
	if s == whole || len(path) == 0 {
		return whole
	}
	c := s.copied()
	switch step := path[0]; step.kind {
	case '[':
		c.Items = &SchemaOrArray{Schema: s.elementOrNil().keeping(path[1:])}
	case '*':
		for name, field := range c.Properties {
			if path[0].count > 0 || !slices.Contains(reserved, name) {
				c.Properties[name] = field.keeping(path[1:])
			}
		}
		c.AdditionalProperties = &SchemaOrBool{Allows: true, Schema: c.value().keeping(path[1:])}
	default:
		c.Properties[step.name] = c.member(step.name).keeping(path[1:])
	}
	return c
}

func (s *Structural) elementOrNil() *Structural {
	if s == nil {
		return nil
	}
	return s.element()
}

func projectionError(path, why string) error {
	return fmt.Errorf("schema: Project: path %s: %s: write it as in spec.containers[].image, with * for any name",
		fieldpath.Quoted(path), why)
}

// parseProjection reads a path.
func parseProjection(path string) (steps []projectionStep, err error) {
	fail := func(why string) ([]projectionStep, error) { return nil, projectionError(path, why) }
	for rest := path; rest != "" || len(steps) == 0; {
		step := projectionStep{kind: 'n', count: len(steps)}
		var after string
		switch {
		case strings.HasPrefix(rest, "[]"):
			step.kind, after = '[', rest[2:]
		case strings.HasPrefix(rest, "["):
			var ok bool
			if step.name, after, ok = cutQuoted(rest[1:]); !ok {
				return fail("has an index or a bracket without []")
			}
		default:
			if len(steps) > 0 && rest[0] != '.' {
				return fail("has a name without a dot before it")
			}
			if len(steps) > 0 {
				rest = rest[1:]
			}
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			step.name, after = rest[:end], rest[end:]
			if step.name == "" {
				return fail("has an empty name")
			}
			if step.name == "*" {
				step.kind = '*'
			}
		}
		if steps = append(steps, step); len(steps) > MaxDepth/2 {
			return nil, fmt.Errorf("schema: Project: a path has more than %d steps", MaxDepth/2)
		}
		rest = after
	}
	if steps[0].kind == '[' {
		return fail("leads into a list at the root")
	}
	return steps, nil
}

// cutQuoted cuts a name in double quotes and the bracket after it from the start of a text. A
// backslash makes the next character part of the name.
func cutQuoted(text string) (name, after string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
			b.WriteByte(text[i])
		case '"':
			after, ok = strings.CutPrefix(text[i+1:], "]")
			return b.String(), after, ok
		default:
			b.WriteByte(text[i])
		}
	}
	return "", "", false
}
