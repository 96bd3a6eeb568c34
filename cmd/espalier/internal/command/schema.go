package command

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
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
	flagvalue.Add(cmd, &o.color, "color", "", "whether to color the output; auto is on a terminal, unless NO_COLOR is set")
	return cmd
}

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
	set.Check, set.Sources, set.IgnoreMissing = true, terminal.Is(o.stdout), true
	text := report.TextPrinter{Painter: terminal.Painter(terminal.WantsColor(o.color.Value, o.stdout)), Sources: set.Sources}
	examiners := o.examiners(set)
	var partial, passed int
	err := o.each(names, func(worker int, name string, emit func(*finding.Outcome) bool) {
		examiners[worker].ValidateFile(name, o.stdin, isNamed[name], emit)
	}, func(name string, v *finding.Outcome) error {
		if v.Worst() == finding.Error {
			o.code = max(o.code, ExitFindings)
		}
		if v.Partial {
			partial++
		}
		if v.Passed {
			passed++
		}
		for i := range v.Findings {
			if v.Findings[i].Rule == finding.RuleUnreadable {
				o.code = ExitInput
			}
		}
		return report.WriteAll(o.stdout, text.Append(nil, input.DisplayName(name), v))
	})
	if err != nil {
		o.fail(fmt.Errorf("writing the output: %w", err))
		return
	}
	if passed+partial > 0 {
		fmt.Fprintf(o.stderr, "passed over: %s without a definition or a schema, %s\n", finding.Count(passed, "file"), finding.Count(partial, "partial definition"))
	}
}
