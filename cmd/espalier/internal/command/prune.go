package command

import (
	stderrors "errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/edit"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/replace"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/rewrite"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/yamlwriter"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
)

const pruneHelp = `Prune reads custom resources and writes them pruned and defaulted.

The apiVersion and kind of an object lead to its schema, among those that --crd and
--openapi name. Unknown fields are removed and defaults are inserted. If a name occurs
twice in one object, the last value wins. The objects are written to standard output,
each as a document of its own.

With --write, nothing is written to standard output. Instead, unknown fields and the
values that did not win are removed from the files. The rest of a file is not touched:
order, style and comments stay, except for comments on the lines of a removed field,
directly above it, or below it with a deeper indentation. A mapping that loses all
its members becomes {}. Defaults are not written: the API server inserts them, or see
espalier default. --diff shows what --write would do without doing it; --list-changed
lists the files that would change, or with --write those that did.

A file is replaced as a whole. Before that, its new content is read again, and must
give the same objects as before with nothing more to remove. Otherwise the file is
left as it is, with all of its documents, and that is an error. This happens if a
document cannot be read or has no schema, if the lines of a field cannot be removed
(because they hold an anchor that is used elsewhere, for example), and if somebody
else has changed the file meanwhile. Comments that look like template code or like
directives, such as those of yamllint, are kept, with a warning. Links that lead out of
a folder are not followed.

Unknown and duplicate fields are reported on standard error, one per line, as
file:line:column. They are warnings by default, as in the API server, and errors with
--validate=strict. Objects and files are written in either case.

` + inputHelp + `

Memory holds one document of each file that is being read, or with --write and --diff
the whole file. An object without a schema is an error. With --ignore-missing-schemas
it is written as it is, and only its duplicate names are reported.

Exit codes: 0 if there are no findings, or only warnings; 1 if there are findings and
they are errors, or if --diff or --list-changed show a difference that is not written;
2 if the arguments are wrong; 3 if something could not be read, decoded or written.`

const pruneExamples = `  # Prune and default an object; warnings go to the terminal.
  espalier prune --crd crd.yaml -f backupplan.yaml

  # In a pipe, with one JSON object per line.
  kubectl get backupplans -o json | espalier prune --crd crds/ -o ndjson

  # Remove unknown fields from manifests, after a look at the changes.
  espalier prune --crd crds/ --diff manifests/
  espalier prune --crd crds/ --write manifests/

  # Input that holds objects of other kinds as well.
  helm template . | espalier prune --crd crds/ --ignore-missing-schemas`

func newPruneCommand(p *process) *cobra.Command {
	t := &transformer{options: newOptions(p, "warn"), edit: rewrite.Prune}
	return t.command(&cobra.Command{
		Use:     "prune --crd FILE|DIR... [-f FILE|DIR|-]... [FILE|DIR|-]...",
		Short:   "Write objects pruned and defaulted, and report unknown and duplicate fields",
		Long:    pruneHelp,
		Example: pruneExamples,
	})
}

// A transformer writes the results for objects, or edits the files with the objects.
type transformer struct {
	*options
	compile []schema.Option
	// edit returns the new content of a file, and the edits that make it.
	edit func(e *examine.Examiner, name string, content []byte, report func(finding.Outcome)) (edited []byte, edits []edit.Edit)

	output             flagvalue.Choice
	write, diff, lists bool
	written            int // how many documents
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
		if len(t.crds)+len(t.openAPI) == 0 {
			return errNoSchemas
		}
		if t.write && (len(t.names)+len(args) == 0 || slices.Contains(append(slices.Clip(t.names), args...), "-")) {
			return stderrors.New("--write edits files, and standard input is not a file: name the files, or redirect the output without --write")
		}
		names, err := t.inputs(args)
		if err != nil {
			return err
		}
		if t.inPlace() {
			names = input.Within(append(slices.Clip(t.names), args...), names, func(name, target string) {
				fmt.Fprintf(t.stderr, "%s: warning: leads out of the folder to %s, and is not edited: name it as an argument to have it edited [%s]\n", sanitize.Visible(name), sanitize.Visible(target), finding.RuleEdit)
			})
		}
		t.run(names)
		return nil
	}
	t.addInputFlags(cmd)
	t.addSchemaFlags(cmd)
	flagvalue.Add(cmd, &t.output, "output", "o", "output format: YAML documents, indented JSON, or one JSON object per line")
	cmd.Flags().BoolVar(&t.write, "write", false, "edit the files in place, and leave the rest of them as it is")
	cmd.Flags().BoolVar(&t.diff, "diff", false, "show what --write would change, as a unified diff, and change nothing")
	cmd.Flags().BoolVarP(&t.lists, "list-changed", "l", false, "list the files that --write would change or has changed")
	t.addReportFlags(cmd)
	return cmd
}

