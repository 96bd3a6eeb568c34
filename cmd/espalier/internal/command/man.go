package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newManCommand(p *process) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a folder",
		Long: `Man writes a manual page for each command into a folder: espalier.1,
espalier-check.1 and so on, in section 1.`,
		Example: `  espalier man /usr/local/share/man/man1`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := writeManuals(cmd.Root(), args[0]); err != nil {
				p.fail(err)
			}
			return nil
		},
	}
}

// writeManuals writes the pages of a command and of those below it.
func writeManuals(cmd *cobra.Command, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, manualName(cmd)+".1"), manual(cmd), 0o666); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			if err := writeManuals(sub, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

func manualName(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// manual returns the page of a command in the macros of man(7).
func manual(cmd *cobra.Command) []byte {
	var b strings.Builder
	name := manualName(cmd)
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"Espalier\" \"User Commands\"\n", strings.ToUpper(name))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", roff(cmd.UseLine()))
	description := cmd.Long
	if description == "" {
		description = cmd.Short + "."
	}
	b.WriteString(".SH DESCRIPTION\n" + roffText(description))
	if flags := cmd.LocalFlags(); flags.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		flags.VisitAll(func(f *pflag.Flag) { b.WriteString(roffFlag(f)) })
	}
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n.nf\n" + roff(cmd.Example) + "\n.fi\n")
	}
	var also []string
	if cmd.HasParent() {
		also = append(also, manualName(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			also = append(also, manualName(sub))
		}
	}
	for i := range also {
		also[i] = "\\fB" + roff(also[i]) + "\\fP(1)"
	}
	if len(also) > 0 {
		b.WriteString(".SH SEE ALSO\n" + strings.Join(also, ", ") + "\n")
	}
	return []byte(b.String())
}

// roff escapes a text: no line of it is a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// roffText returns paragraphs: those that are indented keep their lines.
func roffText(text string) string {
	var b strings.Builder
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		b.WriteString(".PP\n")
		if strings.HasPrefix(paragraph, " ") {
			b.WriteString(".nf\n" + roff(paragraph) + "\n.fi\n")
			continue
		}
		b.WriteString(roff(paragraph) + "\n")
	}
	return b.String()
}

func roffFlag(f *pflag.Flag) string {
	name := "\\fB" + roff("--"+f.Name) + "\\fP"
	if f.Shorthand != "" {
		name = "\\fB" + roff("-"+f.Shorthand) + "\\fP, " + name
	}
	kind, usage := pflag.UnquoteUsage(f)
	if kind != "" {
		name += "=\\fI" + roff(kind) + "\\fP"
	}
	usage = roff(usage)
	if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" && f.Name != "jobs" {
		usage += " (default " + roff(f.DefValue) + ")"
	}
	return ".TP\n" + name + "\n" + usage + "\n"
}
