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
)

const checkHelp = `Check says what the API server would drop, complain about or refuse, and on
which line.

It reports, each under the name of its rule:

  unknown-field    a field that the schema does not declare
  duplicate-field  a name that stands twice in one object
  type-mismatch    a value of another type than the schema gives
  invalid-format   a time in metadata, or in a built-in kind a time, a quantity, a
                   number of 32 bits or base64, that cannot be decoded
  dropped-null     a null that the API server drops (a warning)
  missing-schema   an object for which there is no schema
  missing-type     an object without apiVersion or kind
  invalid-schema   a custom resource definition that the API server refuses; one
                   without spec.versions, or without both spec.group and spec.names,
                   is a patch or an expectation and is passed over
  missing-separator
                   two objects in one document: a --- is missing
  syntax, limit    a document that cannot be read

Names that stand twice are found in any YAML or JSON file; with
--ignore-missing-schemas that is all that is looked for where there is no schema.
An object is still reported then whose group has schemas, and not for this kind or
version, or differs from such a group in the case of letters or lacks the version.
Values are not validated beyond what decoding takes: patterns, enumerations,
required fields and rules in CEL are left to the server, and so are the formats in
the schemas of custom resources.

Unknown and duplicate fields are errors, as in kubectl; with --validate=warn they
are warnings, and with --validate=ignore nothing. --fail-on says from which
severity on findings make the command fail.

` + inputHelp + `

Output in text has one finding a line, file:line:column: severity: message
[rule], on a terminal with the line of the file. The other formats are json (with
an apiVersion), sarif (2.1.0), github (annotations of a workflow), junit and tap.

Exit codes: 0 if nothing was found that --fail-on names; 1 if something was; 2 if
the arguments are wrong; 3 if something could not be read or written.`

const inputHelp = `Input is JSON, one object or several after each other, or YAML, with any number
of documents, compressed with gzip or not. A file whose name ends in .json is
JSON, one that ends in .ndjson or .jsonl has a document on each line, one that ends
in .yaml or .yml is YAML, and any other is JSON if it starts with {. What is
compressed may become 32 MiB and a hundred times its size. Folders are searched for
such files, in the order of their names, without those that start with a dot; links
in them must lead to files. The items of a List are looked at one by one. What cannot be read is
reported, and does not stop the rest.`

const checkExamples = `  # What would the API server drop?
  espalier check --crd crds/ manifests/

  # In CI, with findings as annotations of the pull request.
  espalier check --crd crds/ -o github manifests/

  # For code scanning.
  espalier check --crd crds/ -o sarif manifests/ >espalier.sarif

  # Built-in kinds, too: fetch the cluster's schemas once.
  kubectl get --raw /openapi/v3/apis/apps/v1 >apps.json
  espalier check --openapi apps.json deployment.yaml

  # What a chart makes, leaving alone what there is no schema for.
  helm template . | espalier check --crd crds/ --ignore-missing-schemas

  # Only names that stand twice, in any YAML or JSON.
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
	flagvalue.Add(cmd, &output, "output", "o", "form of the findings")
	flagvalue.Add(cmd, &failOn, "fail-on", "", "what makes the command fail: nothing, errors, or warnings, too")
	cmd.Flags().BoolVarP(&c.quiet, "quiet", "q", false, "do not say how much was checked")
	return cmd
}

// A checker reports what is found in inputs.
type checker struct {
	*options
	format    string
	threshold finding.Severity
	quiet     bool
	summary   report.Summary
}

func (c *checker) run(names []string) {
	s, ok := c.load(schema.CheckTypes(true))
	if !ok {
		return
	}
	set := c.settings(s)
	onTerminal := terminal.Is(c.stdout)
	set.Check, set.Sources = true, c.format == "text" && onTerminal
	set.Names = c.format == "junit" || c.format == "tap"
	r := report.New(c.format, c.stdout, report.TextPrinter{Painter: terminal.Painter(terminal.WantsColor(c.color.Value, c.stdout)), Sources: onTerminal})
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

// summarize says how much was checked, so that nobody takes silence for proof.
func (c *checker) summarize(given bool) {
	s := &c.summary
	text := fmt.Sprintf("%s in %s: %s", finding.Count(s.Objects, "object"), finding.Count(s.Files, "file"), foundText(s))
	if s.Skipped > 0 {
		text += fmt.Sprintf(", %d without a schema passed", s.Skipped)
	}
	if s.Partial > 0 {
		text += fmt.Sprintf(", %s passed over", finding.Count(s.Partial, "partial definition"))
	}
	fmt.Fprintln(c.stderr, text)
	if s.Missing > 0 && !given {
		fmt.Fprintln(c.stderr, errNoSchemas.Error()+"; or let such objects pass with --ignore-missing-schemas")
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
