package command

import (
	stderrors "errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/diffreport"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemadiff"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/schema"
)

const schemaDiffHelp = `Diff compares custom resource definitions, and says what the change does to objects that
exist and to clients. It needs no objects, and cannot say how many there are.

Definitions are compared by their names, and schemas version by version. Each change has
a severity:

  data      stored objects lose something, or have values of another type
  client    the server refuses requests that it accepted, or the definition itself
  caution   objects get other values or behave otherwise; nothing is refused
  harmless  fields are added, or more is allowed; listed with --all

Fields are lost from objects in the versions in which these are stored: the storage
version of the old definition, and those in its status.storedVersions. In another version
that is served, a field that is gone concerns clients. If objects are to be stored in
another version, the schemas of both are compared, unless a webhook converts.

A field is lost if the new schema neither declares it nor keeps it, by
additionalProperties or x-kubernetes-preserve-unknown-fields. Of patterns, rules in CEL,
allOf, anyOf, oneOf and not it is often unknown whether they got stricter: a change of
them counts as one for clients. Values that became invalid stay in stored objects, and are
refused where they are written anew. Descriptions are not compared.

A definition that is only among the old ones counts as deleted. From standard input, as
from a cluster, those of groups that are not among the new ones are left out.

OLD and NEW are files, folders, patterns, or - for standard input. REVISION:PATH is a file
or a folder as it is in a revision of git.

Exit codes: 0 if there are no changes that --fail-on counts; 1 if there are; 2 if the
arguments are wrong; 3 if something could not be read.`

func newSchemaDiffCommand(p *process) *cobra.Command {
	d := differ{
		process: p,
		output:  flagvalue.Choice{Value: "text", Values: []string{"text", "json", "markdown"}},
		color:   flagvalue.Choice{Value: "auto", Values: []string{"auto", "always", "never"}},
		failOn:  flagvalue.Choice{Value: "client", Values: append([]string{"never"}, schemadiff.Severities...)},
	}
	cmd := &cobra.Command{
		Use:                   "diff OLD NEW",
		DisableFlagsInUseLine: true,
		Short:                 "Say what a change of definitions does to objects and clients",
		Long:                  schemaDiffHelp,
		Example: `  # What does the upgrade to the new release do?
  espalier schema diff release-1.4/crds/ release-1.5/crds/

  # May this branch be merged?
  espalier schema diff main:config/crd config/crd
  espalier schema diff -o markdown main:config/crd config/crd >comment.md

  # Does an upgrade lose data that the cluster has?
  kubectl get crds -o yaml | espalier schema diff --fail-on data - release-1.5/crds/`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return d.run(args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flagvalue.Add(cmd, &d.failOn, "fail-on", "", "the least severity of changes that make the command fail")
	flags.BoolVar(&d.all, "all", false, "list harmless changes, too; JSON and Markdown have them anyway")
	flagvalue.Add(cmd, &d.output, "output", "o", "output format: text, one JSON object, or Markdown for a pull request")
	flagvalue.Add(cmd, &d.color, "color", "", "whether to color the output; auto means on a terminal, unless NO_COLOR is set")
	return cmd
}

// A differ compares definitions.
type differ struct {
	*process
	all                   bool
	failOn, output, color flagvalue.Choice
}

func (d *differ) run(args []string) error {
	if len(args) < 2 {
		return stderrors.New("name the old definitions and the new ones, such as main:config/crd and config/crd")
	}
	old, updated := args[0], args[1]
	if old == "-" && updated == "-" {
		return stderrors.New("standard input cannot be both the old and the new definitions")
	}
	before, err := schemas.ReadState(old, d.stdin)
	if err != nil {
		d.failReading(err)
		return nil
	}
	after, err := schemas.ReadState(updated, d.stdin)
	if err != nil {
		d.failReading(err)
		return nil
	}
	d.warnOfPatches("", slices.Concat(before.LeftOut, after.LeftOut))
	olds, news := before.Definitions(), after.Definitions()
	compared := olds
	if old == "-" {
		compared = ofGroups(olds, news)
	}
	r := diffreport.New(schemadiff.Compare(compared, news), before, after)
	r.NotCompared = len(olds) - len(compared)
	if err := d.write(r); err != nil {
		d.fail(fmt.Errorf("writing the output: %w", err))
		return nil
	}
	least := schemadiff.Severity(slices.Index(schemadiff.Severities, d.failOn.Value) + 1)
	if least > 0 && r.Worst() >= least {
		d.code = max(d.code, ExitFindings)
	}
	return nil
}

// ofGroups returns the definitions whose groups others have.
func ofGroups(all, others []*schema.CRD) []*schema.CRD {
	return slices.DeleteFunc(slices.Clone(all), func(crd *schema.CRD) bool {
		return !slices.ContainsFunc(others, func(other *schema.CRD) bool { return other.Group == crd.Group })
	})
}

func (d *differ) write(r *diffreport.Report) error {
	var text []byte
	var err error
	switch d.output.Value {
	case "json":
		text, err = r.JSON()
	case "markdown":
		text = r.Markdown()
	default:
		least := schemadiff.Caution
		if d.all {
			least = schemadiff.Harmless
		}
		text = r.Text(terminal.NewPainter(d.color.Value, d.stdout), least)
	}
	if err == nil {
		err = report.WriteAll(d.stdout, text)
	}
	if err == nil && d.output.Value == "text" {
		_, err = io.WriteString(d.stderr, r.Summary(d.all)+"\n")
	}
	return err
}
