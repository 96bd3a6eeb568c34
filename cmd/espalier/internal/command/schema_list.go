package command

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/schema"
)

func newSchemaListCommand(p *process) *cobra.Command {
	o := newOptions(p, "strict")
	output := flagvalue.Choice{Value: "text", Values: []string{"text", "json"}}
	cmd := &cobra.Command{
		Use:                   "list --crd FILE|DIR...",
		DisableFlagsInUseLine: true,
		Short:                 "List the kinds for which there are schemas",
		Example: `  espalier schema list --crd crds/
  espalier schema list --openapi apps.json -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := config.Apply(cmd.Flags(), o.config); err != nil {
				return err
			}
			if !cmd.Flags().Changed("kubernetes-version") {
				o.kubernetes.release = nil // there are some hundred kinds
			}
			if err := o.needSchemas(); err != nil {
				return fmt.Errorf("%w; --kubernetes-version lists built-in kinds", err)
			}
			if s, ok := o.load(nil); ok {
				if err := listSchemas(o.stdout, s.Kinds, output.Value == "json"); err != nil {
					o.fail(fmt.Errorf("writing the output: %w", err))
				}
			}
			return nil
		},
	}
	o.addSchemaFlags(cmd)
	flagvalue.Add(cmd, &output, "output", "o", "output format: a table, or one JSON object per line")
	return cmd
}

// A listing is the entry of schema list for a kind.
type listing struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Scope      string `json:"scope,omitzero"`
	Served     bool   `json:"served"`
	Stored     bool   `json:"stored"`
	File       string `json:"file"`
}

func listSchemas(to io.Writer, kinds *schemas.Kinds, asJSON bool) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	if !asJSON {
		fmt.Fprintln(table, "APIVERSION\tKIND\tSCOPE\tSERVED\tSTORED\tFILE")
	}
	for _, e := range kinds.All("", "") {
		l := listing{e.APIVersion, e.Kind, e.CRD.Scope, e.Version.Served, e.Version.Storage, e.CRD.File}
		if !asJSON {
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", sanitize.Name(l.APIVersion), sanitize.Name(l.Kind), sanitize.Name(l.Scope),
				strconv.FormatBool(l.Served), strconv.FormatBool(l.Stored), sanitize.Name(l.File))
			continue
		}
		line, err := sanitize.JSON(l)
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
		Long: `Show prints the program that a schema is compiled to. For each node, the listing has
the types that its values may have. For each name, it has the node that the name leads
to, and how a null is treated; * stands for undeclared names, and [] for elements. A
line above it says how much defaults can add to a document.`,
		Example: `  espalier schema show --crd crds/ BackupPlan
  espalier schema show --crd crds/ backup.example.com/v1 BackupPlan`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := config.Apply(cmd.Flags(), o.config); err != nil {
				return err
			}
			if err := o.needSchemas(); err != nil {
				return err
			}
			if s, ok := o.load(nil); ok {
				return o.show(s.Kinds, args)
			}
			return nil
		},
	}
	o.addSchemaFlags(cmd)
	return cmd
}

// show prints the programs of a kind, for all versions or for the one that is named.
func (o *options) show(kinds *schemas.Kinds, args []string) error {
	entries := entriesFor(kinds, args)
	if len(entries) == 0 {
		return noSchemaFor(args)
	}
	for _, e := range entries {
		program, err := e.Program()
		if err != nil {
			o.fail(err)
			continue
		}
		if _, err := fmt.Fprintf(o.stdout, "# %s, kind %s, from %s\n# %s\n%s", sanitize.Name(e.APIVersion), sanitize.Name(e.Kind), sanitize.Name(e.CRD.File), expansion(program), sanitize.Lines(program.String())); err != nil {
			o.fail(fmt.Errorf("writing the output: %w", err))
			return nil
		}
	}
	return nil
}

// entriesFor returns the versions of a kind, or the one that is named before it.
func entriesFor(kinds *schemas.Kinds, args []string) []schema.Entry {
	if len(args) == 2 {
		return kinds.All(args[0], args[1])
	}
	return kinds.All("", args[0])
}

func noSchemaFor(args []string) error {
	return fmt.Errorf("there is no schema for %s: see espalier schema list", strings.Join(args, " "))
}

// expansion describes how much the defaults of a program add to documents.
func expansion(p *schema.Program) string {
	e := p.Expansion()
	text := fmt.Sprintf("defaults add at most %d bytes to a document", e.PerDocument)
	if e.PerByte > 0 {
		text += fmt.Sprintf(", and %.3g for each of its bytes, most of all below %s", e.PerByte, sanitize.Name(e.Field))
	}
	return text
}
