package main

import (
	"bytes"
	"cmp"
	stderrors "errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/definition"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// named returns which arguments are files themselves, and not folders or patterns in which
// they are looked for.
func named(arguments []string) map[string]bool {
	files := map[string]bool{}
	if len(arguments) == 0 {
		files["-"] = true
	}
	for _, name := range arguments {
		info, err := os.Stat(name)
		files[name] = name == "-" || err == nil && !info.IsDir()
	}
	return files
}

// validateSchemas reports the faults of the definitions and schemas in files. Those in isNamed
// must have one.
func (o *options) validateSchemas(names []string, isNamed map[string]bool) {
	s, ok := o.load()
	if !ok {
		return
	}
	set := o.settings(s)
	set.checks, set.sources, set.ignoreMissing = true, isTerminal(o.stdout), true
	text := textPrinter{painter: painter(wantsColor(o.color.value, o.stdout)), sources: set.sources}
	examiners := o.examiners(set)
	var partial, passed int
	err := o.each(names, func(worker int, name string, emit func(*verdict) bool) {
		examiners[worker].validateFile(name, o.stdin, isNamed[name], emit)
	}, func(name string, v *verdict) error {
		if v.worst() == failure {
			o.code = max(o.code, exitFindings)
		}
		if v.partial {
			partial++
		}
		if v.passed {
			passed++
		}
		for i := range v.findings {
			if v.findings[i].rule == ruleUnreadable {
				o.code = exitInput
			}
		}
		return writeAll(o.stdout, text.append(nil, displayName(name), v))
	})
	if err != nil {
		o.fail(fmt.Errorf("writing the output: %w", err))
		return
	}
	if passed+partial > 0 {
		fmt.Fprintf(o.stderr, "passed over: %s without a definition or a schema, %s\n", count(passed, "file"), count(partial, "partial definition"))
	}
}

// validateFile emits the faults in a file. One in which there is nothing to validate is passed
// over, unless it was named.
func (e *examiner) validateFile(name string, stdin io.Reader, isNamed bool, emit func(*verdict) bool) {
	validated, partial := 0, false
	e.read(name, stdin, func(obj *object) bool {
		switch {
		case obj.result == nil: // it cannot be read
			validated++
		case isDefinition(obj.apiVersion, obj.kind):
			e.checkDefinition(obj)
			if partial = partial || obj.partial; !obj.partial {
				validated++
			}
		case obj.apiVersion == "" && obj.kind == "" && isSchema(obj.doc.json, isNamed):
			e.checkSchema(obj)
			validated++
		default:
			obj.findings = nil // it is no concern of this command
		}
		slices.SortStableFunc(obj.findings, func(a, b finding) int { return cmp.Compare(a.at.Offset, b.at.Offset) })
		return emit(&obj.verdict)
	})
	switch {
	case validated > 0, partial && !isNamed:
	case !isNamed:
		emit(&verdict{passed: true})
	case partial:
		emit(&verdict{findings: []finding{{severity: failure, rule: ruleInvalidSchema, message: "has only parts of definitions, without spec.versions or without spec.group and spec.names"}}})
	default:
		emit(&verdict{findings: []finding{{severity: failure, rule: ruleInvalidSchema, message: "has no custom resource definition and no schema"}}})
	}
}

// schemaFields are the names of the fields of a schema.
var schemaFields = definition.Props().Properties

// isSchema reports whether a document without apiVersion and kind is a schema. Configurations
// of many programs have neither: unless the file was named, it must say that it is about
// objects.
func isSchema(js []byte, isNamed bool) bool {
	var hasField, isObject, hasDialect bool
	d := newTextDecoder(bytes.NewReader(js))
	members(d, func(name string) bool {
		value, err := d.ReadValue()
		if err != nil {
			return false
		}
		_, known := schemaFields[name]
		hasField = hasField || known
		switch name {
		case "$schema":
			hasDialect = true
		case "type":
			isObject = isObject || string(value) == `"object"`
		case "properties":
			isObject = isObject || hasMappings(value)
		}
		return true
	})
	return isObject && !hasDialect || isNamed && hasField
}

// hasMappings reports whether a value is an object, not empty, of objects.
func hasMappings(value jsonv2.Value) bool {
	if value.Kind() != '{' {
		return false
	}
	n, all := 0, true
	each(newTextDecoder(bytes.NewReader(value)), func(_ string, v jsonv2.Value) {
		n++
		all = all && v.Kind() == '{'
	})
	return n > 0 && all
}

// checkSchema adds what is wrong with a schema that stands alone.
func (e *examiner) checkSchema(o *object) {
	o.findings = nil
	e.decode(o, e.props)
	s, err := schema.Parse(o.doc.json)
	if err != nil {
		e.refuse(o, err, o.doc.locate)
		return
	}
	var faults errors.SchemaErrors
	if stderrors.As(validation.Structural(s), &faults) {
		for _, fault := range faults {
			e.addFault(o, failure, fault)
		}
	}
	for _, fault := range validation.Warnings(s) {
		e.addFault(o, warning, fault)
	}
}
