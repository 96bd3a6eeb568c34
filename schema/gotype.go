package schema

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// A typeReader makes projections of Go types.
type typeReader struct{ made map[reflect.Type]*Structural }

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// decodesItself reports whether values of t have a method for decoding: one of encoding/json, of
// encoding, or of encoding/json/v2.
func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	if p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler) {
		return true
	}
	_, ok := p.MethodByName("UnmarshalJSONFrom")
	return ok
}

// isOfObjects reports whether values of t can be objects in JSON.
func isOfObjects(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Interface:
		return true
	}
	return decodesItself(t)
}

// of returns what keeps the values of t.
func (r *typeReader) of(t reflect.Type) *Structural {
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	if s := r.made[t]; s != nil {
		return s
	}
	switch {
	case decodesItself(t):
		return whole
	case t.Kind() == reflect.Struct:
		s := &Structural{Nullable: true, Properties: map[string]*Structural{}}
		r.made[t] = s
		r.fields(s, t)
		return s
	case t.Kind() == reflect.Map:
		s := &Structural{Nullable: true, AdditionalProperties: &SchemaOrBool{Allows: true}}
		r.made[t] = s
		s.AdditionalProperties.Schema = r.of(t.Elem())
		return r.orWhole(t, s, s.AdditionalProperties.Schema)
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		s := &Structural{Nullable: true, Items: new(SchemaOrArray)}
		r.made[t] = s
		s.Items.Schema = r.of(t.Elem())
		return r.orWhole(t, s, s.Items.Schema)
	}
	return whole // a scalar, or an interface
}

// orWhole returns s, or whole if all that is within a map or a list is whole.
func (r *typeReader) orWhole(t reflect.Type, s, within *Structural) *Structural {
	if within == whole {
		s = whole
	}
	r.made[t] = s
	return s
}

// A level is the embedded structs of one depth.
type level struct {
	structs []reflect.Type
	names   map[string]int // how often each name is there
}

// fields adds the fields of a struct. Of embedded structs, those count whose names are not in a
// struct around them. Where encoding/json would take neither of two, the member is kept whole.
func (r *typeReader) fields(s *Structural, t reflect.Type) {
	visited := map[reflect.Type]bool{t: true}
	for at := (level{structs: []reflect.Type{t}}); len(at.structs) > 0; {
		next := level{names: map[string]int{}}
		at.names = map[string]int{}
		for _, t := range at.structs {
			for i := range t.NumField() {
				f := t.Field(i)
				inner := inlined(s, f)
				if inner != nil && !visited[inner] {
					visited[inner] = true
					next.structs = append(next.structs, inner)
				}
				// encoding/json knows no inlining of fields that are not embedded, so that they have
				// a name there, too.
				if name, ok := jsonName(f); ok && (inner == nil || !f.Anonymous) {
					r.field(s, &at, name, f)
				}
			}
		}
		at = next
	}
}

// field adds a field, unless the name is that of a field at a level above.
func (r *typeReader) field(s *Structural, at *level, name string, f reflect.StructField) {
	switch {
	case at.names[name] > 0:
		s.Properties[name] = whole
	case s.Properties[name] == nil:
		at.names[name]++
		s.Properties[name] = r.of(f.Type)
	}
}

// jsonName returns the name of a field in JSON, if it has one.
func jsonName(f reflect.StructField) (name string, ok bool) {
	tag := f.Tag.Get("json")
	if tag == "-" || !f.IsExported() {
		return "", false
	}
	name, _, _ = strings.Cut(tag, ",")
	if name = strings.Trim(name, "'"); name == "" { // encoding/json/v2 has names in quotes
		name = f.Name
	}
	return name, true
}

// inlined returns the struct whose fields take the place of a field, or nil. If these are not the
// fields of a struct, it makes s keep all members.
func inlined(s *Structural, f reflect.StructField) reflect.Type {
	tag := f.Tag.Get("json")
	name, options, _ := strings.Cut(tag, ",")
	asked := slices.ContainsFunc(strings.Split(options, ","), func(option string) bool {
		return option == "inline" || option == "embed" || option == "unknown" // encoding/json/v2
	})
	if tag == "-" || name != "" || !f.Anonymous && !asked {
		return nil
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Struct {
		return t
	}
	if asked {
		s.AdditionalProperties = &SchemaOrBool{Allows: true, Schema: whole}
	}
	return nil
}
