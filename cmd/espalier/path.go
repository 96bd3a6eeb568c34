package main

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// A step leads from a value to one within it: to a member, or to an element.
type step struct {
	name  string
	index int // -1 for a member
}

// field returns the step to a member.
func field(name string) step { return step{name, -1} }

// element returns the step to an element.
func element(index int) step { return step{index: index} }

// fields returns the steps from member to member.
func fields(names ...string) []step {
	steps := make([]step, len(names))
	for i, name := range names {
		steps[i] = field(name)
	}
	return steps
}

// parsePath reads a path: a JSON Pointer, or the spelling of the API server, such as
// spec.containers[0].image. What stands in brackets and is no index is a name. In the
// server's spelling names may have dots: those of the object decide, and fields are
// called like what it has.
func parsePath(text string, js []byte) ([]step, error) {
	if strings.HasPrefix(text, "/") {
		return parsePointer(text, js)
	}
	var steps []step
	for rest := withoutRoot(text, namesAt(js, nil)); rest != ""; {
		var s step
		names := namesAt(js, steps)
		s, rest = nextStep(rest, names)
		if s.index < 0 && s.name == "*" && !slices.Contains(names, "*") {
			return nil, fmt.Errorf("%q leads to several values: name one, as in spec.containers[0].image", text)
		}
		if s.name == "" && s.index < 0 {
			return nil, fmt.Errorf("%q is no path: write it as spec.containers[0].image, or as a JSON Pointer", text)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// withoutRoot returns a path without the sign for the root that it may start with: a dot, or
// that of JSONPath, unless the object has such a name.
func withoutRoot(path string, names []string) string {
	if below, ok := strings.CutPrefix(path, "$"); ok && (below == "" || below[0] == '.' || below[0] == '[') && !slices.Contains(names, "$") {
		path = below
	}
	return strings.TrimPrefix(path, ".")
}

// nextStep cuts the first step off a path. names are those of the object that it
// starts at.
func nextStep(path string, names []string) (s step, rest string) {
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
	return field(path[:end]), strings.TrimPrefix(path[end:], ".")
}

// nextKey cuts a step in brackets off, of which the first is gone already: a name,
// quoted or not, or an index where these may be. The step is none where the second is
// missing.
func nextKey(path string, mayBeIndex bool) (s step, rest string) {
	if quoted, err := strconv.QuotedPrefix(path); err == nil {
		if rest, ok := strings.CutPrefix(path[len(quoted):], "]"); ok {
			key, _ := strconv.Unquote(quoted) // it is whole
			return field(key), strings.TrimPrefix(rest, ".")
		}
	}
	key, rest, ok := strings.Cut(path, "]")
	switch n, err := strconv.Atoi(key); {
	case !ok:
		return field(""), ""
	case err == nil && n >= 0 && mayBeIndex:
		return element(n), strings.TrimPrefix(rest, ".")
	}
	return field(key), strings.TrimPrefix(rest, ".")
}

func parsePointer(text string, js []byte) ([]step, error) {
	p := jsonv2.Pointer(text)
	if !p.IsValid() {
		return nil, fmt.Errorf("%q is no JSON Pointer", text)
	}
	var steps []step
	for token := range p.Tokens() {
		s := field(token)
		value, _ := valueAt(js, steps)
		if n, err := strconv.Atoi(token); err == nil && value.Kind() == '[' {
			s = element(n)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// keys returns the steps as names and indices, as find takes them.
func keys(steps []step) []string {
	all := make([]string, len(steps))
	for i, s := range steps {
		if all[i] = s.name; s.index >= 0 {
			all[i] = strconv.Itoa(s.index)
		}
	}
	return all
}

// spelled returns a path as the API server spells it.
func spelled(steps []step) string {
	if len(steps) == 0 {
		return "the root"
	}
	return pathOf(steps).String()
}

// valueAt returns the value that a path leads to, if there is one. Of names that stand
// twice the last counts.
func valueAt(js []byte, steps []step) (value jsonv2.Value, ok bool) {
	value = js
	for _, s := range steps {
		d := jsonv2.NewDecoder(bytes.NewReader(value), jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
		found := false
		index := 0
		each(d, func(name string, v jsonv2.Value) {
			if s.index >= 0 && s.index == index || s.index < 0 && name == s.name && value.Kind() == '{' {
				value, found = v.Clone(), true
			}
			index++
		})
		if !found {
			return nil, false
		}
	}
	return value, true
}

// namesAt returns the names of the object that a path leads to.
func namesAt(js []byte, steps []step) (names []string) {
	value, _ := valueAt(js, steps)
	if value.Kind() == '{' {
		each(jsonv2.NewDecoder(bytes.NewReader(value), jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true)), func(name string, _ jsonv2.Value) {
			names = append(names, name)
		})
	}
	return names
}

// each calls do for each member or element of the value that comes next. Values are
// valid during the call.
func each(d *jsonv2.Decoder, do func(name string, value jsonv2.Value)) {
	kind := d.PeekKind()
	if kind != '{' && kind != '[' {
		return
	}
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		name := ""
		if kind == '{' {
			t, err := d.ReadToken()
			if err != nil {
				return
			}
			name = t.String()
		}
		v, err := d.ReadValue()
		if err != nil {
			return
		}
		do(name, v)
	}
}
