package main

// This file finds two objects in one document: what becomes of a file from which a ---
// was lost. Of names that repeat the last one wins, so that pruning would remove the
// first object without a trace.

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/position"
)

// refuseSecond refuses a document that has a second object in it, and reports whether it
// has.
func (e *examiner) refuseSecond(o *object) bool {
	name, again, first := findSecond(o.doc.json)
	if name == "" {
		return false
	}
	count := position.From(o.doc.json, errors.Position{})
	f := finding{severity: failure, fatal: true, rule: ruleSeparator, first: o.doc.locate(count.At(first)), at: count.At(again)}
	f.message = fmt.Sprintf("a second object starts here: %q stands at %s, too, and only the last would be left; a missing %q?", name, f.first, o.doc.separator())
	if name == "items" {
		f.message = fmt.Sprintf("a second list starts here: the objects of the first, at %s, would be lost; join the lists, or is a %q missing?", f.first, o.doc.separator())
	}
	e.add(o, f, o.doc.locate, name)
	return true
}

// separator returns what stands between objects where a document is.
func (d document) separator() string {
	switch {
	case !d.isYAML:
		return "}"
	case d.base > 0: // an item of a List
		return "-"
	}
	return "---"
}

// An occurrence is where a member stands in a JSON text, and its value; for metadata, what
// it names.
type occurrence struct {
	at    int
	value []byte
}

// identifying are the names of members of which an object has one.
var identifying = []string{"apiVersion", "kind", "metadata", "items"}

// findSecond returns with which name a second object starts in the JSON of one, and where
// the name stands then and before; no name if there is one object. There are two if both
// apiVersion and kind stand again, or if one of them has another value, or metadata
// another name, and not just one where there was none; and in a List, if items stands again.
func findSecond(js []byte) (name string, again, first int) {
	if !slices.ContainsFunc(identifying, func(name string) bool { return mayRepeat(js, name) }) {
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

// mayRepeat says at a glance that a name stands in a text once at most.
func mayRepeat(js []byte, name string) bool {
	i := bytes.Index(js, []byte(name))
	return i >= 0 && bytes.Contains(js[i+len(name):], []byte(name)) || bytes.Contains(js, []byte(`\u`)) // it may be spelled so
}

// rootPlaces returns where the identifying members stand in an object, as far as it can
// be read.
func rootPlaces(js []byte) map[string][]occurrence {
	places := map[string][]occurrence{}
	d := newTextDecoder(bytes.NewReader(js))
	if d.PeekKind() != '{' {
		return nil
	}
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for d.PeekKind() == '"' {
		raw, err := d.ReadValue()
		if err != nil {
			break
		}
		length := len(raw)
		at := int(d.InputOffset()) - length
		name, err := jsonv2.AppendUnquote(nil, raw)
		if err != nil || d.SkipValue() != nil {
			break
		}
		value := bytes.TrimLeft(js[at+length:d.InputOffset()], ": \t\r\n")
		if string(name) == "metadata" {
			namespace, name := nameIn(newTextDecoder(bytes.NewReader(value)))
			if namespace == "" && name == "" {
				continue // it is part of an object, and says nothing of another
			}
			value = []byte(namespace + "/" + name)
		}
		if slices.Contains(identifying, string(name)) {
			places[string(name)] = append(places[string(name)], occurrence{at, value})
		}
	}
	return places
}
