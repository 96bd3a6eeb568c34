package command

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

const checkHelp = `Check reports what the API server would drop, warn about or refuse, and on which
line.

Every finding has the name of a rule:

  unknown-field    the schema does not declare the field
  duplicate-field  a name occurs twice in one object
  type-mismatch    a value is not of the type that the schema gives
  invalid-format   the server cannot decode a value: a time in metadata, or in a
                   built-in kind a time, a quantity, a 32-bit number or base64
  dropped-null     the API server drops a null (a warning)
  invalid-value/KEYWORD
                   the API server refuses a value or misses one because of this
                   keyword of the schema, as in invalid-value/required; or because of
                   its rules for all kinds: metadata, apiVersion, kind, scale
  server-warning   the API server accepts metadata with a warning: the name of a
                   finalizer, or owners that repeat
  missing-schema   there is no schema for the object
  missing-type     the object has no apiVersion or no kind
  invalid-schema   the API server refuses the custom resource definition; one without
                   spec.versions, or without both spec.group and spec.names, is a
                   patch or an expectation and is skipped
  missing-separator
                   one document holds two objects: a --- is missing
  syntax, limit    the document cannot be read

Duplicate names are found in any YAML or JSON file. With --ignore-missing-schemas,
objects without a schema are checked for nothing else. Such an object is still
reported if its group has schemas, but none for its kind or version, and if its group
is a known one with other capitals or without its version.

Values of custom resources are validated as for objects that are created, after
defaults were inserted. The messages are those of the API server. The place in the
definition that asks for another value follows in parentheses. A status is not
validated where it is a subresource, because the server drops it. CEL rules are left
to the server. For kinds of OpenAPI documents the server has other code, and values
are only validated as far as it decodes them. --values=false does without validation.

Unknown and duplicate fields are errors, as in kubectl. With --validate=warn they are
warnings, and with --validate=ignore they are not reported; invalid values are errors
in any case. --fail-on sets the severity from which on findings make the command fail.

` + inputHelp + `

Text output has one finding a line: file:line:column: severity: message [rule], and
for invalid values the place in the definition. On a terminal the line of the file
follows. The other formats are json (with an apiVersion), sarif (2.1.0), github
(workflow annotations), junit and tap.

Exit codes: 0 if there are no findings that --fail-on counts; 1 if there are; 2 if
the arguments are wrong; 3 if something could not be read or written.`

const inputHelp = `Input is JSON, with one object or several in a row, or YAML with any number of
documents, and may be compressed with gzip. The extension decides: .json is JSON,
.ndjson and .jsonl have one document per line, .yaml and .yml are YAML. Other input is
JSON if it starts with {, and else YAML. Compressed input may decompress to 32 MiB
plus a hundred times its size. Folders are searched for files with these extensions,
in the order of their names; names that start with a dot are skipped, and links must
lead to files. The items of a List are treated as objects of their own. Input that
cannot be read is reported and does not stop the rest.`

const checkExamples = `  # What would the API server drop?
  espalier check --crd crds/ manifests/

  # In CI, with findings as annotations of the pull request.
  espalier check --crd crds/ -o github manifests/

  # For code scanning.
  espalier check --crd crds/ -o sarif manifests/ >espalier.sarif

  # For built-in kinds, fetch the cluster's schemas once.
  kubectl get --raw /openapi/v3/apis/apps/v1 >apps.json
  espalier check --openapi apps.json deployment.yaml

  # The output of a chart, without the objects that have no schema.
  helm template . | espalier check --crd crds/ --ignore-missing-schemas

  # Unknown and duplicate fields and types alone.
  espalier check --crd crds/ --values=false manifests/

  # Only duplicate names, in any YAML or JSON.
  espalier check --ignore-missing-schemas .`

