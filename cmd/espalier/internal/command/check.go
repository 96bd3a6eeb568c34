package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/baseline"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/layout"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/suppress"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// checkHelp has the rules, but those for keywords of a schema.
func checkHelp() string {
	return checkHelpStart + ruleList(func(r finding.Rule) bool { return !strings.Contains(r.ID, "/") }) + checkHelpEnd
}

const checkHelpStart = `Check reports the fields and values that the API server would drop, warn about or
refuse, with their lines.

Every finding has the name of a rule, about which espalier explain RULE says more:

`

const checkHelpEnd = `
invalid-value has the keyword of the schema that refuses a value or misses one, as in
invalid-value/required, or metadata, apiVersion, kind or scale for the server's rules
for all kinds. A custom resource definition without spec.versions, or
without both spec.group and spec.names, is a patch or an expectation and is skipped.

Findings that you know of can be silenced with a reason. A comment is about its line;
alone on a line, it is about the next one. Rules are separated by commas, and a rule
such as invalid-value stands for all of its keywords. espalier:ignore-document is about
the document, and espalier:ignore-file, in the first document, about the file:

  replicas: three # espalier:ignore type-mismatch -- the webhook makes a number of it

The field overrides of ` + config.FileName + ` silences rules in files. --baseline names a
file with known findings: --write-baseline makes it, and --update-baseline removes the
entries whose findings are gone. A comment, override or entry that silences nothing is
a warning (unused-suppression). Documents that cannot be read cannot be silenced:
--exclude leaves out files. Its patterns are as in .gitignore, and also hold for files
that are named. prune and default obey --exclude alone.

Each kind without a schema is a warning at the end, or an error if no object was
checked by a schema. An object of such a kind is an error if its group has schemas, but
none for its kind or version, and if its group is a known one with other capitals, with
a typing error or without its version. A run that checked nothing is an error as well
(nothing-checked): there was no file, say, or there were only templates.
--ignore-missing-schemas accepts such a run, and the other objects without a schema.
Duplicate names are found in any YAML or JSON file.

A repository can be checked as it is. Definitions among the inputs are used, unless
--crd has the kind. Templates are counted and not checked; definitions are read without
the lines that have nothing but template actions. Patches of kustomize and expectations
of kuttl and chainsaw are parts of objects, in which no field is required. In folders, a
document without apiVersion and kind is no object, unless its file has objects. If
definitions of a kind differ, which is a warning (differing-definitions), an object is
checked by those in the folder of its file or above it. If there are several of these,
the one by which it has the fewest errors counts.

Values of custom resources are validated as for objects that are created, after
defaults were inserted, and with the rules in CEL. The messages are those of the API
server. The place in the definition that asks for another value follows in
parentheses. A status is not validated if it is a subresource, because the server drops
it. For built-in kinds and those of OpenAPI documents the server has other code: their
values are validated only as far as the server decodes them. In built-in kinds of the
newest --kubernetes-version, fields are required if the server is proved to ask for
them. --values=false leaves out the validation of values and of required fields.

With --old, objects replace those of the same group, kind, namespace and name in old
files, and are validated as updates: some values may not change, CEL rules can compare
both, and values that were invalid before may stay. Objects without an old one are new;
those that are gone are not reported. Old definitions are taken for established, and their
storage versions for stored. With --old-rev, the old files are those of a git revision:
of --old, or else of the inputs. A finding that a new object would not have names the
old one.

Old objects are pruned, defaulted and converted to the version of the new one, and may
be invalid. One with a generated name replaces nothing. Of several old objects with one
name, the one in the same file counts, and within a file the last. An object is taken
for a new one, with a warning, if they are in other files and differ, or if a webhook
would convert the old one. Old files that cannot be read are errors (exit code 3), and so are
more than 512 MiB of old objects.

With --context, the definitions in a cluster are used as well. Those of --crd take
precedence over them, so that a new definition is tried on what exists, and they take
precedence over definitions among the inputs. A kubeconfig can name programs to run for
credentials; it is never taken from ` + config.FileName + `. Nothing is written to the
cluster.

--get reads objects from the cluster, page by page, as the server gives them: pruned and
defaulted by the definition that it has, and in the version in which they are stored, if
that is served. Kinds that cannot be read are errors (exit code 3), and the rest is
checked.

Unknown and duplicate fields are errors, as in kubectl. With --validate=warn they are
warnings, and with --validate=ignore they are not reported; invalid values are errors
in any case. --fail-on sets the least severity of findings that make the command fail.

` + inputHelp + `

Text output has one finding on a line: file:line:column: severity: message [rule], and
for invalid values the place in the definition. On a terminal, the line of the file
follows. The other formats are json (with an apiVersion), sarif (2.1.0), github
(workflow annotations), junit and tap.

Exit codes: 0 if there are no findings that --fail-on counts; 1 if there are; 2 if
the arguments are wrong; 3 if something could not be read or written.`

