package command

import (
	stderrors "errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/explain"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

const explainHelp = `Explain says why a field is kept, pruned, defaulted or refused: by which parts of the
schema, in which file and line, and by which rule of the API server. That includes
required fields and allowed values.

The path is written as in the messages of the API server, spec.containers[0].image,
with or without a $ in front, or as a JSON Pointer, /spec/containers/0/image. It may
lead to a field that is absent. Then explain says whether the field has a default, and
why that default is not inserted. Values are validated as in espalier check.

With the name of a rule, such as unknown-field, explain describes the findings of this
rule: why the server decides so, and how to mend and to silence them. Without
arguments, it lists the rules.

If the file has several objects, each one with a schema is explained. The items of a
List are objects of their own: items[0].spec.image is spec.image of the first one.
--kind and --name choose among the objects.

Exit codes: 0 if something was explained; 1 if no object in the file has a schema, or
if neither an object nor a schema has the field; 2 if the arguments are wrong; 3 if
something could not be read, decoded or written.`

const explainExamples = `  # Why did this field vanish?
  espalier explain --crd crds/ backupplan.yaml spec.retention.dayly

  # What does a finding mean?
  espalier explain invalid-value/required

  # Where does this value come from?
  kubectl get backupplan databases -o json | espalier explain --crd crds/ - spec.suspend

  # One object of several.
  espalier explain --crd crds/ --kind BackupPlan --name databases all.yaml spec.suspend`

var errExplainArgs = stderrors.New("explain takes two arguments: a file, or - for standard input, and the path of a field")

func newExplainCommand(p *process) *cobra.Command {
	o := newOptions(p, "warn")
	var chosen selection
	cmd := &cobra.Command{
		Use:                   "explain --crd FILE|DIR... FILE|- PATH | explain [RULE]",
		DisableFlagsInUseLine: true,
		Short:                 "Say why a field is kept, pruned, defaulted or refused",
		Long:                  explainHelp,
		Example:               explainExamples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 2 {
				return errExplainArgs
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return o.explainRule(args)
			}
			if err := config.Apply(cmd.Flags(), o.config); err != nil {
				return err
			}
			if err := o.needSchemas(); err != nil {
				return err
			}
			if s, ok := o.load(validation.Values(cel.Rules()), schema.CheckTypes(true)); ok {
				return o.explain(s, args[0], args[1], chosen)
			}
			return nil
		},
	}
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) != 1 {
			return completeRules(cmd, args, begun)
		}
		return o.completePath(cmd, args[0], begun, chosen), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	o.addSchemaFlags(cmd)
	cmd.Flags().StringVar(&chosen.kind, "kind", "", "explain only objects of this `kind`, or APIVERSION/KIND")
	cmd.Flags().StringVar(&chosen.name, "name", "", "explain only objects of this `name`, or NAMESPACE/NAME")
	flagvalue.Add(cmd, &o.color, "color", "", "whether to color the output; auto means on a terminal, unless NO_COLOR is set")
	return cmd
}

// A selection says which objects are explained: those of a kind and with a name, if these are not
// empty.
type selection struct{ kind, name string }

// has reports whether an object is chosen.
func (c selection) has(o *examine.Object) bool {
	namespace, name := locate.ObjectName(o.Doc.JSON)
	return slices.Contains([]string{"", o.Kind, o.APIVersion + "/" + o.Kind}, c.kind) &&
		slices.Contains([]string{"", name, namespace + "/" + name}, c.name)
}

// explain explains a path in each chosen object of a file.
func (o *options) explain(s *schemas.Loaded, file, path string, chosen selection) (usage error) {
	set := o.settings(s)
	set.KeepAll, set.Sources, set.Explain, set.Values = true, true, true, true
	e := examine.New(set)
	x := explain.Explainer{Painter: terminal.NewPainter(o.color.Value, o.stdout), File: input.DisplayName(file), Files: &s.Files}
	explained, met := 0, false
	var list explain.ListPath
	e.Read(file, o.stdin, func(obj *examine.Object) bool {
		isOther := !obj.IsList && obj.Kind != "" && !chosen.has(obj)
		switch {
		case obj.IsFatal() && !isOther:
			o.code = max(o.code, ExitInput)
			_, _ = o.stderr.Write(report.TextPrinter{Painter: x.Painter}.Append(nil, x.File, &obj.Outcome))
		case obj.IsList:
			list, usage = explain.NewListPath(path, len(obj.Items))
			return usage == nil
		}
		within, isMeant := list.Next(path)
		if obj.IsFatal() || !isMeant || isOther {
			return true
		}
		met = true
		entry, _ := s.Entry(obj.APIVersion, obj.Kind)
		steps, err := locate.Parse(within, obj.Doc.JSON)
		if err != nil {
			usage = err
			return false
		}
		text, isKnown, err := x.Object(obj, entry, steps)
		if err != nil {
			o.fail(err)
			return true
		}
		if err := report.WriteAll(o.stdout, text); err != nil {
			o.fail(fmt.Errorf("writing the output: %w", err))
			return false
		}
		if isKnown {
			explained++
		}
		return true
	})
	if !met && usage == nil && o.code == ExitClean && chosen != (selection{}) {
		sanitize.WriteErrors(o.stderr, fmt.Errorf("%s has no object of this --kind and --name", sanitize.Name(x.File)))
	}
	if explained == 0 && usage == nil {
		o.code = max(o.code, ExitFindings)
	}
	return usage
}
