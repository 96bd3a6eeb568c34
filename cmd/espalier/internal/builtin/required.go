package builtin

import (
	_ "embed"
	"strings"
)

// required has the fields without which the API server refuses an object of a kind: a line has the
// apiVersion, the kind, and the path. Lines are sorted. The program in testdata/required proves
// each of them against the newest release, and also that an element is refused that is null and
// must have fields.
//
//go:embed required.txt
var required string

// Fields are the fields that the values at some place must have.
type Fields struct {
	Required []string
	Below    map[string]*Fields // by the name of a field; of the elements of an array, by "[]"
	// NeedsName means of an object that it needs metadata.name or metadata.generateName.
	NeedsName bool
}

// Required returns the fields that objects of a kind must have, or nil if none are known. They are
// known of the newest release alone: older servers have other code.
func (r *Release) Required(apiVersion, kind string) *Fields {
	if r == nil || r.Version != Newest().Version {
		return nil
	}
	prefix := apiVersion + " " + kind + " "
	start := 0
	if !strings.HasPrefix(required, prefix) {
		if start = strings.Index(required, "\n"+prefix) + 1; start == 0 {
			return nil
		}
	}
	root := new(Fields)
	for line := range strings.Lines(required[start:]) {
		path, found := strings.CutPrefix(line, prefix)
		if !found {
			break
		}
		if path == "metadata.name\n" {
			root.NeedsName = true
			continue
		}
		root.add(strings.Split(strings.ReplaceAll(strings.TrimSuffix(path, "\n"), "[]", ".[]"), "."))
	}
	return root
}

// add adds the field at a path.
func (f *Fields) add(path []string) {
	for ; len(path) > 1; path = path[1:] {
		if f.Below == nil {
			f.Below = map[string]*Fields{}
		}
		below := f.Below[path[0]]
		if below == nil {
			below = new(Fields)
			f.Below[path[0]] = below
		}
		f = below
	}
	f.Required = append(f.Required, path[0])
}