const inputHelp = `Input is JSON, with one object or several in a row, or YAML with any number of
documents, and may be compressed with gzip. The extension decides: .json is JSON,
.ndjson and .jsonl have one document per line, .yaml and .yml are YAML. Other input is
JSON if it starts with {, and else YAML. Compressed input may decompress to 32 MiB
plus a hundred times its size. Folders are searched for files with these extensions,
in the order of their names; names that start with a dot are skipped, links must lead
to files, and .gitignore is not read. In patterns, ** stands for any number of folders.
The items of a List are treated as objects of their own. Input that cannot be read is
reported and does not stop the rest.`

const checkExamples = `  # A repository with its own definitions.
  espalier check .

  # What would the API server drop?
  espalier check --crd crds/ manifests/

  # In CI, with findings as annotations of the pull request.
  espalier check --crd crds/ -o github manifests/

  # For code scanning.
  espalier check --crd crds/ -o sarif manifests/ >espalier.sarif

  # Kubernetes' own kinds need no flag, unless it is for an older cluster.
  espalier check --kubernetes-version 1.35 deployment.yaml

  # For other API servers, fetch their schemas once.
  kubectl get --raw /openapi/v3/apis/metrics.k8s.io/v1beta1 >metrics.json
  espalier check --openapi metrics.json metrics.yaml

  # The output of a chart. Findings name the templates.
  helm template . | espalier check --crd crds/

  # Would the server accept these changes to the objects on main?
  espalier check --crd crds/ --old-rev main manifests/

  # The same for two folders, or for the objects in the cluster.
  espalier check --crd crds/ --old before/ after/
  kubectl get backupplans -A -o json >now.json
  espalier check --crd crds/ --old now.json manifests/

  # The definitions are those in a cluster.
  espalier check --context prod manifests/

  # What would a new definition drop or refuse of the objects that exist?
  espalier check --crd new/ --context prod --get backupplans

  # Unknown and duplicate fields and types alone.
  espalier check --crd crds/ --values=false manifests/

  # Take the present findings for known, and hear of new ones alone.
  espalier check --crd crds/ --baseline .espalier-baseline.yaml --write-baseline .
  espalier check --crd crds/ --baseline .espalier-baseline.yaml .

  # Only duplicate names, in any YAML or JSON.
  espalier check --ignore-missing-schemas .`

func newCheckCommand(p *process) *cobra.Command {
	o := newOptions(p, "strict")
	c := &checker{options: o}
	output := flagvalue.Choice{Value: "text", Values: []string{"text", "json", "sarif", "github", "junit", "tap"}}
	failOn := flagvalue.Choice{Value: "error", Values: []string{"never", "error", "warning"}}
	cmd := &cobra.Command{
		Use:                   "check [--crd FILE|DIR]... [--old FILE|DIR] [FILE|DIR|-]...",
		DisableFlagsInUseLine: true,
		Short:                 "Report what the API server would drop or refuse, with lines",
		Long:                  checkHelp(),
		Example:               checkExamples,
		Args:                  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := config.Read(cmd.Flags(), o.config)
			if err != nil {
				return err
			}
			c.config = file.Name
			if c.suppressions.Overrides, err = file.Overrides(); err != nil {
				return err
			}
			if err := c.known.read(); err != nil {
				return err
			}
			arguments, err := o.arguments(args)
			if err != nil {
				return err
			}
			c.old.hasRev = cmd.Flags().Changed("old-rev")
			if err := c.old.check(arguments); err != nil {
				return err
			}
			names := c.known.without(o.expand(arguments))
			c.arguments = arguments
			c.format = output.Value
			c.threshold = map[string]finding.Severity{"never": finding.Error + 1, "error": finding.Error, "warning": finding.Warning}[failOn.Value]
			c.run(names)
			return nil
		},
	}
	o.addInputFlags(cmd)
	o.addSchemaFlags(cmd)
	o.cluster.addObjectFlags(cmd)
	o.addReportFlags(cmd)
	flagvalue.Add(cmd, &output, "output", "o", "output format")
	flagvalue.Add(cmd, &failOn, "fail-on", "", "which findings make the command fail: none, errors, or warnings as well")
	cmd.Flags().BoolVar(&c.values, "values", true, "validate the values of custom resources as the API server does")
	cmd.Flags().StringArrayVar(&c.old.paths, "old", nil, "`path` of old objects, which those with the same names replace: a file, a folder or a pattern; may be repeated")
	cmd.Flags().StringVar(&c.old.rev, "old-rev", "", "git `revision` from which old objects are read, such as main or HEAD~1: those of --old, or else of the inputs")
	c.known.addFlags(cmd)
	cmd.Flags().BoolVarP(&c.quiet, "quiet", "q", false, "do not print a summary")
	return cmd
}

