package main

import (
	stderrors "errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
)

func newSchemaSkeletonCommand(p *process) *cobra.Command {
	o := newOptions(p, "strict")
	cmd := &cobra.Command{
		Use:                   "skeleton [FILE|-]...",
		DisableFlagsInUseLine: true,
		Short:                 "Write the skeleton of OpenAPI schemas, by which objects are pruned",
		Long: `Skeleton derives a schema for pruning from any OpenAPI v3 validation schema: it has
all fields that are specified under properties anywhere in it, also under allOf,
anyOf, oneOf and not, and none of the rest. Of a custom resource definition it writes
one for each version.

Exit codes: 0; 1 if a schema has no skeleton; 2 if the arguments are wrong; 3 if
something could not be read.`,
		Example: `  # What would be pruned by a schema that is not structural?
  espalier schema skeleton openapi-schema.yaml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			names, err := o.inputs(args)
			if err == nil {
				o.skeletons(names)
			}
			return err
		},
	}
	o.addInputFlags(cmd)
	return cmd
}

// skeletons writes the skeletons of the schemas in files as YAML documents.
func (o *options) skeletons(names []string) {
	s, ok := o.load()
	if !ok {
		return
	}
	set := o.settings(s)
	set.checks, set.ignoreMissing = true, true
	e := newExaminer(set)
	t := transformer{options: o, output: choice{value: "yaml"}}
	for _, name := range names {
		e.read(name, o.stdin, func(obj *object) bool {
			// What a definition has besides is no matter here.
			obj.findings = slices.DeleteFunc(obj.findings, func(f finding) bool { return f.rule == ruleUnknown })
			for _, steps := range schemasIn(obj) {
				e.skeleton(obj, steps)
				if obj.output != nil && t.print(obj.output) != nil {
					return false
				}
				obj.output = nil
			}
			if v := &obj.verdict; len(v.findings) > 0 {
				o.code = max(o.code, map[bool]int{true: exitInput, false: exitFindings}[v.isFatal()])
				_, _ = o.stderr.Write(textPrinter{}.append(nil, displayName(name), v))
			}
			return true
		})
	}
}

// schemasIn returns where an object has schemas: it is one, or a definition.
func schemasIn(o *object) (all [][]step) {
	switch {
	case o.result == nil || o.isList:
	case isDefinition(o.apiVersion, o.kind):
		if shared := fields("spec", "validation", "openAPIV3Schema"); hasValue(o.doc.json, shared) {
			all = append(all, shared)
		}
		for i := 0; ; i++ {
			version := append(fields("spec", "versions"), element(i))
			if !hasValue(o.doc.json, version) {
				return all
			}
			if below := append(version, fields("schema", "openAPIV3Schema")...); hasValue(o.doc.json, below) {
				all = append(all, below)
			}
		}
	case o.kind == "" && o.apiVersion == "":
		all = append(all, nil)
	}
	return all
}

func hasValue(js []byte, steps []step) bool {
	_, ok := valueAt(js, steps)
	return ok
}

// skeleton makes the output of an object of which the schema is at some place, or adds
// why there is none.
func (e *examiner) skeleton(o *object, steps []step) {
	value, _ := valueAt(o.doc.json, steps)
	s, err := schema.Skeleton(value)
	var faults errors.SchemaErrors
	switch {
	case stderrors.As(err, &faults):
		for _, fault := range faults {
			fault.Field = strings.TrimPrefix(strings.Join(keys(steps), ".")+strings.TrimPrefix(fault.Field, "openAPIV3Schema"), ".")
			e.addFault(o, failure, fault)
		}
		return
	case err != nil:
		e.refuse(o, err, o.doc.locate)
		return
	}
	js, err := jsonv2.Marshal(s, jsonv2.Deterministic(true))
	if err == nil {
		o.output, err = yamlDocument(js)
	}
	if err != nil {
		e.refuse(o, err, o.doc.locate)
	}
}
