package command

import (
	stderrors "errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/layout"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/replace"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/rewrite"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/yamlwriter"
	"github.com/espalier-dev/espalier/schema"
)

const pruneHelp = `Prune reads custom resources and writes them pruned and defaulted.

The apiVersion and kind of an object lead to its schema, among those that --crd and
--openapi name, or to that of a built-in kind. Unknown fields are removed and defaults
are inserted. If a name occurs twice in one object, the last value wins. The objects
are written to standard output, each as a document of its own.

With --write, nothing is written to standard output. Instead, unknown fields and the
values that did not win are removed from the files. The rest of a file is not touched:
order, style and comments stay, except for comments on the lines of a removed field,
directly above it, or below it with a deeper indentation. A mapping that loses all
its members becomes {}. Defaults are not written: the API server inserts them, or see
espalier default. --diff shows the changes that --write would make, and makes none;
--list-changed lists the files that would change, or with --write those that did.

A file is replaced as a whole. Before that, its new content is read again, and must
give the same objects as before with nothing more to remove. Otherwise the file is
left as it is, with all of its documents, and that is an error. This happens if a
document cannot be read or has no schema, if the lines of a field cannot be removed
(because they hold an anchor that is used elsewhere, for example), and if somebody
else has changed the file meanwhile. Comments that look like template code or like
directives, such as those of yamllint, are kept, with a warning. Links that lead out of
a folder are not followed.

With --keep, only the fields at the given paths are left of the results, with type and
metadata, but without managedFields: what a client sees through the transport of
package projection. [] stands for the items of a list, * for any name. A last line on
standard error has the sizes. No schema is needed then. Where there is one, a warning
names the paths that it does not specify.

Unknown and duplicate fields are reported on standard error, one per line, as
file:line:column. They are warnings by default, as in the API server, and errors with
--validate=strict. Objects and files are written in either case.

` + leftOutHelp + inputHelp + `

Memory holds one document of each file that is being read, or some of one large file for
each of --jobs, and with --diff the changes.
An object without a schema is an error. With --ignore-missing-schemas it is written as
it is, and only its duplicate names are reported.

Exit codes: 0 if there are no findings, or only warnings; 1 if there are findings and
they are errors, or if --diff or --list-changed show a difference that is not written;
2 if the arguments are wrong; 3 if something could not be read, decoded or written.`

// leftOutHelp is for commands that write results.
const leftOutHelp = `In folders, what is for no API server is left out, and is counted on standard error:
files without objects, such as the values of a chart, the files of kustomize, and
templates, which have to be rendered first. They are errors where an argument names
them. So are documents without apiVersion and kind in a file with objects.

`

const pruneExamples = `  # Prune and default an object; warnings go to the terminal.
  espalier prune --crd crd.yaml -f backupplan.yaml

  # In a pipe, with one JSON object per line.
  kubectl get backupplans -o json | espalier prune --crd crds/ -o ndjson

  # Remove unknown fields from manifests, after a look at the changes.
  espalier prune --crd crds/ --diff manifests/
  espalier prune --crd crds/ --write manifests/

  # Input that holds objects of other kinds as well.
  helm template . | espalier prune --crd crds/ --ignore-missing-schemas

  # What would be left for a client that reads two fields?
  kubectl get backupplans -o json | espalier prune --keep spec.schedule --keep status`

func newPruneCommand(p *process) *cobra.Command {
	t := &transformer{options: newOptions(p, "warn"), rewriter: rewrite.NewPruner}
	cmd := t.command(&cobra.Command{
		Use:     "prune --crd FILE|DIR... [-f FILE|DIR|-]... [FILE|DIR|-]...",
		Short:   "Write objects pruned and defaulted, and report unknown and duplicate fields",
		Long:    pruneHelp,
		Example: pruneExamples,
	})
	t.keeper.addFlag(cmd)
	return cmd
}

// A transformer writes the results for objects, or edits the files with the objects.
type transformer struct {
	*options
	compile []schema.Option
	// rewriter returns what edits files.
	rewriter func(*examine.Settings) *rewrite.Rewriter

	named  map[string]bool
	layout *layout.Layout
	passed report.Summary // files that were passed over

	output             flagvalue.Choice
	write, diff, lists bool
	written            int // how many documents

	defaults    bool // it is there for the defaults
	undefaulted int  // objects whose defaults are in no schema

	keeper keeper
}

