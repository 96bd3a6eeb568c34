package main

import (
	stderrors "errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// A choice is the value of a flag that takes one of a few words.
type choice struct {
	value  string
	values []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.values, "|") }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.values, s) {
		return fmt.Errorf("must be %s", strings.Join(c.values, ", "))
	}
	c.value = s
	return nil
}

// A fieldValidation is the choice of kubectl's --validate, where true and false are further
// spellings.
type fieldValidation struct{ choice }

func (v *fieldValidation) Set(s string) error {
	if same, ok := map[string]string{"true": "strict", "false": "ignore"}[s]; ok {
		s = same
	}
	return v.choice.Set(s)
}

// A process is what surrounds the command: main in production, a test otherwise.
type process struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	code           int // so far
}

// fail reports what is no fault of a single document, and sets the exit code. Whoever closes a
// pipe knows.
func (p *process) fail(err error) {
	if stderrors.Is(err, syscall.EPIPE) {
		p.code = exitPipe
		return
	}
	p.code = max(p.code, exitInput)
	writeErrors(p.stderr, err)
}

// options are the flags that several commands have.
type options struct {
	*process
	config string

	crds, openAPI []string
	semantics     choice

	names     []string
	recursive bool
	jobs      int

	validate      fieldValidation
	ignoreMissing bool
	skipKinds     []string
	color         choice
}

func newOptions(p *process, validate string) *options {
	return &options{
		process:   p,
		semantics: choice{value: "deployed", values: []string{"deployed", "kep"}},
		validate:  fieldValidation{choice{value: validate, values: []string{"strict", "warn", "ignore"}}},
		color:     choice{value: "auto", values: []string{"auto", "always", "never"}},
	}
}

// addChoice adds a flag that takes one of a few words, which the shell completes.
func addChoice(cmd *cobra.Command, c pflag.Value, name, shorthand, usage string) {
	cmd.Flags().VarP(c, name, shorthand, usage)
	must(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(strings.Split(c.Type(), "|"), cobra.ShellCompDirectiveNoFileComp)))
}

func (o *options) addSchemaFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&o.crds, "crd", nil, "`path` of custom resource definitions: a file, a folder or a pattern; may be repeated")
	flags.StringArrayVar(&o.openAPI, "openapi", nil, "`path` of OpenAPI v3 documents, as the API server publishes them under /openapi/v3; may be repeated")
	addChoice(cmd, &o.semantics, "semantics", "", "that of a kube-apiserver, or that of KEP-2332 and KEP-575 where they differ")
	flags.StringVar(&o.config, "config", defaultConfig, "`file` with defaults for flags; by default the first of this name in the working folder or one above it in the repository; empty for none")
}

func (o *options) addInputFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.names, "filename", "f", nil, "`path` to read: a file, a folder, a pattern, or - for standard input (the default); may be repeated")
	flags.BoolVarP(&o.recursive, "recursive", "R", true, "read the folders in folders, too")
	flags.IntVarP(&o.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "`number` of files that are worked on at the same time")
}

func (o *options) addReportFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	addChoice(cmd, &o.validate, "validate", "", "what unknown and duplicate fields are: errors, warnings or nothing; as in kubectl, true is strict and false is ignore")
	flags.BoolVar(&o.ignoreMissing, "ignore-missing-schemas", false, "let objects pass of whose group nothing is known, and what is no object")
	flags.StringSliceVar(&o.skipKinds, "skip-kind", nil, "let objects of a `kind` pass: Kind or group/version/Kind; may be repeated")
	addChoice(cmd, &o.color, "color", "", "whether to color the output; auto is on a terminal, unless NO_COLOR is set")
}

// inputs returns the files that are named by flags and arguments; what cannot be
// found is reported.
func (o *options) inputs(args []string) ([]string, error) {
	arguments := append(slices.Clip(o.names), args...)
	if len(arguments) == 0 {
		if f, ok := o.stdin.(*os.File); ok && isTerminal(f) {
			return nil, stderrors.New("nothing to read: name files or folders, or - to type it here")
		}
		arguments = []string{"-"}
	}
	names, errs := expandAll(arguments, o.recursive)
	for _, err := range errs {
		o.fail(err)
	}
	return names, nil
}

// load reads the schemas. What is wrong with them is reported, and there are none.
func (o *options) load(opts ...schema.Option) (*schemas, bool) {
	if o.semantics.value == "kep" {
		opts = append(opts, schema.KEP)
	}
	s, err := loadSchemas(o.crds, o.openAPI, opts...)
	if err == nil {
		return s, true
	}
	of := exitUsage
	for _, one := range unjoined(err) {
		if !stderrors.As(one, new(*nothingFoundError)) {
			of = exitInput
		}
	}
	writeErrors(o.stderr, err)
	o.code = max(o.code, of)
	return nil, false
}

// settings returns how objects are decoded.
func (o *options) settings(s *schemas) *settings {
	return &settings{
		schemas:       s,
		validation:    map[string]decoder.FieldValidation{"strict": decoder.Strict, "warn": decoder.Warn, "ignore": decoder.Ignore}[o.validate.value],
		ignoreMissing: o.ignoreMissing,
		skipKinds:     o.skipKinds,
	}
}

// errNoSchemas is for commands that can do nothing without them.
var errNoSchemas = stderrors.New("there are no schemas: name custom resource definitions with --crd, or OpenAPI documents with --openapi, here or in " + defaultConfig)

// markRequired makes flags required.
func markRequired(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		must(cmd.MarkFlagRequired(name))
	}
}

// must is for errors that a misspelled name in this package causes.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
