package main

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes. Where several apply, the highest counts.
const (
	exitClean    = 0
	exitFindings = 1 // there are findings, and they are errors
	exitUsage    = 2
	exitInput    = 3 // something cannot be read, decoded or written
)

// run is the whole command: it is main without the process around it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &process{stdin: stdin, stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:   "espalier",
		Short: "Prune and default Kubernetes custom resources",
		Long: `Espalier decodes JSON and YAML against the schemas of custom resource
definitions, as a kube-apiserver does: it removes unknown fields, inserts
defaults, and says where unknown and duplicate fields stand.`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(newCheckCommand(p), newPruneCommand(p), newExplainCommand(p), newSchemaCommand(p), newVersionCommand())
	root.AddCommand(newProxyCommand(&p.code))
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	// The commands report what goes wrong with the input and set the code
	// themselves: what comes back is about the arguments.
	if cmd, err := root.ExecuteC(); err != nil {
		fmt.Fprintf(stderr, "error: %v\nSee '%s --help'.\n", err, cmd.CommandPath())
		return exitUsage
	}
	return p.code
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

// versionText says which version this is, as far as the build knows.
func versionText(info *debug.BuildInfo) string {
	if info == nil {
		return "espalier, version unknown"
	}
	version := info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "espalier %s, %s", version, info.GoVersion)
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && version == "(devel)":
			fmt.Fprintf(&b, ", revision %s", s.Value)
		case s.Key == "vcs.modified" && s.Value == "true":
			b.WriteString(", modified")
		case s.Key == "-tags":
			fmt.Fprintf(&b, ", tags %s", s.Value)
		}
	}
	return b.String()
}
