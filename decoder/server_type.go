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

// NOTE: the server reads kind and apiVersion in the body of a request twice. The first time,
// before it reads the object, it uses encoding/json (SimpleMetaFactory.Interpret of
// k8s.io/apimachinery). This reading accepts the names in any case, and looks at every value,
// including those that a later one replaces: all of them must be strings or null, and the last
// apiVersion that is a string must be a group and version. It has no other effect.
//
// Almost no object has such names. The walker observes that there may be one, and only then the
// members of the root are read again.

// hasFoldedFields reports whether the schema declares fields, apart from kind and apiVersion,
// that encoding/json takes for one of these.
func hasFoldedFields(root *program.Node) bool {
	return slices.ContainsFunc(root.Fields, func(f program.Field) bool {
		name := f.Name()
		return name != "kind" && name != "apiVersion" && apiserver.FoldsToType([]byte(name))
	})
}

// checkFirstReading returns the error for an object whose kind and apiVersion the server cannot
// read the first time.
func (d *Decoder) checkFirstReading(src []byte) error {
	w := &d.walker
	if d.server.isStored() || d.server == ServerConversions {
		return nil // the server has no first reading of these
	}
	if !w.Observed.OddType && !w.HasRepeats() && !d.foldedFields {
		return nil
	}
	version := -1
	check := func(name string, at int) error {
		switch {
		case src[at] == 'n':
		case src[at] != '"':
			return &errors.ObjectError{
				Msg: "kind and apiVersion must be strings, " +
					"in any case of their letters, and also where another one follows",
				Position: d.position(at),
				Path:     errors.Path{}.Child(name),
			}
		case apiserver.IsAPIVersion(name):
			version = at
		}
		return nil
	}
	err := d.eachTypeMember(src, check)
	if err == nil && version >= 0 {
		err = d.checkVersion(src, version)
	}
	return err
}

// eachTypeMember calls check for each member of the root that the server reads as kind or
// apiVersion, with the index of its value, until there is an error. The root must be an object.
// The server has made a map of a YAML document: the last value of a name counts, and names are
// sorted.
func (d *Decoder) eachTypeMember(src []byte, check func(name string, at int) error) (err error) {
	var last map[string]int
	for at := jsonwire.Blanks(src, 0); src[at] != '}' && err == nil; at = jsonwire.Blanks(src, at) {
		from := jsonwire.Blanks(src, at+1) // after the brace or a comma
		if src[from] == '}' {
			break
		}
		name, end, _ := jsonwire.Text(src, from)
		value := jsonwire.Blanks(src, jsonwire.Blanks(src, end)+1)
		if apiserver.FoldsToType(name) {
			if !d.fromYAML {
				err = check(string(name), value)
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
			err = check(name, last[name])
		}
	}
	return err
}

// textAt returns the text of the string at an index, without escapes.
func textAt(src []byte, at int) string {
	text, _, _ := jsonwire.Text(src, at)
	return string(text)
}

// checkVersion checks the apiVersion at an index by the rules of schema.ParseGroupVersion of
// k8s.io/apimachinery.
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
