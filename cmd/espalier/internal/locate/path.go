// Package locate follows paths into JSON texts: to a value, to the offset where it
// starts, and to the name of an object. It knows no schema. Texts may be broken;
// then it goes as far as they can be read.
package locate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// FieldPath returns the steps as a path of package errors.
func FieldPath(steps []Step) (path errors.Path) {
	for _, s := range steps {
		if s.Index >= 0 {
			path = path.Element(s.Index)
		} else {
			path = path.Child(s.Name)
		}
	}
	return path
}

// LastName returns the name at the end of a path, or "" if there is an index.
func LastName(path errors.Path) (name string) {
	for s := range path.Segments() {
		name = s.Name
	}
	return name
}

// A Step leads from a value to one of its members or elements.
type Step struct {
	Name  string
	Index int // -1 for members
}

// Field returns the step to a member.
func Field(name string) Step { return Step{name, -1} }

// Element returns the step to an element.
func Element(index int) Step { return Step{Index: index} }

// Fields returns the steps that lead from member to member.
func Fields(names ...string) []Step {
	steps := make([]Step, len(names))
	for i, name := range names {
		steps[i] = Field(name)
	}
	return steps
}

// Parse reads a path: a JSON Pointer, or the spelling of the API server, such as
// spec.containers[0].image. A name may be written in brackets as well. The server's spelling
// does not escape dots in names; there the names in the object decide.
func Parse(text string, js []byte) ([]Step, error) {
	if strings.HasPrefix(text, "/") {
		return parsePointer(text, js)
	}
	var steps []Step
	for rest := withoutRoot(text, namesAt(js, nil)); rest != ""; {
		var s Step
		names := namesAt(js, steps)
		s, rest = nextStep(rest, names)
		if s.Index < 0 && s.Name == "*" && !slices.Contains(names, "*") {
			return nil, fmt.Errorf("%q leads to several values: name one of them, as in spec.containers[0].image", text)
		}
		if s.Name == "" && s.Index < 0 {
			return nil, fmt.Errorf("%q is not a path: write it as spec.containers[0].image, or as a JSON Pointer", text)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// withoutRoot returns a path without a leading dot, and without JSONPath's $ for the root,
// unless the object has a member $.
func withoutRoot(path string, names []string) string {
	if below, ok := strings.CutPrefix(path, "$"); ok && (below == "" || below[0] == '.' || below[0] == '[') && !slices.Contains(names, "$") {
		path = below
	}
	return strings.TrimPrefix(path, ".")
}

// nextStep cuts the first step off a path. names are those in the object where the path starts.
func nextStep(path string, names []string) (s Step, rest string) {
	if inside, ok := strings.CutPrefix(path, "["); ok {
		return nextKey(inside, len(names) == 0)
	}
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	for _, name := range names {
		if len(name) > end && strings.HasPrefix(path, name) && (len(path) == len(name) || strings.IndexByte(".[", path[len(name)]) >= 0) {
			end = len(name)
		}
	}
	return Field(path[:end]), strings.TrimPrefix(path[end:], ".")
}

// nextKey cuts a step in brackets off a path that follows the opening bracket. The step is a
// name, quoted or not, or an index if that may be one. It is the empty one if the closing
// bracket is missing.
func nextKey(path string, mayBeIndex bool) (s Step, rest string) {
	if quoted, err := strconv.QuotedPrefix(path); err == nil {
		if rest, ok := strings.CutPrefix(path[len(quoted):], "]"); ok {
			key, _ := strconv.Unquote(quoted) // QuotedPrefix has read it
			return Field(key), strings.TrimPrefix(rest, ".")
		}
	}
	key, rest, ok := strings.Cut(path, "]")
	switch n, err := strconv.Atoi(key); {
	case !ok:
		return Field(""), ""
	case err == nil && n >= 0 && mayBeIndex:
		return Element(n), strings.TrimPrefix(rest, ".")
	}
	return Field(key), strings.TrimPrefix(rest, ".")
}

func parsePointer(text string, js []byte) ([]Step, error) {
	p := jsonv2.Pointer(text)
	if !p.IsValid() {
		return nil, fmt.Errorf("%q is not a JSON Pointer", text)
	}
	var steps []Step
	for token := range p.Tokens() {
		s := Field(token)
		value, _ := Value(js, steps)
		if n, err := strconv.Atoi(token); err == nil && value.Kind() == '[' {
			s = Element(n)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// Keys returns names and indices as Offset takes them.
func Keys(steps []Step) []string {
	all := make([]string, len(steps))
	for i, s := range steps {
		if all[i] = s.Name; s.Index >= 0 {
			all[i] = strconv.Itoa(s.Index)
		}
	}
	return all
}

// Spelled returns a path as the API server spells it.
func Spelled(steps []Step) string {
	if len(steps) == 0 {
		return "the root"
	}
	return FieldPath(steps).String()
}

// SchemaSteps splits the path of a schema error into names and indices:
// spec.versions[0].schema.openAPIV3Schema.properties[a.b].
func SchemaSteps(field string) (steps []string) {
	for field != "" {
		if key, ok := strings.CutPrefix(field, "["); ok {
			// A key may contain brackets. The one that ends it is followed by a dot, a bracket
			// or nothing.
			end := 0
			for end < len(key) && (key[end] != ']' || end+1 < len(key) && key[end+1] != '.' && key[end+1] != '[') {
				end++
			}
			steps = append(steps, key[:end])
			field = strings.TrimPrefix(key[min(end+1, len(key)):], ".")
			continue
		}
		end := strings.IndexAny(field, ".[")
		if end < 0 {
			end = len(field)
		}
		steps = append(steps, field[:end])
		field = strings.TrimPrefix(field[end:], ".")
	}
	return steps
}