func newCheckCommand(p *process) *cobra.Command {
	o := newOptions(p, "strict")
	c := &checker{options: o}
	output := flagvalue.Choice{Value: "text", Values: []string{"text", "json", "sarif", "github", "junit", "tap"}}
	failOn := flagvalue.Choice{Value: "error", Values: []string{"never", "error", "warning"}}
	cmd := &cobra.Command{
		Use:                   "check [--crd FILE|DIR]... [FILE|DIR|-]...",
		DisableFlagsInUseLine: true,
		Short:                 "Report what the API server would drop or refuse, with lines",
		Long:                  checkHelp,
		Example:               checkExamples,
		Args:                  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := config.Apply(cmd.Flags(), o.config); err != nil {
				return err
			}
			names, err := o.inputs(args)
			if err != nil {
				return err
			}
			c.format = output.Value
			c.threshold = map[string]finding.Severity{"never": finding.Error + 1, "error": finding.Error, "warning": finding.Warning}[failOn.Value]
			c.run(names)
			return nil
		},
	}
	o.addInputFlags(cmd)
	o.addSchemaFlags(cmd)
	o.addReportFlags(cmd)
	flagvalue.Add(cmd, &output, "output", "o", "output format")
	flagvalue.Add(cmd, &failOn, "fail-on", "", "which findings make the command fail: none, errors, or warnings as well")
	cmd.Flags().BoolVar(&c.values, "values", true, "validate the values of custom resources as the API server does")
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
	summary   report.Summary
}

func (c *checker) run(names []string) {
	compile := []schema.Option{schema.CheckTypes(true)}
	if c.values {
		compile = append(compile, validation.Values())
	}
	s, ok := c.load(compile...)
	if !ok {
		return
	}
	set := c.settings(s)
	set.Values = c.values
	onTerminal := terminal.Is(c.stdout)
	set.Check, set.Sources = true, c.format == "text" && onTerminal
	set.Names = c.format == "junit" || c.format == "tap"
	r := report.New(c.format, c.stdout, report.TextPrinter{Painter: terminal.NewPainter(c.color.Value, c.stdout), Sources: onTerminal})
	if err := c.report(r, set, names); err != nil {
		c.fail(fmt.Errorf("writing the output: %w", err))
		return
	}
	if c.format == "text" && !c.quiet {
		c.summarize(s.Given)
	}
}

func (c *checker) report(r report.Reporter, set *examine.Settings, names []string) error {
	if err := r.Begin(); err != nil {
		return err
	}
	examiners := c.examiners(set)
	err := c.each(names, func(worker int, name string, emit func(*finding.Outcome) bool) {
		e := examiners[worker]
		e.Read(name, c.stdin, func(o *examine.Object) bool {
			e.CheckDefinition(o)
			if e.Names && o.Name == "" && o.Namespace == "" {
				o.Namespace, o.Name = locate.ObjectName(o.Doc.JSON)
			}
			slices.SortStableFunc(o.Findings, func(a, b finding.Finding) int { return cmp.Compare(a.At.Offset, b.At.Offset) })
			return emit(&o.Outcome)
		})
	}, func(name string, v *finding.Outcome) error {
		c.summary.Add(v)
		if v.Worst() >= c.threshold {
			c.code = max(c.code, ExitFindings)
		}
		return r.Add(input.DisplayName(name), v)
	})
	if err != nil {
		return err
	}
	if c.summary.Unreadable > 0 {
		c.code = max(c.code, ExitInput)
	}
	c.summary.Files = len(names)
	return r.End(&c.summary)
}

// summarize prints how much was checked, so that nobody takes silence for proof.
func (c *checker) summarize(given bool) {
	s := &c.summary
	text := fmt.Sprintf("%s in %s: %s", finding.Count(s.Objects, "object"), finding.Count(s.Files, "file"), foundText(s))
	if s.Skipped > 0 {
		text += fmt.Sprintf(", %d accepted without a schema", s.Skipped)
	}
	if s.Partial > 0 {
		text += fmt.Sprintf(", %s skipped", finding.Count(s.Partial, "partial definition"))
	}
	fmt.Fprintln(c.stderr, text)
	if s.Missing > 0 && !given {
		fmt.Fprintln(c.stderr, errNoSchemas.Error()+"; or accept such objects with --ignore-missing-schemas")
	}
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
