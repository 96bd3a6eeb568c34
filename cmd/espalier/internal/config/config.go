// Package config reads .espalier.yaml, a file with defaults for flags. It sets
// flags that were not given, and reads nothing else.
package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/suggest"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/bounded"
	"github.com/espalier-dev/espalier/internal/jsonv2"
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
	{"semantics", "semantics", false, "string"},
	{"validate", "validate", false, "string"},
	{"values", "values", false, "boolean"},
	{"failOn", "fail-on", false, "string"},
	{"ignoreMissingSchemas", "ignore-missing-schemas", false, "boolean"},
	{"skipKind", "skip-kind", false, "strings"},
	{"jobs", "jobs", false, "integer"},
}

// configSchema returns the schema of the file, with which its faults are found as in any other
// object.
func configSchema() *schema.Structural {
	s := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{}}
	for _, c := range settings {
		p := &schema.Structural{Type: c.schema}
		if c.schema == "strings" {
			p = &schema.Structural{Type: "array", Items: &schema.SchemaOrArray{Schema: &schema.Structural{Type: "string"}}}
		}
		s.Properties[c.name] = p
	}
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

// Apply sets those flags of a command that were not given to the values in the file. The name
// is that of --config. An error is one of the arguments.
func Apply(flags *pflag.FlagSet, name string) error {
	if !flags.Changed("config") {
		dir, err := os.Getwd()
		if err != nil {
			return err
		}
		if name, err = find(dir); name == "" {
			return err
		}
		if below, err := filepath.Rel(dir, name); err == nil {
			name = below
		}
	}
	if name == "" {
		return nil
	}
	values, err := read(name)
	if err != nil {
		return err
	}
	for _, c := range settings {
		flag := flags.Lookup(c.flag)
		value, isSet := values[c.name]
		if !isSet || flag == nil || flag.Changed {
			continue
		}
		if err := c.apply(flag, value, filepath.Dir(name)); err != nil {
			return fmt.Errorf("%s: %s: %w", name, c.name, err)
		}
	}
	return nil
}

// read returns the values in a file by the names of the fields.
func read(name string) (map[string]any, error) {
	text, err := bounded.ReadFile(name, maxConfigBytes)
	if err != nil {
		return nil, err
	}
	program, err := schema.Compile(configSchema(), schema.ResourceRoot(false), schema.CheckTypes(true))
	if err != nil {
		return nil, err
	}
	d := decoder.New(program, decoder.Strict)
	js, err := d.AppendYAML(nil, text)
	if found := d.Findings(); len(found) > 0 {
		f := &found[0]
		hint := ""
		if f.Kind == errors.UnknownField {
			hint = suggest.Advice(program, f.Path, suggest.Field(program, f.Path))
		}
		return nil, fmt.Errorf("%s:%s: %s%s", name, f.Position, f.Error(), hint)
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	var values map[string]any
	if err := jsonv2.Unmarshal(js, &values); err != nil {
		return nil, fmt.Errorf("%s: must be a mapping", name)
	}
	return values, nil
}

// apply sets a flag to a value of a file in dir.
func (c *setting) apply(flag *pflag.Flag, value any, dir string) error {
	values, isList := value.([]any)
	if !isList {
		values = []any{value}
	}
	for _, v := range values {
		text := strings.TrimSuffix(fmt.Sprint(v), ".0")
		if c.isPath && !filepath.IsAbs(text) {
			text = filepath.Join(dir, text)
		}
		if err := flag.Value.Set(text); err != nil {
			return err
		}
	}
	return nil
}
