package decoder

import (
	"maps"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/syntax"
)

// NOTE: the server reads kind and apiVersion of what is sent a first time, with encoding/json, before it reads
// the object (SimpleMetaFactory.Interpret of k8s.io/apimachinery). That takes any case of the
// names, and looks at each value, also at those that a later one replaces: all of them must be strings
// or null, and the last apiVersion that is a string must be one. All else of it comes to nothing.
//
// Nearly no object has such names. The walker notes where there may be one, and only
// then the members of the root are gone through again.

// hasFoldedFields reports whether the schema declares what encoding/json takes for kind or apiVersion.
func hasFoldedFields(root *program.Node) bool {
	return slices.ContainsFunc(root.Fields, func(f program.Field) bool {
		name := f.Name()
		return name != "kind" && name != "apiVersion" && apiserver.FoldsToType([]byte(name))
	})
}

// checkFirstReading returns the error for an object whose kind and apiVersion the server cannot read
// the first time.
func (d *Decoder) checkFirstReading(src []byte) error {
	w := &d.walker
	if d.server == ServerStorage || d.withoutDefaults || !w.Observed.OddType && !w.HasRepeats() && !d.foldedFields {
		return nil // withoutDefaults is of what was read already
	}
	version := -1
	look := func(name string, at int) error {
		switch {
		case src[at] == 'n':
		case src[at] != '"':
			return &errors.ObjectError{
				Msg:      "kind and apiVersion must be strings, in any case of their letters, and also where another one follows",
				Position: d.position(at),
				Path:     errors.Path{}.Child(name),
			}
		case apiserver.IsAPIVersion(name):
			version = at
		}
		return nil
	}
	err := d.eachType(src, look)
	if err == nil && version >= 0 {
		err = d.checkVersion(src, version)
	}
	return err
}

// eachType calls look for each member of the root, which is an object, that the server reads as kind or
// apiVersion, with where its value is, up to the first error. Of what was YAML the server has made a
// map: the last value of a name counts, and names are in order.
func (d *Decoder) eachType(src []byte, look func(name string, at int) error) (err error) {
	var last map[string]int
	for at := jsonwire.Blanks(src, 0); src[at] != '}' && err == nil; at = jsonwire.Blanks(src, at) {
		from := jsonwire.Blanks(src, at+1) // behind the brace or a comma
		if src[from] == '}' {
			break
		}
		end, escaped, _ := jsonwire.ScanString(src, from+1)
		name := src[from+1 : end]
		if escaped {
			name = jsonwire.AppendUnescaped(nil, name)
		}
		value := jsonwire.Blanks(src, jsonwire.Blanks(src, end+1)+1)
		if apiserver.FoldsToType(name) {
			if !d.fromYAML {
				err = look(string(name), value)
			} else if last == nil {
				last = map[string]int{string(name): value}
			} else {
				last[string(name)] = value
			}
		}
		s := syntax.New(src, value, 1)
		at = s.SkipValue()
	}
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if err == nil {
			err = look(name, last[name])
		}
	}
	return err
}

// textAt returns what the string at an index says.
func textAt(src []byte, at int) string {
	end, _, _ := jsonwire.ScanString(src, at+1)
	return string(jsonwire.AppendUnescaped(nil, src[at+1:end]))
}

// checkVersion is schema.ParseGroupVersion of k8s.io/apimachinery for the apiVersion at an index.
func (d *Decoder) checkVersion(src []byte, at int) error {
	v := textAt(src, at)
	if apiserver.IsGroupVersion(v) {
		return nil
	}
	return &errors.ObjectError{
		Msg:      "unexpected GroupVersion string: " + fieldpath.Quoted(v),
		Position: d.position(at),
		Path:     errors.Path{}.Child("apiVersion"),
	}
}
