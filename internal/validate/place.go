package validate

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// A trail is the path of a place in a value. A nil trail is that of the whole. Its text has the
// spelling of the rule that reports there: kube-openapi joins names and indices as they are, and a
// field.Path of apimachinery has keys of maps in brackets.
type trail struct {
	up   *trail
	text string
	step errors.Segment
}

func (t *trail) String() string {
	var texts []string
	for ; t != nil; t = t.up {
		texts = append(texts, t.text)
	}
	slices.Reverse(texts)
	return strings.Join(texts, "")
}

// field returns what the server adds to the path of the whole value for a path of kube-openapi.
func (t *trail) field() string {
	name := t.String()
	if name == "" || name == "." {
		return ""
	}
	return "." + strings.TrimPrefix(name, ".")
}

func (t *trail) segments() (list []errors.Segment) {
	for ; t != nil; t = t.up {
		list = append(list, t.step)
	}
	slices.Reverse(list)
	return list
}

func (t *trail) path() (p errors.Path) {
	for _, s := range t.segments() {
		if s.IsName {
			p = p.Child(s.Name)
		} else {
			p = p.Element(s.Index)
		}
	}
	return p
}

// to returns the trail of a member, with the text that is added for it.
func (t *trail) to(name, text string) *trail {
	return &trail{t, text, errors.Segment{Name: name, IsName: true}}
}

func (t *trail) element(i int) *trail {
	return &trail{t, "[" + strconv.Itoa(i) + "]", errors.Segment{Index: i}}
}

// unspelled returns the trail for messages that do not name its last step.
func (t *trail) unspelled() *trail { return &trail{t.up, "", t.step} }

// property returns the trail of a declared field in kube-openapi. A name at the top has no dot
// before it, and an empty one there adds nothing.
func (t *trail) property(name string) *trail {
	top := t
	for top != nil && top.text == "" {
		top = top.up
	}
	if top == nil {
		return t.to(name, name)
	}
	return t.member(name)
}

// member returns the trail of another member in kube-openapi.
func (t *trail) member(name string) *trail { return t.to(name, "."+name) }

// child returns the trail of a declared field in a field.Path.
func (t *trail) child(name string) *trail {
	if name == "" {
		return t.key("")
	}
	return t.to(name, "."+name)
}

// key returns the trail of another member in a field.Path.
func (t *trail) key(name string) *trail { return t.to(name, "["+name+"]") }

// orEmpty returns the empty schema for a null in the place of a schema, as decoding into
// JSONSchemaProps does.
func orEmpty(s *schema.Structural) *schema.Structural {
	if s == nil {
		return &empty
	}
	return s
}

var empty schema.Structural

// element returns the schema of the elements of arrays, or nil.
func element(s *schema.Structural) *schema.Structural {
	if s.Items == nil {
		return nil
	}
	return s.Items.Schema
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
