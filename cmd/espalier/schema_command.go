package main

import (
	"slices"

	"github.com/spf13/cobra"
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

const schemaValidateHelp = `Validate says why the API server would refuse custom resource definitions: their
schemas, names and versions, with its messages, and on which line. A field that a
definition or a schema does not have is a fault. What is against the rules of the
documents, but not refused, is a warning. Rules in CEL are not compiled.

A document that has neither apiVersion nor kind is taken for a schema, the value of
openAPIV3Schema, if it has type: object, or properties that are mappings, and no
$schema, as those of JSON Schema have it; in a file that is named, if it has any
field of a schema. Other objects, and definitions that are only a part of one, as
patches are, are passed over. A file that is named must have a definition or a schema.

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
				o.validateSchemas(names, named(append(slices.Clip(o.names), args...)))
			}
			return err
		},
	}
	o.addInputFlags(cmd)
	addChoice(cmd, &o.color, "color", "", "whether to color the output; auto is on a terminal, unless NO_COLOR is set")
	return cmd
}
