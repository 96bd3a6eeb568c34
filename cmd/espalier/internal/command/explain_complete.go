package command

// This file completes the paths of explain in a shell.

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/explain"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
)

// completePath returns the paths that go on as begun to a field that the schema of a chosen object
// in the file declares. It is silent about what cannot be read, as a shell is typing.
func (o *options) completePath(cmd *cobra.Command, file, begun string, chosen selection) (paths []string) {
	o.process = &process{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard}
	if config.Apply(cmd.Flags(), o.config) != nil || o.needSchemas() != nil {
		return nil
	}
	s, ok := o.load(nil)
	if !ok {
		return nil
	}
	parent := begun[:strings.LastIndexByte(begun, '.')+1]
	examine.New(o.settings(s)).Read(file, o.stdin, func(obj *examine.Object) bool {
		entry, ok := s.Entry(obj.APIVersion, obj.Kind)
		if !ok || obj.IsList || !chosen.has(obj) {
			return true
		}
		steps, err := locate.Parse(strings.TrimSuffix(parent, "."), obj.Doc.JSON)
		if err != nil {
			return true
		}
		for _, name := range explain.Declared(entry, steps) {
			if path := parent + name; strings.HasPrefix(path, begun) {
				paths = append(paths, path)
			}
		}
		return true
	})
	slices.Sort(paths)
	return slices.Compact(paths)
}
