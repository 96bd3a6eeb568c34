package main

import (
	"bytes"
	stderrors "errors"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/definition"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// isDefinition reports whether objects of a kind define others.
func isDefinition(apiVersion, kind string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group == "apiextensions.k8s.io" && kind == "CustomResourceDefinition"
}

// checkDefinition adds why the API server refuses the schemas of a custom resource
// definition, if the object is one.
func (e *examiner) checkDefinition(o *object) {
	if o.result == nil || o.skipped || o.partial || !isDefinition(o.apiVersion, o.kind) {
		return
	}
	crds, err := schema.ParseCRD(o.doc.json)
	var syntax *errors.SyntaxError
	if stderrors.As(err, &syntax) {
		at := *syntax
		at.Position = errors.Position{}
		f := finding{severity: failure, fatal: true, rule: ruleInvalidSchema, message: withoutPosition(at.Error()), at: syntax.Position}
		f.field = syntax.Path
		e.add(o, f, o.doc.locate, "")
		return
	}
	for _, crd := range crds {
		var faults errors.SchemaErrors
		if stderrors.As(validation.CRD(crd), &faults) {
			for _, fault := range faults {
				e.addFault(o, failure, fault)
			}
		}
		for _, fault := range definition.Faults(crd) {
			e.addFault(o, failure, fault)
		}
	}
}

// isPartial reports whether a definition is a part of one: a patch of kustomize, or what a
// test expects. A whole one has spec.versions, or what was there before these, and at least
// one of spec.group and spec.names, if its author has forgotten the other.
func isPartial(js []byte) bool {
	has := func(name string) bool { return hasValue(js, fields("spec", name)) }
	return !has("versions") && !has("version") && !has("validation") || !has("group") && !has("names")
}

// addFault adds a fault of a schema at the place that it is about, or the one
// nearest to it that is there.
func (e *examiner) addFault(o *object, severity severity, fault *errors.SchemaError) {
	steps := fieldSteps(fault.Field)
	if len(steps) > 0 && steps[0] == "openAPIV3Schema" {
		steps = steps[1:] // a schema that stands alone
	}
	at, depth := find(o.doc.json, steps)
	if hoisted := len(steps) > 1 && steps[1] == "validation"; hoisted && depth < 2 {
		// The server speaks of a schema that all versions share as if it stood here.
		at, _ = find(o.doc.json, append([]string{"spec", "versions", "0", "schema"}, steps[2:]...))
	}
	name := ""
	if len(steps) > 0 {
		name = steps[len(steps)-1]
	}
	place := position.From(o.doc.json, errors.Position{})
	e.add(o, finding{severity: severity, rule: ruleInvalidSchema, message: fault.Error(), at: place.At(at), schemaPath: fault.Field}, o.doc.locate, name)
}

// fieldSteps cuts the path of a schema error into the names and indices on the way:
// spec.versions[0].schema.openAPIV3Schema.properties[a.b].
func fieldSteps(field string) (steps []string) {
	for field != "" {
		if key, ok := strings.CutPrefix(field, "["); ok {
			// Keys may hold anything: the bracket that counts is followed by what a path
			// goes on with.
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

// find returns where in a JSON text the member starts, or the element, that a path
// leads to, or the last one on the way, and how many of the steps there are.
func find(js []byte, steps []string) (at, depth int) {
	d := jsonv2.NewDecoder(bytes.NewReader(js), jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
	for _, step := range steps {
		next, ok := enter(d, js, step)
		if !ok {
			break
		}
		at = next
		depth++
	}
	return at, depth
}

// enter goes into the next value, up to the value of the member or element that is
// called step, and returns where that starts.
func enter(d *jsonv2.Decoder, js []byte, step string) (at int, ok bool) {
	index := -1
	switch d.PeekKind() {
	case '{':
	case '[':
		n, err := strconv.Atoi(step)
		if err != nil || n < 0 {
			return 0, false
		}
		index = n
	default:
		return 0, false
	}
	if _, err := d.ReadToken(); err != nil {
		return 0, false
	}
	for i := 0; d.PeekKind() != '}' && d.PeekKind() != ']' && d.PeekKind() != 0; i++ {
		at = int(d.InputOffset())
		for at < len(js) && strings.IndexByte(" \t\r\n,", js[at]) >= 0 {
			at++
		}
		if index >= 0 && i == index {
			return at, true
		}
		if index < 0 {
			if name, err := d.ReadToken(); err != nil {
				return 0, false
			} else if name.String() == step {
				return at, true
			}
		}
		if d.SkipValue() != nil {
			return 0, false
		}
	}
	return 0, false
}
