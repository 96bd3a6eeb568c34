package main

import (
	stderrors "errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

func newSchemaCommand(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Look at schemas: their faults, what is known, how they are read",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSchemaValidateCommand(p), newSchemaSkeletonCommand(p), newSchemaListCommand(p), newSchemaShowCommand(p))
	return cmd
}

const schemaValidateHelp = `Validate says why the API server would refuse the schemas of custom resource
definitions, with its messages, and on which line. A document that has neither
apiVersion nor kind is taken for a schema: the value of openAPIV3Schema. What is
against the rules of the documents, but not refused, is a warning. Rules in CEL are
not compiled. Other objects are passed over.

Exit codes: 0 if nothing was found, or only warnings; 1 if there are faults; 2 if the
arguments are wrong; 3 if something could not be read.`

func newSchemaValidateCommand(p *process) *cobra.Command {
	o := newOptions(p, "strict")
	cmd := &cobra.Command{
		Use:                   "validate [FILE|DIR|-]...",
		DisableFlagsInUseLine: true,
		Short:                 "Say why the API server refuses definitions, with lines",
		Long:                  schemaValidateHelp,
		Example: `  # Are these definitions structural?
  espalier schema validate config/crd/`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			names, err := o.inputs(args)
			if err == nil {
				o.validateSchemas(names)
			}
			return err
		},
	}
	o.addInputFlags(cmd)
	addChoice(cmd, &o.color, "color", "", "whether to color the output; auto is on a terminal, unless NO_COLOR is set")
	return cmd
}

// validateSchemas reports the faults of the definitions and schemas in files.
func (o *options) validateSchemas(names []string) {
	s, ok := o.load()
	if !ok {
		return
	}
	set := o.settings(s)
	set.checks, set.sources, set.ignoreMissing = true, isTerminal(o.stdout), true
	text := textPrinter{painter(wantsColor(o.color.value, o.stdout)), set.sources}
	examiners := o.examiners(set)
	err := o.each(names, func(worker int, name string, emit func(*verdict) bool) {
		e := examiners[worker]
		e.read(name, o.stdin, func(obj *object) bool {
			switch {
			case obj.result == nil: // it cannot be read
			case isDefinition(obj.apiVersion, obj.kind):
				e.checkDefinition(obj)
			case obj.apiVersion == "" && obj.kind == "":
				e.checkSchema(obj)
			default:
				obj.findings = nil // it is no concern of this command
			}
			return emit(&obj.verdict)
		})
	}, func(name string, v *verdict) error {
		if v.worst() == failure {
			o.code = max(o.code, exitFindings)
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
	}
}

// checkSchema adds what is wrong with a schema that stands alone.
func (e *examiner) checkSchema(o *object) {
	s, err := schema.Parse(o.doc.json)
	if err != nil {
		e.refuse(o, err, o.doc.locate)
		return
	}
	var faults errors.SchemaErrors
	if stderrors.As(s.Validate(), &faults) {
		for _, fault := range faults {
			e.addFault(o, failure, fault)
		}
	}
	for _, fault := range s.Warnings() {
		e.addFault(o, warning, fault)
	}
}
