package examine

// This file finds two objects in one document, which happens if a --- is lost. Because the last
// of duplicate names wins, pruning would remove the first object without a trace.

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/position"
)

// refuseSecond refuses a document with a second object in it, and reports whether it has one.
func (e *Examiner) refuseSecond(o *Object) bool {
	name, again, first := findSecond(o.Doc.JSON)
	if name == "" {
		return false
	}
	count := position.From(o.Doc.JSON, errors.Position{})
	f := finding.Finding{Severity: finding.Error, Fatal: true, Rule: finding.RuleSeparator, First: o.Doc.Locate(count.At(first)), At: count.At(again)}
	f.Message = fmt.Sprintf("a second object starts here: %q is also at %s, and only the last object would be left; is a %q missing?", name, f.First, o.Doc.Separator())
	if name == "items" {
		f.Message = fmt.Sprintf("a second list starts here: the objects of the first, at %s, would be lost; join the lists, or is a %q missing?", f.First, o.Doc.Separator())
	}
	e.add(o, f, o.Doc.Locate, name)
	return true
}

// An occurrence is a member of the root: its offset and its value, or for metadata the
// namespace and name.
type occurrence struct {
	at    int
	value []byte
}

// identifying are the names of members that occur once in an object.
var identifying = [4]string{"apiVersion", "kind", "metadata", "items"}

// findSecond returns the name with which a second object starts in a document, and the offsets
// of the second and the first occurrence of that name. There is a second object if both
// apiVersion and kind occur again, if one of them occurs again with another value, if metadata
// occurs again with another name, or in a List, if items occurs again. Metadata without a name
// does not count. Without a second object, the name is empty.
func findSecond(js []byte) (name string, again, first int) {
	if !repeats(js) {
		return "", 0, 0
	}
	places := rootPlaces(js)
	differs := func(name string) bool {
		return slices.ContainsFunc(places[name], func(p occurrence) bool { return !bytes.Equal(p.value, places[name][0].value) })
	}
	isList := slices.ContainsFunc(places["kind"], func(p occurrence) bool { return bytes.HasSuffix(p.value, []byte(`List"`)) })
	switch {
	case len(places["apiVersion"]) > 1 && len(places["kind"]) > 1:
	case differs("apiVersion"), differs("kind"), differs("metadata"):
	case len(places["items"]) > 1 && isList:
	default:
		return "", 0, 0
	}
	for _, n := range identifying {
		if p := places[n]; len(p) > 1 && (name == "" || p[1].at < again) {
			name, again, first = n, p[1].at, p[0].at
		}
	}
	return name, again, first
}

// repeats reports whether an identifying member of an object occurs again.
func repeats(js []byte) bool {
	var seen [4]bool
	for m := range locate.Root(js) {
		if n := slices.IndexFunc(identifying[:], func(name string) bool { return name == string(m.Name) }); n >= 0 {
			if seen[n] {
				return true
			}
			seen[n] = true
		}
	}
	return false
}

// rootPlaces returns the occurrences of the identifying members of an object, as far as it can
// be read.
func rootPlaces(js []byte) map[string][]occurrence {
	places := map[string][]occurrence{}
	for m := range locate.Root(js) {
		if !m.Whole || !slices.Contains(identifying[:], string(m.Name)) {
			continue
		}
		value := m.Value
		if string(m.Name) == "metadata" {
			namespace, name := locate.NameIn(value)
			if namespace == "" && name == "" {
				continue // it does not identify an object
			}
			value = []byte(namespace + "/" + name)
		}
		places[string(m.Name)] = append(places[string(m.Name)], occurrence{m.At, value})
	}
	return places
}
