package command

import (
	stderrors "errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// A process is the environment of a command: that of the real process, or that of a test.
type process struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	code           int // the exit code so far
}

// fail reports an error that is not about a single document, and sets the exit code. A closed
// pipe is not reported: whoever closed it knows.
func (p *process) fail(err error) {
	if stderrors.Is(err, syscall.EPIPE) {
		p.code = ExitPipe
		return
	}
	p.code = max(p.code, ExitInput)
	sanitize.WriteErrors(p.stderr, err)
}

// failReading reports errors of reading schemas, and sets the exit code: if there are none where they
// were looked for, the arguments are wrong.
func (p *process) failReading(err error) {
	for _, one := range sanitize.Unjoin(err) {
		if !stderrors.As(one, new(*schemas.NothingFoundError)) {
			p.code = max(p.code, ExitInput)
		}
	}
	p.code = max(p.code, ExitUsage)
	sanitize.WriteErrors(p.stderr, err)
}

// warnOfPatches says which files were left out among definitions.
func (p *process) warnOfPatches(prefix string, names []string) {
	for _, name := range names {
		fmt.Fprintf(p.stderr, "warning: %s%s is left out, because it is a patch of kustomize and no definition\n", prefix, sanitize.Name(name))
	}
}

// options are the flags that several commands have.
type options struct {
	*process
	config string

	crds, openAPI []string
	cluster       clusterFlags
	kubernetes    kubernetesRelease
	semantics     flagvalue.Choice

	names     []string
	exclude   flagvalue.Patterns
	excluded  int // how many files were left out
	recursive bool
	jobs      int

	validate      flagvalue.FieldValidation
	ignoreMissing bool
	skipKinds     []string
	color         flagvalue.Choice
}

func newOptions(p *process, validate string) *options {
	return &options{
		process:   p,
		semantics: flagvalue.Choice{Value: "deployed", Values: []string{"deployed", "kep"}},
		validate:  flagvalue.FieldValidation{Choice: flagvalue.Choice{Value: validate, Values: []string{"strict", "warn", "ignore"}}},
		color:     flagvalue.Choice{Value: "auto", Values: []string{"auto", "always", "never"}},
	}
}

func (o *options) addSchemaFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&o.crds, "crd", nil, "`path` of custom resource definitions: a file, a folder, a pattern, or - for standard input; may be repeated")
	o.cluster.addFlags(cmd)
	flags.StringArrayVar(&o.openAPI, "openapi", nil, "`path` of OpenAPI v3 documents, as the API server publishes them under /openapi/v3; may be repeated")
	o.addKubernetesVersion(cmd)
	flagvalue.Add(cmd, &o.semantics, "semantics", "", "whose rules decide: those of a kube-apiserver, or those of KEP-2332 and KEP-575, which differ in details")
	flags.StringVar(&o.config, "config", config.FileName, "`file` with defaults for flags; by default the first one of this name in the working folder or its parents, up to the root of the repository; empty for none")
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if slices.Contains(o.crds, "-") && slices.Contains(append(slices.Clip(o.names), args...), "-") {
			return errTwoInputs
		}
		return o.cluster.open(cmd)
	}
}

// errTwoInputs is the error for a standard input that is to be read as two things.
var errTwoInputs = stderrors.New("--crd -: standard input has the definitions, and cannot have objects as well: name files for one of them")

func (o *options) addInputFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.names, "filename", "f", nil, "`path` to read: a file, a folder, a pattern, or - for standard input (the default); may be repeated")
	flags.BoolVarP(&o.recursive, "recursive", "R", true, "read subfolders, too")
	flags.Var(&o.exclude, "exclude", "`pattern` of files and folders to leave out, as in .gitignore: vendor/, *.tpl.yaml, test/**/bad-*.yaml; may be repeated")
	flags.IntVarP(&o.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "`number` of files to work on at the same time, and in check, prune and default of parts of one large file")
}

