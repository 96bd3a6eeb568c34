package command

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
)

func newSchemaSkeletonCommand(p *process) *cobra.Command {
	o := newOptions(p, "strict")
	cmd := &cobra.Command{
		Use:                   "skeleton [FILE|-]...",
		DisableFlagsInUseLine: true,
		Short:                 "Write the skeletons of OpenAPI schemas, which objects are pruned by",
		Long: `Skeleton derives a schema for pruning from any OpenAPI v3 validation schema. The
skeleton has all fields that the schema specifies under properties, including those
under allOf, anyOf, oneOf and not, and nothing else. For a custom resource definition
there is one skeleton per version.

Exit codes: 0 if every schema has a skeleton; 1 if one has none; 2 if the arguments are
wrong; 3 if something could not be read.`,
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
	s, ok := o.load(nil)
	if !ok {
		return
	}
	set := o.settings(s)
	set.Check, set.IgnoreMissing = true, true
	e := examine.New(set)
	t := transformer{options: o, output: flagvalue.Choice{Value: "yaml"}}
	for _, name := range names {
		e.Read(name, o.stdin, func(obj *examine.Object) bool {
			// Unknown fields of a definition do not matter here.
			obj.Findings = slices.DeleteFunc(obj.Findings, func(f finding.Finding) bool { return f.Rule == finding.RuleUnknown })
			for _, steps := range examine.SchemasIn(obj) {
				e.Skeleton(obj, steps)
				if obj.Output != nil && t.print(obj.Output) != nil {
					return false
				}
				obj.Output = nil
			}
			if v := &obj.Outcome; len(v.Findings) > 0 {
				o.code = max(o.code, map[bool]int{true: ExitInput, false: ExitFindings}[v.IsFatal()])
				_, _ = o.stderr.Write(report.TextPrinter{}.Append(nil, input.DisplayName(name), v))
			}
			return true
		})
	}
}
