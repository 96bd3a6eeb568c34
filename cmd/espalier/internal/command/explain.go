package command

import (
	stderrors "errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/explain"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

const explainHelp = `Explain says why a field is kept, pruned, defaulted or refused: what the schema says on
the way to it, in which file and line, and which rule decides. That includes which
fields are required, and which values are allowed.

The path is written as in the messages of the API server, spec.containers[0].image,
with or without a $ in front, or as a JSON Pointer, /spec/containers/0/image. It may
lead to a field that is absent. Then explain says whether the field has a default, and
why that default is not inserted. Values are validated as in espalier check.

If the file has several objects, each one with a schema is explained. The items of a
List are objects of their own: items[0].spec.image is spec.image of the first one.

Exit codes: 0 if something was explained; 1 if no object in the file has a schema, or
if neither an object nor a schema has the field; 2 if the arguments are wrong; 3 if
something could not be read, decoded or written.`

const explainExamples = `  # Why did this field vanish?
  espalier explain --crd crds/ backupplan.yaml spec.retention.dayly

  # Where does this value come from?
  kubectl get backupplan databases -o json | espalier explain --crd crds/ - spec.suspend`

func newExplainCommand(p *process) *cobra.Command {
	o := newOptions(p, "warn")
	cmd := &cobra.Command{
		Use:                   "explain --crd FILE|DIR... FILE|- PATH",
		DisableFlagsInUseLine: true,
		Short:                 "Say why a field is kept, pruned, defaulted or refused",
		Long:                  explainHelp,
		Example:               explainExamples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return stderrors.New("explain takes two arguments: a file, or - for standard input, and the path of a field")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := config.Apply(cmd.Flags(), o.config); err != nil {
				return err
			}
			if len(o.crds)+len(o.openAPI) == 0 {
				return errNoSchemas
			}
			if s, ok := o.load(schema.CheckTypes(true), validation.Values()); ok {
				return o.explain(s, args[0], args[1])
			}
			return nil
		},
	}
	o.addSchemaFlags(cmd)
	flagvalue.Add(cmd, &o.color, "color", "", "whether to color the output; auto means on a terminal, unless NO_COLOR is set")
	return cmd
}

// explain explains a path in each object of a file.
func (o *options) explain(s *schemas.Loaded, file, path string) (usage error) {
	set := o.settings(s)
	set.KeepAll, set.Sources, set.Explain, set.Values = true, true, true, true
	e := examine.New(set)
	x := explain.Explainer{Painter: terminal.NewPainter(o.color.Value, o.stdout), File: input.DisplayName(file), Files: &s.Files}
	explained := 0
	var list explain.ListPath
	e.Read(file, o.stdin, func(obj *examine.Object) bool {
		switch {
		case obj.IsFatal():
			o.code = max(o.code, ExitInput)
			_, _ = o.stderr.Write(report.TextPrinter{Painter: x.Painter}.Append(nil, x.File, &obj.Outcome))
		case obj.IsList:
			list, usage = explain.NewListPath(path, len(obj.Items))
			return usage == nil
		}
		within, isMeant := list.Next(path)
		if obj.IsFatal() || !isMeant {
			return true
		}
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
	if explained == 0 && usage == nil {
		o.code = max(o.code, ExitFindings)
	}
	return usage
}
