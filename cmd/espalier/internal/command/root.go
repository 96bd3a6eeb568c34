// Package command is the command line of espalier: its commands and their flags,
// help texts and exit codes. It puts the other packages to work, and nothing
// imports it but main.
package command

import (
	"cmp"
	stderrors "errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/replace"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
)

// The exit codes. If several apply, the highest one counts.
const (
	ExitClean    = 0
	ExitFindings = 1 // there are findings that are errors
	ExitUsage    = 2
	ExitInput    = 3 // something could not be read, decoded or written

	// ExitPipe is for an output whose reader is gone. It is what shells report for SIGPIPE, and
	// nothing is printed.
	ExitPipe = 128 + 13
)

const rootHelp = `Espalier decodes JSON and YAML against the schemas of Kubernetes' own kinds, of custom
resource definitions and of OpenAPI documents, as a kube-apiserver does, but without
one. It reports unknown and duplicate fields with their lines, removes them, inserts
defaults, and explains each decision.

A file ` + config.FileName + ` can set defaults for flags. It is looked for in the
working folder and its parents, up to the root of the repository. Its fields are crd,
openapi, kubernetesVersion, semantics, validate, values, failOn, ignoreMissingSchemas,
skipKind, exclude, baseline, overrides and jobs; paths and patterns are relative to the
file. A file that belongs to neither you nor root is refused.`

const rootExamples = `  # What would the API server drop or refuse in this repository?
  espalier check .

  # And in these manifests, by these definitions?
  espalier check --crd crds/ manifests/

  # Remove unknown fields, after a look at the changes.
  espalier prune --crd crds/ --diff manifests/
  espalier prune --crd crds/ --write manifests/

  # Why did this field vanish?
  espalier explain --crd crds/ backupplan.yaml spec.retention.dayly`

// Main runs the command with the arguments of the process, and returns its exit code.
func Main() int {
	// A write to a closed pipe returns an error first, so that files are left in order before
	// the process ends. The proxy goes on without its log.
	signal.Ignore(syscall.SIGPIPE)
	code := Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	// After an error, workers may still be editing files.
	replace.RemoveTemporary()
	return code
}

// Run executes a command line and returns the exit code. It is Main without the process.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &process{stdin: stdin, stdout: stdout, stderr: stderr}
	root := newRootCommand(p, os.Args[0])
	root.SetArgs(args)
	// The commands report errors of the input themselves, and set the exit code. An error that
	// is returned is about the arguments.
	if cmd, err := root.ExecuteC(); err != nil {
		sanitize.WriteErrors(stderr, err)
		fmt.Fprintf(stderr, "See '%s --help'.\n", cmd.CommandPath())
		return ExitUsage
	}
	return p.code
}

// newRootCommand returns the root command, whose name depends on that of the program: as a
// plugin it is a command of kubectl.
func newRootCommand(p *process, calledAs string) *cobra.Command {
	root := &cobra.Command{
		Use:           "espalier",
		Short:         "Prune, default and check Kubernetes objects as the API server does",
		Long:          rootHelp,
		Example:       rootExamples,
		Args:          noSuchCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newCheckCommand(p), newAuditCommand(p), newPruneCommand(p), newDefaultCommand(p), newExplainCommand(p), newSchemaCommand(p),
		newProxyCommand(&p.code), newExtProcCommand(&p.code), newManCommand(p), newVersionCommand())
	root.SetIn(p.stdin)
	root.SetOut(p.stdout) // before the completion commands are made, which take it over
	root.SetErr(p.stderr)
	root.InitDefaultCompletionCmd()
	if completion, _, err := root.Find([]string{"completion"}); err == nil {
		completion.Args, completion.RunE = noSuchCommand, root.RunE
	}
	root.SetFlagErrorFunc(noSuchFlag)
	name := strings.TrimSuffix(filepath.Base(calledAs), ".exe")
	if plugin, ok := strings.CutPrefix(name, "kubectl-"); ok && plugin == "espalier" {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl espalier"}
		renameExamples(root)
	}
	return root
}

// noSuchCommand returns an error for a command that does not exist.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if known := cmd.SuggestionsFor(args[0]); len(known) > 0 {
		text += ", did you mean " + strings.Join(known, " or ") + "?"
	}
	return stderrors.New(text)
}

// otherFlags are flags of kubeconform, kubeval and kubectl-validate, with those in their place, as
// docs/check.md has them.
var otherFlags = map[string]string{
	"strict":                    "validate strict",
	"skip":                      "skip-kind",
	"skip-kinds":                "skip-kind",
	"ignore-filename-pattern":   "exclude",
	"ignored-filename-patterns": "exclude",
	"schema-location":           "crd",
	"local-crds":                "crd",
	"local-schemas":             "openapi",
	"version":                   "kubernetes-version",
}

// noSuchFlag adds to an error about a flag of another program, or about one with one dash, as those
// of kubeconform are written.
func noSuchFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !stderrors.As(err, &unknown) {
		return err
	}
	if len(unknown.GetSpecifiedShortnames()) > 1 {
		return fmt.Errorf("%w: flags with more than one letter have two dashes", err)
	}
	own := otherFlags[unknown.GetSpecifiedName()]
	if name, _, _ := strings.Cut(own, " "); name != "" && cmd.Flags().Lookup(name) != nil {
		return fmt.Errorf("%w, did you mean --%s?", err, own)
	}
	return err
}

// renameExamples turns the examples into those of a plugin of kubectl.
func renameExamples(cmd *cobra.Command) {
	cmd.Example = strings.ReplaceAll(cmd.Example, "espalier ", "kubectl espalier ")
	for _, sub := range cmd.Commands() {
		renameExamples(sub)
	}
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			fmt.Fprintln(cmd.OutOrStdout(), versionText(info))
			return nil
		},
	}
}

// release is the version of a release, which the linker sets. A binary that go install builds
// has its version in the build information.
var release string

// versionText describes the version, as far as the build knows it.
func versionText(info *debug.BuildInfo) string {
	if info == nil {
		return "espalier, version unknown"
	}
	version := cmp.Or(release, info.Main.Version, "(devel)")
	var b strings.Builder
	fmt.Fprintf(&b, "espalier %s, %s", version, info.GoVersion)
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && version == "(devel)":
			fmt.Fprintf(&b, ", revision %s", s.Value)
		case s.Key == "vcs.modified" && s.Value == "true" && !strings.HasSuffix(version, "+dirty"):
			b.WriteString(", modified")
		case s.Key == "-tags":
			fmt.Fprintf(&b, ", tags %s", s.Value)
		}
	}
	return b.String()
}