// command gives a command its flags and its function.
func (t *transformer) command(cmd *cobra.Command) *cobra.Command {
	t.output = flagvalue.Choice{Value: "yaml", Values: []string{"yaml", "json", "ndjson"}}
	cmd.DisableFlagsInUseLine = true
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := excluded(cmd); err != nil {
			return err
		}
		if err := config.Apply(cmd.Flags(), t.config); err != nil {
			return err
		}
		if err := t.keeper.prepare(); err != nil {
			return err
		}
		// A projection needs no schema.
		if t.ignoreMissing = t.ignoreMissing || t.keeper.projection != nil; t.keeper.projection == nil {
			if err := t.needSchemas(); err != nil {
				return err
			}
		}
		if t.write && (len(t.names)+len(args) == 0 || slices.Contains(append(slices.Clip(t.names), args...), "-")) {
			return stderrors.New("--write edits files, and standard input is not a file: name the files, or redirect the output without --write")
		}
		arguments, err := t.arguments(args)
		if err != nil {
			return err
		}
		names := t.expand(arguments)
		if t.inPlace() {
			names = input.Within(arguments, names, func(name, target string) {
				fmt.Fprintf(t.stderr, "%s: warning: leads out of the folder to %s, and is not edited: name it as an argument to have it edited [%s]\n", sanitize.Visible(name), sanitize.Visible(target), finding.RuleEdit)
			})
		}
		t.named, t.layout = named(arguments), layout.Of(names)
		t.run(t.withoutParts(names))
		return nil
	}
	t.addInputFlags(cmd)
	t.addSchemaFlags(cmd)
	flagvalue.Add(cmd, &t.output, "output", "o", "output format: YAML documents, indented JSON, or one JSON object per line")
	cmd.Flags().BoolVar(&t.write, "write", false, "edit the files in place, and leave the rest of them as it is")
	cmd.Flags().BoolVar(&t.diff, "diff", false, "show the changes that --write would make, as a unified diff, and make none")
	cmd.Flags().BoolVarP(&t.lists, "list-changed", "l", false, "list the files that --write would change or has changed")
	t.addReportFlags(cmd)
	return cmd
}

// withoutParts leaves out files with parts of objects: patches of kustomize, and expectations of
// tests. What makes them parts, such as $patch, a schema does not declare; and a default would replace
// what the object has.
func (t *transformer) withoutParts(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		role, _ := t.layout.Role(name)
		if role != layout.Patch && role != layout.Assertion {
			return false
		}
		fmt.Fprintf(t.stderr, "%s: warning: has parts of objects, as a patch or the expectation of a test, and is left out [%s]\n", sanitize.Visible(name), finding.RuleEdit)
		return true
	})
}

// excluded returns an error if two flags are given that exclude each other.
func excluded(cmd *cobra.Command) error {
	for _, pair := range [][2]string{{"write", "diff"}, {"write", "output"}, {"diff", "output"}, {"list-changed", "diff"}, {"list-changed", "output"}, {"keep", "write"}, {"keep", "diff"}, {"keep", "list-changed"}} {
		if cmd.Flags().Changed(pair[0]) && cmd.Flags().Changed(pair[1]) {
			return fmt.Errorf("--%s and --%s exclude each other: give one of them", pair[0], pair[1])
		}
	}
	return nil
}

// inPlace reports whether files are edited, or their edits are shown.
func (t *transformer) inPlace() bool { return t.write || t.diff || t.lists }

