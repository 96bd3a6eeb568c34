package main

import (
	"fmt"
	"log"
	"slices"
	"strings"
)

// A proof says of fields whether they are required, by the names of nameOf. A field that is not in
// it was not tried.
type proof map[string]bool

// note notes whether one object is refused without a field.
func (p proof) note(name string, isRefused bool) {
	proved, known := p[name]
	p[name] = (proved || !known) && isRefused
}

// around adds the fields that have a required one directly below them, without which the server
// complains about them, and which are in all objects that could have them. It reports whether there
// are more than before.
func (p proof) around(all []map[string]any) (isMore bool) {
	more, places, present := proof{}, map[string]int{}, map[string]int{}
	for _, o := range all {
		eachField(o, o, nil, func(path []any) {
			name := nameOf(o, path)
			if present[name]++; p.hasRequired(name) {
				more.note(name, isRefused(without(o, path), path))
			}
		}, func(path []any) { places[nameOf(o, path)]++ })
	}
	for name, isRequired := range more {
		around := name[:max(strings.LastIndexByte(name, '.'), strings.LastIndexByte(name, ' ')+1)]
		if _, known := p[name]; !known {
			p[name] = isRequired && present[name] == places[around]
			isMore = true
		}
	}
	return isMore
}

// hasRequired reports whether a field directly below another one is required.
func (p proof) hasRequired(name string) bool {
	for below, isRequired := range p {
		rest, found := strings.CutPrefix(below, name+".")
		if found && isRequired && !strings.ContainsAny(rest, ".[") {
			return true
		}
	}
	return false
}

// nulls makes sure that an object is refused if an element is null that must have fields.
func (p proof) nulls(o map[string]any) {
	eachField(o, o, nil, func(path []any) {
		list, _ := at(o, path).([]any)
		for i := range list {
			element := append(slices.Clip(path), i)
			if !p.hasRequired(nameOf(o, element)) {
				continue
			}
			if without := with(o, element, nil); !isRefused(without, nil) {
				log.Fatalf("%s may be null: %v", nameOf(o, element), create(without))
			}
		}
	}, func([]any) {})
}

// eachField visits the fields of a value in an object, and the objects in it, but metadata.
func eachField(o map[string]any, value any, path []any, field, object func(path []any)) {
	switch value := value.(type) {
	case []any:
		for i, element := range value {
			eachField(o, element, append(slices.Clip(path), i), field, object)
		}
	case map[string]any:
		object(path)
		for name, member := range value {
			if name == "metadata" {
				continue
			}
			below := append(slices.Clip(path), name)
			field(below)
			eachField(o, member, below, field, object)
		}
	}
}

// needsName reports whether the server refuses an object without a name, but not because of that if
// it is to generate one.
func needsName(o map[string]any) bool {
	path := []any{"metadata", "name"}
	generated := with(o, []any{"metadata"}, map[string]any{"generateName": "a"})
	return isRefused(without(o, path), path) && isRefused(without(o, path[:1]), path) && !isRefused(generated, path)
}

// nameOf returns the line for a field.
func nameOf(o map[string]any, path []any) string {
	return fmt.Sprintf("%s %s %s", o["apiVersion"], o["kind"], pattern(path))
}
