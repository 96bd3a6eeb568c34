package main

import (
	stderrors "errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

func newSchemaCommand(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Look at schemas: their faults, what is known, how they are read",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSchemaValidateCommand(p), newSchemaSkeletonCommand(p), newSchemaListCommand(p), newSchemaShowCommand(p))
	return cmd
}

const schemaValidateHelp = `Validate says why the API server would refuse the schemas of custom resource
definitions, with its messages, and on which line. A document that has neither
apiVersion nor kind is taken for a schema: the value of openAPIV3Schema. What is
against the rules of the documents, but not refused, is a warning. Rules in CEL are
not compiled. Other objects are passed over.

Exit codes: 0 if nothing was found, or only warnings; 1 if there are faults; 2 if the
arguments are wrong; 3 if something could not be read.`

func newSchemaValidateCommand(p *process) *cobra.Command {
	o := newOptions(p, "strict")
	cmd := &cobra.Command{
		Use:                   "validate [FILE|DIR|-]...",
		DisableFlagsInUseLine: true,
		Short:                 "Say why the API server refuses definitions, with lines",
		Long:                  schemaValidateHelp,
		Example: `  # Are these definitions structural?
  espalier schema validate config/crd/`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			names, err := o.inputs(args)
			if err == nil {
				o.validateSchemas(names)
			}
			return err
		},
	}
	o.addInputFlags(cmd)
	addChoice(cmd, &o.color, "color", "", "whether to color the output; auto is on a terminal, unless NO_COLOR is set")
	return cmd
}

// validateSchemas reports the faults of the definitions and schemas in files.
func (o *options) validateSchemas(names []string) {
	s, ok := o.load()
	if !ok {
		return
	}
	set := o.settings(s)
	set.checks, set.sources, set.ignoreMissing = true, isTerminal(o.stdout), true
	text := textPrinter{painter(wantsColor(o.color.value, o.stdout)), set.sources}
	examiners := o.examiners(set)
	err := o.each(names, func(worker int, name string, emit func(*verdict) bool) {
		e := examiners[worker]
		e.read(name, o.stdin, func(obj *object) bool {
			switch {
			case obj.result == nil: // it cannot be read
			case isDefinition(obj.apiVersion, obj.kind):
				e.checkDefinition(obj)
			case obj.apiVersion == "" && obj.kind == "":
				e.checkSchema(obj)
			default:
				obj.findings = nil // it is no concern of this command
			}
			return emit(&obj.verdict)
		})
	}, func(name string, v *verdict) error {
		if v.worst() == failure {
			o.code = max(o.code, exitFindings)
		}
		for i := range v.findings {
			if v.findings[i].rule == ruleUnreadable {
				o.code = exitInput
			}
		}
		return writeAll(o.stdout, text.append(nil, displayName(name), v))
	})
	if err != nil {
		o.fail(fmt.Errorf("writing the output: %w", err))
	}
}

// checkSchema adds what is wrong with a schema that stands alone.
func (e *examiner) checkSchema(o *object) {
	s, err := schema.Parse(o.doc.json)
	if err != nil {
		e.refuse(o, err, o.doc.locate)
		return
	}
	var faults errors.SchemaErrors
	if stderrors.As(s.Validate(), &faults) {
		for _, fault := range faults {
			e.addFault(o, failure, fault)
		}
	}
	for _, fault := range s.Warnings() {
		e.addFault(o, warning, fault)
	}
}

