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
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/schema"
)

func newSchemaCommand(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Validate, compare, list, show and derive schemas, and make objects of them",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSchemaValidateCommand(p), newSchemaSkeletonCommand(p), newSchemaListCommand(p), newSchemaShowCommand(p),
		newSchemaExampleCommand(p), newSchemaDiffCommand(p))
	return cmd
}

const schemaValidateHelp = `Validate says why the API server would refuse custom resource definitions: because
of their schemas, names, versions or rules in CEL. It uses the server's messages and adds
the lines, which lead into the expressions of rules. For a rule whose estimated cost is
too high it names the lists, maps and strings that the rule goes over without a limit. A
field that does not exist in definitions or schemas is an error. A violation of the
documented rules that the server accepts is a warning.

With --old, definitions are validated as updates of those of the same names there: some
faults of the old ones may stay, as on the server. The old ones are taken for
established, so that their scope and kind must stay, and their storage versions for
stored, so that these versions must stay, as must those in status.storedVersions.
Definitions that are not among the old ones are new.

A document without apiVersion and kind is taken for a schema, the value of
openAPIV3Schema, if it has type: object or properties that are mappings, and no
$schema, which marks JSON Schema. In a file that is named as an argument, any field of
a schema is enough. Other objects are skipped, and so are definitions that are only a
part of one, such as patches, and documents that are templates. A file that is named as
an argument must have a definition or a schema.

Exit codes: 0 if there are no findings, or only warnings; 1 if there are errors; 2 if
the arguments are wrong; 3 if something could not be read.`

func newSchemaValidateCommand(p *process) *cobra.Command {
	o := newOptions(p, "strict")
	var old []string
	cmd := &cobra.Command{
		Use:                   "validate [--old FILE|DIR]... [FILE|DIR|-]...",
		DisableFlagsInUseLine: true,
		Short:                 "Say why the API server refuses definitions, with lines",
		Long:                  schemaValidateHelp,
		Example: `  # Are these definitions structural?
  espalier schema validate config/crd/

  # May they replace those of the last release?
  espalier schema validate --old release/crds/ config/crd/`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			names, err := o.inputs(args)
			if err == nil {
				o.validateSchemas(names, named(append(slices.Clip(o.names), args...)), old)
			}
			return err
		},
	}
	o.addInputFlags(cmd)
	cmd.Flags().StringArrayVar(&old, "old", nil, "`path` of the definitions that are replaced: a file, a folder or a pattern; may be repeated")
	flagvalue.Add(cmd, &o.color, "color", "", "whether to color the output; auto means on a terminal, unless NO_COLOR is set")
	return cmd
}

// named returns which arguments are files, and not folders or patterns.
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

// validateSchemas reports the faults of the definitions and schemas in files. Each file in
// isNamed must have a definition or a schema. old are the files of the definitions that are
// replaced.
func (o *options) validateSchemas(names []string, isNamed map[string]bool, old []string) {
	s, ok := o.load(nil)
	if !ok {
		return
	}
	set := o.settings(s)
	if set.OldDefinitions, ok = o.oldDefinitions(old); !ok {
		return
	}
	set.Check, set.Sources, set.IgnoreMissing = true, terminal.Is(o.stdout), true
	text := report.TextPrinter{Painter: terminal.NewPainter(o.color.Value, o.stdout), Sources: set.Sources}
	examiners := o.examiners(set)
	var partial, passed, compared, templates int
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
		if v.IsTemplate && v.Document == 0 {
			templates++
		}
		if v.Compared {
			compared++
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
	if len(old) > 0 {
		fmt.Fprintf(o.stderr, "%s compared with old ones, which are taken for established, and their storage versions for stored\n", finding.Count(compared, "definition"))
	}
	if passed+partial > 0 {
		fmt.Fprintf(o.stderr, "skipped: %s without a definition or a schema, %s\n", finding.Count(passed, "file"), finding.Count(partial, "partial definition"))
	}
	if templates > 0 {
		it := "they render"
		if templates == 1 {
			it = "it renders"
		}
		fmt.Fprintf(o.stderr, "skipped: %s: validate what %s to\n", finding.Count(templates, "template"), it)
	}
}

// oldDefinitions reads the definitions that are replaced. If that fails, it is reported.
func (o *options) oldDefinitions(names []string) (map[string]*schema.CRD, bool) {
	old, err := schemas.OldDefinitions(names)
	if err == nil {
		return old, true
	}
	o.failReading(err)
	return nil, false
}
