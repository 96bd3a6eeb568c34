// Package strictfile reads the files of this command: its configuration and its
// baselines. They are YAML, and their faults are found as in any other object.
package strictfile

import (
	"fmt"
	"slices"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/bounded"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/suggest"
	"github.com/espalier-dev/espalier/schema"
)

// Read decodes a file of at most some bytes into what a pointer leads to. The file has no fields
// but those of a schema, each once.
func Read(name string, most int64, s *schema.Structural, into any) error {
	text, err := bounded.ReadFile(name, most)
	if err != nil {
		return err
	}
	program, err := schema.Compile(s, schema.ResourceRoot(false), schema.CheckTypes(true))
	if err != nil {
		return err
	}
	d := decoder.New(program, decoder.Strict)
	js, err := d.AppendYAML(nil, text)
	if found := slices.Clone(d.Findings()); len(found) > 0 {
		found.SortByPosition()
		f := &found[0]
		hint := ""
		if f.Kind == errors.UnknownField {
			hint = suggest.Advice(program, f.Path, suggest.Field(program, f.Path))
		}
		return fmt.Errorf("%s:%s: %s%s", name, f.Position, f.Error(), hint)
	}
	if err != nil {
		return fmt.Errorf("%s:%w", name, err)
	}
	if js[0] != '{' && string(js) != "null" {
		return fmt.Errorf("%s: must be a mapping", name)
	}
	if err := jsonv2.Unmarshal(js, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// ListOf returns the schema of a list.
func ListOf(items *schema.Structural) *schema.Structural {
	return &schema.Structural{Type: "array", Items: &schema.SchemaOrArray{Schema: items}}
}