func newSchemaSkeletonCommand(p *process) *cobra.Command {
	o := newOptions(p, "strict")
	cmd := &cobra.Command{
		Use:                   "skeleton [FILE|-]...",
		DisableFlagsInUseLine: true,
		Short:                 "Write the skeleton of OpenAPI schemas, by which objects are pruned",
		Long: `Skeleton derives a schema for pruning from any OpenAPI v3 validation schema: it has
all fields that are specified under properties anywhere in it, also under allOf,
anyOf, oneOf and not, and none of the rest. Of a custom resource definition it writes
one for each version.

Exit codes: 0; 1 if a schema has no skeleton; 2 if the arguments are wrong; 3 if
something could not be read.`,
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
	s, ok := o.load()
	if !ok {
		return
	}
	set := o.settings(s)
	set.checks, set.ignoreMissing = true, true
	e := newExaminer(set)
	t := transformer{options: o, output: choice{value: "yaml"}}
	for _, name := range names {
		e.read(name, o.stdin, func(obj *object) bool {
			for _, steps := range schemasIn(obj) {
				e.skeleton(obj, steps)
				if obj.output != nil && t.print(obj.output) != nil {
					return false
				}
				obj.output = nil
			}
			if v := &obj.verdict; len(v.findings) > 0 {
				o.code = max(o.code, map[bool]int{true: exitInput, false: exitFindings}[v.isFatal()])
				_, _ = o.stderr.Write(textPrinter{}.append(nil, displayName(name), v))
			}
			return true
		})
	}
}

// schemasIn returns where an object has schemas: it is one, or a definition.
func schemasIn(o *object) (all [][]step) {
	switch {
	case o.result == nil || o.isList:
	case isDefinition(o.apiVersion, o.kind):
		for _, base := range [][]step{{{"spec", -1}, {"validation", -1}, {"openAPIV3Schema", -1}}} {
			if _, ok := valueAt(o.doc.json, base); ok {
				all = append(all, base)
			}
		}
		for i := 0; ; i++ {
			version := []step{{"spec", -1}, {"versions", -1}, {"", i}}
			if _, ok := valueAt(o.doc.json, version); !ok {
				return all
			}
			if below := append(version, step{"schema", -1}, step{"openAPIV3Schema", -1}); hasValue(o.doc.json, below) {
				all = append(all, below)
			}
		}
	case o.kind == "" && o.apiVersion == "":
		all = append(all, nil)
	}
	return all
}

func hasValue(js []byte, steps []step) bool {
	_, ok := valueAt(js, steps)
	return ok
}

// skeleton makes the output of an object of which the schema is at some place, or adds
// why there is none.
func (e *examiner) skeleton(o *object, steps []step) {
	value, _ := valueAt(o.doc.json, steps)
	s, err := schema.Skeleton(value)
	var faults errors.SchemaErrors
	switch {
	case stderrors.As(err, &faults):
		for _, fault := range faults {
			fault.Field = strings.TrimPrefix(strings.Join(keys(steps), ".")+strings.TrimPrefix(fault.Field, "openAPIV3Schema"), ".")
			e.addFault(o, failure, fault)
		}
		return
	case err != nil:
		e.refuse(o, err, o.doc.locate)
		return
	}
	js, err := json.Marshal(s, json.Deterministic(true))
	if err == nil {
		o.output, err = yamlDocument(js)
	}
	if err != nil {
		e.refuse(o, err, o.doc.locate)
	}
}

func newSchemaListCommand(p *process) *cobra.Command {
	o := newOptions(p, "strict")
	output := choice{"text", []string{"text", "json"}}
	cmd := &cobra.Command{
		Use:                   "list --crd FILE|DIR...",
		DisableFlagsInUseLine: true,
		Short:                 "List the kinds for which there are schemas",
		Example: `  espalier schema list --crd crds/
  espalier schema list --openapi apps.json -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.configure(cmd); err != nil {
				return err
			}
			if len(o.crds)+len(o.openAPI) == 0 {
				return errNoSchemas
			}
			if s, ok := o.load(); ok {
				if err := listSchemas(o.stdout, s.catalog, output.value == "json"); err != nil {
					o.fail(fmt.Errorf("writing the output: %w", err))
				}
			}
			return nil
		},
	}
	o.addSchemaFlags(cmd)
	addChoice(cmd, &output, "output", "o", "form of the list: a table, or one JSON object a line")
	return cmd
}

// A listing is what schema list says about a kind.
type listing struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Scope      string `json:"scope,omitzero"`
	Served     bool   `json:"served"`
	Stored     bool   `json:"stored"`
	File       string `json:"file"`
}

func listSchemas(to io.Writer, catalog *schema.Catalog, asJSON bool) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	if !asJSON {
		fmt.Fprintln(table, "APIVERSION\tKIND\tSCOPE\tSERVED\tSTORED\tFILE")
	}
	for e := range catalog.All() {
		l := listing{e.APIVersion, e.Kind, e.CRD.Scope, e.Version.Served, e.Version.Storage, e.CRD.File}
		if !asJSON {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", printable(l.APIVersion), printable(l.Kind), printable(l.Scope),
				strconv.FormatBool(l.Served), strconv.FormatBool(l.Stored), printable(l.File))
			continue
		}
		line, err := json.Marshal(l, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(to, "%s\n", line); err != nil {
			return err
		}
	}
	return table.Flush()
}

func newSchemaShowCommand(p *process) *cobra.Command {
	o := newOptions(p, "strict")
	cmd := &cobra.Command{
		Use:                   "show --crd FILE|DIR... [APIVERSION] KIND",
		DisableFlagsInUseLine: true,
		Short:                 "Show the program that a schema is compiled to",
		Long: `Show writes the program that a schema is compiled to, as a listing: for each node,
the types that its values may have, and for each name, * for those that are not
declared and [] for elements, the node that it leads to and what happens to a null.`,
		Example: `  espalier schema show --crd crds/ BackupPlan
  espalier schema show --crd crds/ backup.example.com/v1 BackupPlan`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.configure(cmd); err != nil {
				return err
			}
			if len(o.crds)+len(o.openAPI) == 0 {
				return errNoSchemas
			}
			if s, ok := o.load(); ok {
				return o.show(s.catalog, args)
			}
			return nil
		},
	}
	o.addSchemaFlags(cmd)
	return cmd
}

// show writes the listings of a kind, in all versions unless one is named.
func (o *options) show(catalog *schema.Catalog, args []string) error {
	apiVersion, kind := "", args[len(args)-1]
	if len(args) == 2 {
		apiVersion = args[0]
	}
	shown := 0
	for e := range catalog.All() {
		if e.Kind != kind || apiVersion != "" && e.APIVersion != apiVersion {
			continue
		}
		shown++
		program, err := e.Program()
		if err != nil {
			o.fail(err)
			continue
		}
		if _, err := fmt.Fprintf(o.stdout, "# %s, kind %s, from %s\n%s", e.APIVersion, e.Kind, printable(e.CRD.File), program); err != nil {
			o.fail(fmt.Errorf("writing the output: %w", err))
			return nil
		}
	}
	if shown == 0 {
		return fmt.Errorf("no schema is called %s: see espalier schema list", strings.Join(args, " "))
	}
	return nil
}
