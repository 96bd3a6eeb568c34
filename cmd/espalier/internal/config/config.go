// Package config reads .espalier.yaml, a file with defaults for flags, and with
// rules for paths. It sets flags that were not given, and reads nothing else.
package config

import (
	stderrors "errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/pathmatch"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/strictfile"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/suppress"
	"github.com/espalier-dev/espalier/schema"
)

// FileName is the name of the file.
const FileName = ".espalier.yaml"

// maxConfigBytes is the limit for its length.
const maxConfigBytes = 1 << 20

// A setting is a field of the file: the default for a flag.
type setting struct {
	name, flag string
	isPath     bool // which is relative to the file
	schema     string
}

var settings = []setting{
	{"crd", "crd", true, "strings"},
	{"openapi", "openapi", true, "strings"},
	{"kubernetesVersion", "kubernetes-version", false, "string"},
	{"semantics", "semantics", false, "string"},
	{"validate", "validate", false, "string"},
	{"values", "values", false, "boolean"},
	{"failOn", "fail-on", false, "string"},
	{"ignoreMissingSchemas", "ignore-missing-schemas", false, "boolean"},
	{"skipKind", "skip-kind", false, "strings"},
	{"exclude", "exclude", false, "strings"},
	{"baseline", "baseline", true, "string"},
	{"jobs", "jobs", false, "integer"},
}

// configSchema returns the schema of the file, with which its faults are found as in any other
// object.
func configSchema() *schema.Structural {
	s := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{}}
	for _, c := range settings {
		p := &schema.Structural{Type: c.schema}
		if c.schema == "strings" {
			p = strictfile.ListOf(&schema.Structural{Type: "string"})
		}
		s.Properties[c.name] = p
	}
	texts := strictfile.ListOf(&schema.Structural{Type: "string"})
	s.Properties["overrides"] = strictfile.ListOf(&schema.Structural{Type: "object", Properties: map[string]*schema.Structural{
		"paths": texts, "ignore": texts, "reason": {Type: "string"},
	}})
	return s
}

// find returns the path of the file for a folder: the one in it, or in the first of its parents
// that has one, up to the root of the repository, which has .git. It returns "" if there is
// none. As with Git, a file of another user is an error: it would decide what is pruned, and in
// a shared folder anybody could write it.
func find(dir string) (string, error) {
	for {
		name := filepath.Join(dir, FileName)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			link, err := os.Lstat(name)
			if err != nil || isOwnedByOther(info) || isOwnedByOther(link) {
				return "", fmt.Errorf("%s belongs to another user and is not read: name it with --config if you trust it, or use none with --config=", name)
			}
			return name, nil
		}
		parent := filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || parent == dir {
			return "", nil
		}
		dir = parent
	}
}

// A File is the file with its values, or one without a name and values.
type File struct {
	Name   string
	values map[string]any
}

// Apply sets those flags of a command that were not given to the values in the file. The name
// is that of --config. An error is one of the arguments.
func Apply(flags *pflag.FlagSet, name string) error {
	_, err := Read(flags, name)
	return err
}

// Read is Apply, and returns the file for what no flag has.
func Read(flags *pflag.FlagSet, name string) (*File, error) {
	if !flags.Changed("config") {
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		if name, err = find(dir); name == "" {
			return &File{}, err
		}
		if below, err := filepath.Rel(dir, name); err == nil {
			name = below
		}
	}
	if name == "" {
		return &File{}, nil
	}
	values, err := read(name)
	if err != nil {
		return nil, err
	}
	for _, c := range settings {
		flag := flags.Lookup(c.flag)
		value, isSet := values[c.name]
		if !isSet || flag == nil || flag.Changed {
			continue
		}
		if err := c.apply(flag, value, filepath.Dir(name)); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, c.name, err)
		}
	}
	return &File{name, values}, nil
}

// Overrides returns the rules for paths.
func (f *File) Overrides() (all []*suppress.Override, err error) {
	list, _ := f.values["overrides"].([]any)
	for i, one := range list {
		o, err := override(filepath.Dir(f.Name), one)
		if err != nil {
			return nil, fmt.Errorf("%s: overrides[%d]%w", f.Name, i, err)
		}
		all = append(all, o)
	}
	return all, nil
}

// override returns a rule for paths below dir.
func override(dir string, value any) (*suppress.Override, error) {
	fields, _ := value.(map[string]any)
	reason, _ := fields["reason"].(string)
	paths, ids := texts(fields["paths"]), texts(fields["ignore"])
	switch {
	case len(paths) == 0:
		return nil, stderrors.New(": paths is missing: name the files")
	case len(ids) == 0:
		return nil, stderrors.New(": ignore is missing: name the rules to silence")
	case strings.TrimSpace(reason) == "":
		return nil, stderrors.New(": reason is missing: say why the findings may stay")
	}
	var patterns []*pathmatch.Pattern
	for i, path := range paths {
		p, err := pathmatch.New(dir, path)
		if err != nil {
			return nil, fmt.Errorf(".paths[%d]: %w", i, err)
		}
		patterns = append(patterns, p)
	}
	for i, id := range ids {
		if err := suppress.CheckRule(id); err != nil {
			return nil, fmt.Errorf(".ignore[%d]: %w", i, err)
		}
	}
	return suppress.NewOverride(patterns, ids, reason), nil
}

// texts returns the texts of a list.
func texts(list any) (all []string) {
	values, _ := list.([]any)
	for _, v := range values {
		all = append(all, fmt.Sprint(v))
	}
	return all
}

// read returns the values in a file by the names of the fields.
func read(name string) (values map[string]any, err error) {
	return values, strictfile.Read(name, maxConfigBytes, configSchema(), &values)
}

// apply sets a flag to a value of a file in dir.
func (c *setting) apply(flag *pflag.Flag, value any, dir string) error {
	values, isList := value.([]any)
	if !isList {
		values = []any{value}
	}
	for _, v := range values {
		text := fmt.Sprint(v)
		if n, isNumber := v.(float64); isNumber {
			text = strconv.FormatFloat(n, 'f', -1, 64)
		}
		if c.isPath && !filepath.IsAbs(text) {
			if text = filepath.Join(dir, text); text == "-" {
				text = "./-" // a file of this name, and not standard input
			}
		}
		set := flag.Value.Set
		if v, ok := flag.Value.(*flagvalue.Patterns); ok {
			set = func(text string) error { return v.SetIn(dir, text) }
		}
		if err := set(text); err != nil {
			return err
		}
	}
	return nil
}
