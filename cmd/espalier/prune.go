package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

const pruneHelp = `Prune reads custom resources and writes them pruned and defaulted.

The schema of an object is found by its apiVersion and kind among the custom
resource definitions that --crd names. Unknown fields are removed, defaults are
inserted, and of a name that stands twice in one object the last value wins. The
objects go to standard output.

With --write nothing goes there. Instead, unknown fields and the values that did
not win are removed from the files, and the rest of these stays as it stands:
order, style and comments, but for those on the lines of a removed field,
directly above it, or below it and indented deeper. A mapping of which nothing is
left becomes {}. Defaults are not written: the API server inserts them. A file is
replaced as a whole, and only after it was read again, gave the same objects as
before and nothing more to remove; otherwise it is left as it is, and that is an
error. Where anchors or merge keys are in the way of removing lines, the
document is written anew, with its comments, and a warning says so. --diff shows
what --write would do, and does nothing.

Unknown and duplicate fields are reported on standard error, one a line, as
file:line:column. They are warnings by default, as in the API server, and errors
with --validate=strict; objects and files are written in either case.

Input is JSON, one object or several after each other, or YAML, with any number
of documents. A file whose name ends in .json is JSON, one that ends in .yaml or
.yml is YAML, and any other is JSON if it starts with {. Folders are searched for
such files, in the order of their names. A List is taken apart: its items are
written as objects of their own, but for --write, which edits them where they are.

One document is held in memory at a time, or with --write and --diff one file.
What cannot be decoded is reported, with its number from the second document of a
file on, and does not stop the others. An object without a schema is such an
error; with --ignore-missing-schemas it is written as it is, and reported on only
where a name stands twice.

Exit codes: 0 if nothing was found, or only warnings; 1 if there are findings
and they are errors, or if --diff shows a difference; 2 if the arguments are
wrong; 3 if something could not be read, decoded or written.`

const pruneExamples = `  # Prune and default an object; warnings go to the terminal.
  espalier prune --crd crd.yaml -f backupplan.yaml

  # Check all manifests of a folder in CI: only the exit code and the errors count.
  espalier prune --crd crds/ --validate strict manifests/ >/dev/null

  # In a pipe, one JSON object a line.
  kubectl get backupplans -o json | espalier prune --crd crds/ -o json

  # Remove unknown fields from manifests, after a look at what that changes.
  espalier prune --crd crds/ --diff manifests/
  espalier prune --crd crds/ --write manifests/

  # Manifests that also hold objects of other kinds.
  helm template . | espalier prune --crd crds/ --ignore-missing-schemas`

// A choice is the value of a flag that takes one of a few words.
type choice struct {
	value  string
	values []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.values, "|") }

func (c *choice) Set(s string) error {
	for _, v := range c.values {
		if s == v {
			c.value = v
			return nil
		}
	}
	return fmt.Errorf("must be %s", strings.Join(c.values, ", "))
}

func newPruneCommand(stdin io.Reader, code *int) *cobra.Command {
	var crds, names []string
	var ignoreMissing, write, diff bool
	output := choice{"yaml", []string{"yaml", "json"}}
	validate := choice{"warn", []string{"strict", "warn", "ignore"}}
	semantics := choice{"kubernetes", []string{"kubernetes", "kep"}}
	cmd := &cobra.Command{
		Use:                   "prune --crd FILE|DIR... [-f FILE|DIR|-]... [FILE|DIR|-]...",
		DisableFlagsInUseLine: true,
		Short:                 "Write objects pruned and defaulted, and report unknown and duplicate fields",
		Long:                  pruneHelp,
		Example:               pruneExamples,
		Args:                  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			inputs := append(names, args...)
			if len(inputs) == 0 {
				inputs = []string{"-"}
			}
			if write && slices.Contains(inputs, "-") {
				return errors.New("--write edits files, and standard input is none: name the files, or redirect the output without --write")
			}
			p := &pruner{
				stdout:        cmd.OutOrStdout(),
				stderr:        cmd.ErrOrStderr(),
				yaml:          output.value == "yaml",
				validation:    map[string]decoder.Validation{"strict": decoder.Strict, "warn": decoder.Warn, "ignore": decoder.Ignore}[validate.value],
				ignoreMissing: ignoreMissing,
				inPlace:       write || diff,
				diff:          diff,
				colored:       wantsColor(cmd.OutOrStdout()),
				decoders:      map[*schema.Program]*decoder.Decoder{},
			}
			sem := schema.Kubernetes
			if semantics.value == "kep" {
				sem = schema.KEP
			}
			*code = p.run(sem, crds, inputs, stdin)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&crds, "crd", nil, "file or folder with custom resource definitions; may be repeated")
	flags.StringArrayVarP(&names, "filename", "f", nil, "file or folder to read, or - for standard input (the default); may be repeated")
	flags.VarP(&output, "output", "o", "form of the output: YAML documents, or one JSON object a line")
	flags.BoolVar(&write, "write", false, "remove what is pruned from the files, and leave the rest of them as it stands")
	flags.BoolVar(&diff, "diff", false, "show what --write would change, as a unified diff, and change nothing")
	flags.Var(&validate, "validate", "what unknown and duplicate fields are: errors, warnings or nothing")
	flags.Var(&semantics, "semantics", "that of a kube-apiserver, or that of KEP-2332 and KEP-575 where they differ")
	flags.BoolVar(&ignoreMissing, "ignore-missing-schemas", false, "write objects without a schema as they are")
	for _, c := range []struct {
		flag string
		of   *choice
	}{{"output", &output}, {"validate", &validate}, {"semantics", &semantics}} {
		must(cmd.RegisterFlagCompletionFunc(c.flag, cobra.FixedCompletions(c.of.values, cobra.ShellCompDirectiveNoFileComp)))
	}
	must(cmd.MarkFlagRequired("crd"))
	cmd.MarkFlagsMutuallyExclusive("write", "diff", "output")
	return cmd
}

// must is for errors that a misspelled name in this file causes.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