// excluded returns an error if two flags are given that exclude each other.
func excluded(cmd *cobra.Command) error {
	for _, pair := range [][2]string{{"write", "diff"}, {"write", "output"}, {"diff", "output"}, {"list-changed", "diff"}, {"list-changed", "output"}} {
		if cmd.Flags().Changed(pair[0]) && cmd.Flags().Changed(pair[1]) {
			return fmt.Errorf("--%s and --%s exclude each other: give one of them", pair[0], pair[1])
		}
	}
	return nil
}

// inPlace reports whether files are edited, or their edits are shown.
func (t *transformer) inPlace() bool { return t.write || t.diff || t.lists }

func (t *transformer) run(names []string) {
	s, ok := t.load(t.compile...)
	if !ok {
		return
	}
	set := t.settings(s)
	set.KeepAll, set.Sources = t.inPlace(), terminal.Is(t.stderr)
	text := report.TextPrinter{Painter: terminal.NewPainter(t.color.Value, t.stderr), Sources: set.Sources}
	colors := terminal.WantsColor(t.color.Value, t.stdout)
	examiners := t.examiners(set)
	if t.write {
		defer replace.RemoveOnSignal(ExitInput)()
	}
	err := t.each(names, func(worker int, name string, emit func(*finding.Outcome) bool) {
		if t.inPlace() {
			t.file(examiners[worker], name, colors, emit)
			return
		}
		examiners[worker].Read(name, t.stdin, func(o *examine.Object) bool {
			t.render(o)
			return emit(&o.Outcome)
		})
	}, func(name string, v *finding.Outcome) error {
		t.judge(v)
		if len(v.Findings) > 0 {
			_, _ = t.stderr.Write(text.Append(nil, input.DisplayName(name), v))
		}
		return t.print(v.Output)
	})
	if err != nil {
		t.fail(fmt.Errorf("writing the output: %w", err))
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
func (t *transformer) render(o *examine.Object) {
	if o.Result == nil || o.IsList {
		return
	}
	var err error
	switch t.output.Value {
	case "yaml":
		o.Output, err = yamlwriter.Document(o.Result)
	case "json":
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

// file edits a file, or shows the edits.
func (t *transformer) file(e *examine.Examiner, name string, colors bool, emit func(*finding.Outcome) bool) {
	whole := true
	report := func(v finding.Outcome) {
		whole = whole && !v.IsFatal()
		emit(&v)
	}
	fail := func(rule string, err error) {
		report(finding.Outcome{Findings: []finding.Finding{{Severity: finding.Error, Fatal: true, Rule: rule, Message: input.WithoutName(err).Error()}}})
	}
	file := new(replace.File)
	var err error
	if name == "-" {
		file.Content, err = replace.ReadLimited(t.stdin)
		if err == nil && input.IsBlank(file.Content) {
			err = input.ErrEmptyInput
		}
	} else {
		file, err = replace.Read(name)
	}
	if err == nil && input.IsGzip(file.Content) {
		err = stderrors.New("is compressed, and cannot be edited: decompress it first")
	}
	if err != nil {
		fail(finding.RuleUnreadable, err)
		return
	}
	content := file.Content
	edited, edits := t.edit(e, name, content, report)
	if len(edits) == 0 {
		return
	}
	if !whole {
		// Nobody has asked for half of the edits.
		fail(finding.RuleEdit, errNotWhole)
		return
	}
	v := finding.Outcome{}
	if t.diff {
		before, after := rewrite.DiffNames(input.DisplayName(name))
		v.Output = edit.Unified(before, after, content, edits)
		if colors || terminal.Is(t.stdout) {
			v.Output = rewrite.ShownDiff(v.Output)
		}
		v.Output = rewrite.ColorDiff(v.Output, colors)
	}
	if t.write {
		if err := file.Replace(edited); err != nil {
			fail(finding.RuleUnwritable, err)
			return
		}
	}
	if t.lists {
		v.Output = append([]byte(sanitize.Name(input.DisplayName(name))), '\n')
	}
	v.Changes = !t.write
	emit(&v)
}

// errNotWhole is the error for a file that is not written because one of its documents cannot
// be edited.
var errNotWhole = stderrors.New("the file is left as it is, with all of its documents, because of the errors in it")