// A checker reports the findings in inputs.
type checker struct {
	*options
	format    string
	threshold finding.Severity
	quiet     bool
	values    bool
	old       oldState
	arguments []string
	layout    *layout.Layout
	unchecked unchecked
	differing differing
	summary   report.Summary

	suppressions suppress.List
	config       string // the name of the configuration
	known        known
}

// loadAll reads the schemas that flags name, and the definitions among the inputs. If one of the
// former is wrong, it is reported, and none is returned.
func (c *checker) loadAll(names []string, values schema.Option, opts ...schema.Option) (*schemas.Loaded, bool) {
	s, ok := c.loadFrom(schemas.Sources{Values: values, MayDiffer: true}, opts...)
	if !ok {
		return nil, false
	}
	c.layout = layout.Of(names)
	err := s.AddInputs(names, c.workers(), func(name string) bool {
		role, _ := c.layout.Role(name)
		return role == layout.Object || role == layout.Template
	})
	if err != nil {
		c.fail(fmt.Errorf("reading definitions: %w", err))
		return nil, false
	}
	c.differing = differing{s.Differing, map[[2]string]*choices{}, map[string]*finding.Suppression{}}
	return s, true
}

func (c *checker) run(names []string) {
	var values schema.Option
	if c.values {
		values = validation.Values(cel.Rules())
	}
	s, ok := c.loadAll(names, values, schema.CheckTypes(true))
	if !ok {
		return
	}
	lists, err := c.cluster.openLists(s)
	if err != nil {
		sanitize.WriteErrors(c.stderr, err)
		c.code = max(c.code, ExitUsage)
		return
	}
	set := c.settings(s)
	set.Layout, set.Named = c.layout, named(c.arguments)
	for _, name := range lists {
		set.Named[linesOf(name)] = true
	}
	set.Values = c.values
	c.suppressions.Looks = c.looks
	if !c.loadOld(set) {
		return
	}
	onTerminal := terminal.Is(c.stdout)
	set.Check, set.Sources = true, c.format == "text" && onTerminal
	set.Names = c.format == "junit" || c.format == "tap"
	r := report.New(c.format, c.stdout, report.TextPrinter{Painter: terminal.NewPainter(c.color.Value, c.stdout), Sources: onTerminal})
	if err := c.report(r, set, names, lists); err != nil {
		c.fail(fmt.Errorf("writing the output: %w", err))
		return
	}
	c.warnOfMixed(lists)
	if c.format == "text" && !c.quiet {
		c.summarize(s.Given)
	}
}

func (c *checker) report(r report.Reporter, set *examine.Settings, names, lists []string) error {
	if err := r.Begin(); err != nil {
		return err
	}
	examiners := c.examiners(set)
	inputs := slices.Concat(names, lists)
	c.divide(set, inputs)
	err := c.each(inputs, func(worker int, name string, emit func(*finding.Outcome) bool) {
		e, quiet := examiners[worker], c.suppressions.File(name)
		var passed passedOver
		prepare := func(e *examine.Examiner, o *examine.Object) {
			e.CheckDefinition(o)
			if e.Names && o.Name == "" && o.Namespace == "" {
				o.Namespace, o.Name = locate.ObjectName(o.Doc.JSON)
			}
			o.Sort()
		}
		visit := func(o *examine.Object) bool {
			passed.add(&o.Outcome)
			if before := quiet.Object(&o.Doc, &o.Outcome); before != nil && !emit(before) {
				return false
			}
			return emit(&o.Outcome)
		}
		if list := c.cluster.lists[name]; list != nil {
			emit = withoutPlaces(emit)
			e.Input(linesOf(name), listReader{list}, func(o *examine.Object) bool {
				prepare(e, o)
				return visit(o)
			})
		} else {
			e.ReadDivided(name, c.stdin, prepare, visit)
		}
		for _, v := range quiet.End() {
			emit(v)
		}
		passed.end(emit)
	}, func(name string, v *finding.Outcome) error {
		if v.Unchecked {
			c.unchecked.add(name, v)
		}
		c.differing.add(name, v)
		return c.take(r, name, v)
	})
	if err != nil {
		return err
	}
	if err := c.reportUnchecked(r); err != nil {
		return err
	}
	if err := c.reportDiffering(r); err != nil {
		return err
	}
	if err := c.reportNothing(r, len(inputs)); err != nil {
		return err
	}
	if err := c.addUnused(r, inputs); err != nil {
		return err
	}
	if c.summary.Unreadable > 0 {
		c.code = max(c.code, ExitInput)
	}
	c.summary.Files, c.summary.Excluded = len(names), c.excluded
	return r.End(&c.summary)
}

