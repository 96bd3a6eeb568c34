// Package flagvalue has kinds of flags that package pflag lacks.
package flagvalue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/pathmatch"
)

// A Choice is the value of a flag with a few possible values.
type Choice struct {
	Value  string
	Values []string
}

// String returns the value.
func (c *Choice) String() string { return c.Value }

// Type returns the possible values, which help texts show.
func (c *Choice) Type() string { return strings.Join(c.Values, "|") }

// Set refuses all but the possible values.
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.Values, s) {
		return fmt.Errorf("must be %s", strings.Join(c.Values, ", "))
	}
	c.Value = s
	return nil
}

// A FieldValidation is the value of kubectl's --validate, for which true and false are other
// spellings.
type FieldValidation struct{ Choice }

// Set accepts the other spellings as well.
func (v *FieldValidation) Set(s string) error {
	if same, ok := map[string]string{"true": "strict", "false": "ignore"}[s]; ok {
		s = same
	}
	return v.Choice.Set(s)
}

// Patterns are the patterns of a flag that may be repeated.
type Patterns struct {
	All []*pathmatch.Pattern
	// IsDefault says that they are not given with the flag, and come from the configuration.
	IsDefault bool
}

// String returns nothing: the flag has no default.
func (v *Patterns) String() string { return "" }

// Type returns the kind of the values.
func (v *Patterns) Type() string { return "pattern" }

// Set adds a pattern that is relative to the working folder.
func (v *Patterns) Set(text string) error { return v.add(".", text) }

// SetIn adds a pattern of a configuration in dir.
func (v *Patterns) SetIn(dir, text string) error {
	v.IsDefault = true
	return v.add(dir, text)
}

func (v *Patterns) add(dir, text string) error {
	p, err := pathmatch.New(dir, text)
	if err == nil {
		v.All = append(v.All, p)
	}
	return err
}

// Add adds a flag with a few possible values, which the shell completes.
func Add(cmd *cobra.Command, c pflag.Value, name, shorthand, usage string) {
	cmd.Flags().VarP(c, name, shorthand, usage)
	must(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(strings.Split(c.Type(), "|"), cobra.ShellCompDirectiveNoFileComp)))
}

// MarkRequired makes flags required.
func MarkRequired(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		must(cmd.MarkFlagRequired(name))
	}
}

// must is for errors that only a misspelled flag in this program causes.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
