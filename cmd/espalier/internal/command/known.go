package command

// This file has the flags for a baseline of known findings.

import (
	stderrors "errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/baseline"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
)

// known says which findings are known.
type known struct {
	name          string
	write, update bool
	baseline      *baseline.Baseline // or nil
}

func (k *known) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&k.name, "baseline", "", "`file` with known findings, which are not reported")
	flags.BoolVar(&k.write, "write-baseline", false, "write all findings into the baseline, which must not exist")
	flags.BoolVar(&k.update, "update-baseline", false, "remove from the baseline the findings that are gone, and add none")
}

// read reads the baseline. An error is one of the arguments.
func (k *known) read() (err error) {
	switch {
	case k.write && k.update:
		return stderrors.New("--write-baseline and --update-baseline exclude each other: give one of them")
	case k.name == "" && (k.write || k.update):
		return stderrors.New("--write-baseline and --update-baseline need the name of a file: add --baseline FILE")
	case k.name == "":
	case k.write:
		k.baseline, err = baseline.Create(k.name)
	default:
		k.baseline, err = baseline.Read(k.name)
	}
	if err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	return nil
}

// without returns the names without that of the baseline.
func (k *known) without(names []string) []string {
	if k.baseline == nil {
		return names
	}
	own, _ := filepath.Abs(k.name)
	return slices.DeleteFunc(names, func(name string) bool {
		path, _ := filepath.Abs(name)
		return path == own
	})
}

// finish returns the entries of which nothing was found any more, or writes the baseline and says
// so.
func (k *known) finish(names []string, looks func(rule string) bool) (gone []baseline.Entry, text string, err error) {
	if k.baseline == nil {
		return nil, "", nil
	}
	if k.write {
		entries, err := k.baseline.Write()
		if err != nil {
			return nil, "", err
		}
		return nil, fmt.Sprintf("%s: written with %s", sanitize.Name(k.name), entriesText(entries)), nil
	}
	gone = k.baseline.Gone(names, looks)
	if !k.update || len(gone) == 0 {
		return gone, "", nil
	}
	if err := k.baseline.Remove(gone); err != nil {
		return nil, "", err
	}
	return nil, fmt.Sprintf("%s: %s removed", sanitize.Name(k.name), entriesText(len(gone))), nil
}

func entriesText(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}