func (o *options) addReportFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flagvalue.Add(cmd, &o.validate, "validate", "", "whether unknown and duplicate fields are errors, warnings or not reported; as in kubectl, true means strict and false means ignore")
	flags.BoolVar(&o.ignoreMissing, "ignore-missing-schemas", false, "accept objects of unknown groups, documents without apiVersion and kind, and in check that nothing was checked; what is nearly a known kind stays an error")
	flags.StringSliceVar(&o.skipKinds, "skip-kind", nil, "accept objects of a `kind`, Kind or group/version/Kind, unchecked; may be repeated")
	flagvalue.Add(cmd, &o.color, "color", "", "whether to color the output; auto means on a terminal, unless NO_COLOR is set")
}

// inputs returns the files that flags and arguments name, and reports those that cannot be
// found.
func (o *options) inputs(args []string) ([]string, error) {
	arguments, err := o.arguments(args)
	if err != nil {
		return nil, err
	}
	return o.expand(arguments), nil
}

// arguments returns what flags and arguments name.
func (o *options) arguments(args []string) ([]string, error) {
	arguments := append(slices.Clip(o.names), args...)
	if len(arguments) == 0 && len(o.cluster.resources) == 0 {
		if slices.Contains(o.crds, "-") {
			return nil, errTwoInputs
		}
		if f, ok := o.stdin.(*os.File); ok && terminal.Is(f) {
			return nil, stderrors.New("nothing to read: name files or folders, or - to type it here")
		}
		arguments = []string{"-"}
	}
	return arguments, nil
}

// expand returns the files to which arguments lead, without those that are excluded. It reports
// those that cannot be found, and patterns that exclude nothing.
func (o *options) expand(arguments []string) []string {
	names, errs := input.Expand(arguments, o.recursive)
	for _, err := range errs {
		o.fail(err)
	}
	isUsed := make([]bool, len(o.exclude.All))
	kept := slices.DeleteFunc(slices.Clone(names), func(name string) (excluded bool) {
		for i, p := range o.exclude.All {
			if p.Match(name) {
				isUsed[i], excluded = true, true
			}
		}
		return excluded
	})
	from := "--exclude"
	if o.exclude.IsDefault {
		from = "exclude"
	}
	for i, p := range o.exclude.All {
		if !isUsed[i] && (!o.exclude.IsDefault || p.IsWithin(arguments)) {
			fmt.Fprintf(o.stderr, "warning: %s: no file matches the pattern %s\n", from, sanitize.Name(p.String()))
		}
	}
	o.excluded = len(names) - len(kept)
	return kept
}

// load reads the schemas, with the option for programs that validate values, or nil. If one of them
// is wrong, it is reported, and none is returned.
func (o *options) load(values schema.Option, opts ...schema.Option) (*schemas.Loaded, bool) {
	return o.loadFrom(schemas.Sources{Values: values}, opts...)
}

// loadFrom reads the schemas that flags name.
func (o *options) loadFrom(from schemas.Sources, opts ...schema.Option) (*schemas.Loaded, bool) {
	if !o.readCluster("crd", o.crds) {
		return nil, false
	}
	from.Definitions, from.Stdin, from.OpenAPI, from.Cluster = o.crds, o.stdin, o.openAPI, o.cluster.definitions
	from.BuiltIn = o.kubernetes.release
	s, err := schemas.Load(from, o.compileOptions(opts...)...)
	if err == nil {
		o.warnOfPatches("--crd: ", s.LeftOut)
		return s, true
	}
	o.failReading(err)
	return nil, false
}

// compileOptions returns options for programs with those that flags ask for.
func (o *options) compileOptions(opts ...schema.Option) []schema.Option {
	if o.semantics.Value == "kep" {
		opts = append(opts, schema.KEP)
	}
	return opts
}

// settings returns the settings for examiners.
func (o *options) settings(s *schemas.Loaded) *examine.Settings {
	return &examine.Settings{
		Loaded:        s,
		Validation:    map[string]decoder.FieldValidation{"strict": decoder.Strict, "warn": decoder.Warn, "ignore": decoder.Ignore}[o.validate.Value],
		IgnoreMissing: o.ignoreMissing,
		SkipKinds:     o.skipKinds,
	}
}

// errNoSchemas is the error of commands that need schemas.
var errNoSchemas = stderrors.New("there are no schemas of custom resources: name custom resource definitions with --crd, or OpenAPI documents with --openapi, here or in " + config.FileName + ", or a cluster with --context")
