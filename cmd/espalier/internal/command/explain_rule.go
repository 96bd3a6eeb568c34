package command

// This file explains rules, by the one table of them.

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/internal/suggest"
)

// helpWidth is the width of help texts.
const helpWidth = 88

// explainRule explains the rule that the argument names, or lists all without one.
func (o *options) explainRule(args []string) (usage error) {
	text := ""
	if len(args) == 0 {
		text = ruleList(func(finding.Rule) bool { return true })
	} else {
		rule := finding.RuleOf(args[0])
		if rule == nil {
			if meant := suggest.Closest(args[0], finding.RuleIDs()); meant != "" {
				return fmt.Errorf("there is no rule %q, did you mean %q?", args[0], meant)
			}
			return fmt.Errorf("%w; or one argument: the name of a rule, and there is no rule %q", errExplainArgs, args[0])
		}
		text = ruleText(rule)
	}
	if err := report.WriteAll(o.stdout, []byte(text)); err != nil {
		o.fail(fmt.Errorf("writing the output: %w", err))
	}
	return nil
}

// completeRules completes the name of a rule, or of a file.
func completeRules(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return finding.RuleIDs(), cobra.ShellCompDirectiveDefault
}

// ruleList lists rules, each with what its findings are.
func ruleList(isListed func(finding.Rule) bool) string {
	const indent = 22
	var b strings.Builder
	for _, r := range finding.Rules {
		if !isListed(r) {
			continue
		}
		about := wrapped(r.About, indent)
		if name := "  " + r.ID; len(name) < indent-1 {
			about = name + about[len(name):]
		} else {
			b.WriteString(name + "\n")
		}
		b.WriteString(about)
	}
	return b.String()
}

// ruleText explains a rule.
func ruleText(r *finding.Rule) string {
	text := r.ID + "\n" + wrapped(r.About, 2)
	add := func(title, body string) { text += "\n" + title + "\n" + body }
	add("Why", wrapped(r.Why, 2))
	if r.Example != "" {
		add("Example", "  "+strings.ReplaceAll(r.Example, "\n", "\n  ")+"\n")
	}
	add("What to do", wrapped(r.Help, 2))
	if r.Fixed {
		add("To silence it", wrapped("Findings of this rule cannot be silenced. A file can be left out with --exclude.", 2))
		return text
	}
	add("To silence it", "  # espalier:ignore "+r.ID+" -- REASON\n"+wrapped("The comment is on the line of the finding, or alone on the line before. "+
		"espalier:ignore-document and espalier:ignore-file are about all of a document or file. "+
		"For several files there are overrides in "+config.FileName+", and for all present findings a baseline: see espalier check --help.", 2))
	return text
}

// wrapped breaks a text into lines that are indented.
func wrapped(text string, indent int) string {
	var b strings.Builder
	column := helpWidth
	for _, word := range strings.Fields(text) {
		if column+1+len(word) > helpWidth {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(strings.Repeat(" ", indent) + word)
			column = indent + len(word)
			continue
		}
		b.WriteString(" " + word)
		column += 1 + len(word)
	}
	return b.String() + "\n"
}