func (t *transformer) run(names []string) {
	s, ok := t.load(nil, t.compile...)
	if !ok {
		return
	}
	set := t.settings(s)
	set.KeepAll, set.Sources = t.inPlace(), terminal.Is(t.stderr)
	set.Layout, set.Named = t.layout, t.named
	t.divide(set, names)
	text := report.TextPrinter{Painter: terminal.NewPainter(t.color.Value, t.stderr), Sources: set.Sources}
	colors := terminal.WantsColor(t.color.Value, t.stdout)
	if t.write {
		defer replace.RemoveOnSignal(ExitInput)()
	}
	err := t.each(names, t.work(set, colors), func(name string, v *finding.Outcome) error {
		if v.IsTemplate || v.NoObject {
			t.passed.Add(v)
			return nil
		}
		t.judge(v)
		if e, ok := s.Entry(v.APIVersion, v.Kind); ok && e.CRD.GoType && !v.IsFatal() {
			t.undefaulted++
		}
		if len(v.Findings) > 0 {
			_, _ = t.stderr.Write(text.Append(nil, input.DisplayName(name), v))
		}
		return t.print(v.Output)
	})
	if err != nil {
		t.fail(fmt.Errorf("writing the output: %w", err))
	}
	t.summarizePassed()
	t.keeper.summarize(t.process)
	if t.defaults && t.undefaulted > 0 {
		fmt.Fprintf(t.stderr, "not defaulted: %s of built-in kinds, whose defaults are code of the API server and in no schema\n", finding.Count(t.undefaulted, "object"))
	}
}

// summarizePassed says how many files of folders were left out because they are for no API server.
func (t *transformer) summarizePassed() {
	var parts []string
	if n := t.passed.NoObjects; n > 0 {
		parts = append(parts, finding.Count(n, "file")+" without objects of Kubernetes")
	}
	if n := t.passed.Templates; n > 0 {
		parts = append(parts, finding.Count(n, "template"))
	}
	if len(parts) > 0 {
		fmt.Fprintln(t.stderr, "left out: "+strings.Join(parts, ", "))
	}
}

// work returns the function that does the work for an input.
func (t *transformer) work(set *examine.Settings, colors bool) func(worker int, name string, emit func(*finding.Outcome) bool) {
	if t.inPlace() {
		rewriters := make([]*rewrite.Rewriter, t.workers())
		for i := range rewriters {
			rewriters[i] = t.rewriter(set)
		}
		return func(worker int, name string, emit func(*finding.Outcome) bool) {
			(&fileEdit{transformer: t, rewriter: rewriters[worker], name: name, colors: colors, emit: emit}).run()
		}
	}
	examiners := t.examiners(set)
	return func(worker int, name string, emit func(*finding.Outcome) bool) {
		var passed passedOver
		examiners[worker].ReadDivided(name, t.stdin, func(_ *examine.Examiner, o *examine.Object) {
			t.render(o, set.Loaded)
		}, func(o *examine.Object) bool {
			passed.add(&o.Outcome)
			return emit(&o.Outcome)
		})
		passed.end(emit)
	}
}

// judge sets the exit code for an object or a file.
func (t *transformer) judge(v *finding.Outcome) {
	switch {
	case v.IsFatal():
		t.code = max(t.code, ExitInput)
	case v.Worst() == finding.Error, v.Changes:
		t.code = max(t.code, ExitFindings)
	}
}

// render makes the output for an object.
func (t *transformer) render(o *examine.Object, s *schemas.Loaded) {
	if o.Result == nil || o.IsList {
		return
	}
	entry, _ := s.Entry(o.APIVersion, o.Kind)
	err := t.keeper.project(o, entry)
	switch {
	case err != nil:
	case t.output.Value == "yaml":
		o.Output, err = yamlwriter.Document(o.Result)
	case t.output.Value == "json":
		o.Output, err = jsonv2.AppendFormat(nil, o.Result, jsonv2.Multiline(true), jsonv2.WithIndent("  "))
		o.Output = append(o.Output, '\n')
	default:
		o.Output = append(append(make([]byte, 0, len(o.Result)+1), o.Result...), '\n')
	}
	if err != nil {
		o.Output = nil
		o.Findings = append(o.Findings, finding.Finding{Severity: finding.Error, Fatal: true, Rule: finding.RuleUnreadable, Message: err.Error()})
	}
}

// print writes the output for an object or a file to standard output.
func (t *transformer) print(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if t.output.Value == "yaml" && t.written > 0 && !t.inPlace() {
		text = append([]byte("---\n"), text...)
	}
	t.written++
	return report.WriteAll(t.stdout, text)
}