// addUnused reports suppressions outside of the inputs that silence nothing, and writes the
// baseline.
func (c *checker) addUnused(r report.Reporter, names []string) error {
	if found := c.suppressions.Unused(c.arguments); len(found) > 0 {
		if err := c.take(r, c.config, &finding.Outcome{Findings: found}); err != nil {
			return err
		}
	}
	gone, text, err := c.known.finish(names, c.looks)
	if err != nil {
		c.fail(fmt.Errorf("writing the baseline: %w", err))
	}
	if text != "" && !c.quiet {
		fmt.Fprintln(c.stderr, text)
	}
	if len(gone) > 0 {
		return c.take(r, c.known.name, &finding.Outcome{Findings: []finding.Finding{baseline.Finding(gone)}})
	}
	return nil
}

// looks reports whether findings of a rule are looked for, as far as it depends on flags.
func (c *checker) looks(rule string) bool {
	general, _, _ := strings.Cut(rule, "/")
	switch general {
	case finding.RuleUnknown, finding.RuleDuplicate:
		return c.validate.Value != "ignore"
	case finding.RuleValue:
		// What was invalid before may stay in an update, and is invalid in a new object.
		return c.values && !c.old.isGiven()
	case finding.RuleMissingSchema, finding.RuleMissingType:
		return !c.ignoreMissing
	case finding.RuleOld:
		return c.old.isGiven()
	}
	return true
}

// summarize prints how much was checked, so that nobody takes silence for proof.
func (c *checker) summarize(given bool) {
	s := &c.summary
	text := fmt.Sprintf("%s in %s", finding.Count(s.Objects, "object"), c.inputsText(s.Files))
	if c.old.isGiven() {
		text += fmt.Sprintf(", %d compared with old ones", s.Compared)
	}
	text += ": " + foundText(s)
	if s.Skipped > 0 {
		text += fmt.Sprintf(", %d accepted without a schema", s.Skipped)
	}
	if s.Suppressed > 0 {
		text += fmt.Sprintf(", %d suppressed", s.Suppressed)
	}
	if c.excluded > 0 {
		text += fmt.Sprintf(", %s excluded", finding.Count(c.excluded, "file"))
	}
	if s.Partial > 0 {
		text += fmt.Sprintf(", %s skipped", finding.Count(s.Partial, "partial definition"))
	}
	fmt.Fprintln(c.stderr, text)
	if s.Parts > 0 {
		fmt.Fprintln(c.stderr, finding.Count(s.Parts, "part")+" of objects, as in patches and assertions: what they leave out is not reported")
	}
	if s.RulesOff > 0 {
		fmt.Fprintln(c.stderr, finding.Count(s.RulesOff, "object")+" with values that are not there yet, such as ${NAME}: rules in CEL that read them, or all, were not evaluated")
	}
	if s.NoObjects > 0 {
		fmt.Fprintln(c.stderr, finding.Count(s.NoObjects, "file")+" without objects of Kubernetes")
	}
	if s.Templates > 0 {
		fmt.Fprintln(c.stderr, templatesText(s))
	}
	if s.Missing > 0 && !given {
		fmt.Fprintln(c.stderr, errNoSchemas.Error()+"; or accept such objects with --ignore-missing-schemas")
	}
}

func templatesText(s *report.Summary) string {
	text := finding.Count(s.Templates, "template")
	switch {
	case len(s.Charts) == 0 && s.Templates == 1:
		return text + " was not checked: check the result of rendering it"
	case len(s.Charts) == 0:
		return text + " were not checked: check the results of rendering them"
	case s.Templates == 1:
		return text + " of a chart was not checked: check the output of helm template"
	}
	return text + " of " + finding.Count(len(s.Charts), "chart") + " were not checked: check the output of helm template"
}

func foundText(s *report.Summary) string {
	var parts []string
	if s.Errors > 0 {
		parts = append(parts, finding.Count(s.Errors, "error"))
	}
	if s.Warnings > 0 {
		parts = append(parts, finding.Count(s.Warnings, "warning"))
	}
	if len(parts) == 0 {
		return "nothing found"
	}
	return strings.Join(parts, ", ")
}
