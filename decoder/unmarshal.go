package decoder

import (
	stderrors "errors"
	"reflect"

	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/values"
)

// Unmarshal stores the JSON document src, pruned and defaulted by the schema,
// in the value that v points to.
//
// If v is a *map[string]any or an *any, its value is replaced by maps, slices,
// strings, bools and nil. A number becomes an int64 if its literal is an
// integer that fits, and otherwise a float64, as in sigs.k8s.io/json. For a
// *map[string]any, a document that is not an object is an [*errors.TypeError],
// and null sets the map to nil. The result shares nothing with src, with the
// schema's defaults or with other results, except for the names of fields.
// Strings of up to 1 KiB that are near each other share memory, and so do
// numbers: see [SeparateStrings].
//
// Any other value is decoded by github.com/go-json-experiment/json, whose rules
// and errors are those of encoding/json/v2: the case of names matters, and
// values are merged into existing ones. Interface values are made as described
// above. Under a [ServerMode] other than [Standalone] the value is decoded by
// sigs.k8s.io/json, as in the API server.
//
// The other errors are those of [Decoder.AppendJSON]. With an
// [*errors.StrictError] the value is complete. With any other error a map or an
// any is unchanged; other values may be partly written if decoding into them
// failed.
func (d *Decoder) Unmarshal(src []byte, v any) error {
	d.begin()
	defer d.end()
	if d.take(src, v) {
		return nil
	}
	out, err := d.appendJSON(d.result[:0], src)
	return d.unmarshal(out, v, err, func() errors.Position {
		c := position.From(src, d.origin)
		return c.At(jsonwire.Blanks(src, 0))
	})
}

// takes reports whether documents are taken without a walk where that is possible: where nothing but
// the schema decides about them, within limits that no small document can pass.
func (d *Decoder) takes() bool {
	l := &d.limits
	return d.server == Standalone && d.validateValues == AcceptValues && d.expected == (objectType{}) &&
		l.Depth >= values.MostDepth && l.NameBytes >= values.MostTaken && l.NumberBytes >= values.NumberBytes &&
		l.DefaultBytes >= values.MostDefaults && l.OutputBytes >= values.MostTaken+values.MostDefaults
}

// walksAfterDoubt is how many documents are walked after one that could not be taken.
const walksAfterDoubt = 15

// take stores a small object that a walk would leave as it is, but for defaults that are missing,
// in the map or any that v points to. It reports whether it could.
func (d *Decoder) take(src []byte, v any) bool {
	toMap, _ := v.(*map[string]any)
	toAny, _ := v.(*any)
	if toMap == nil && toAny == nil || len(src) > values.MostTaken ||
		!d.isTaking || d.account.Budget() != nil || d.program.Validator != nil {
		return false
	}
	if d.walksLeft > 0 {
		d.walksLeft--
		return false
	}
	d.prepare()
	d.walker.Found.Reset()
	d.duplicates, d.duplicatesBytes = nil, 0
	made, ok := d.maker().Take(d.padded(append(d.result[:0], src...)), d.program.Root)
	object, isObject := made.(map[string]any)
	if !ok || !isObject {
		d.walksLeft = walksAfterDoubt
		return false
	}
	if toMap != nil {
		*toMap = object
	} else {
		*toAny = object
	}
	d.releaseIdle(len(src))
	return true
}

// UnmarshalYAML is Unmarshal for the single YAML document in src: see
// [Decoder.AppendYAML].
func (d *Decoder) UnmarshalYAML(src []byte, v any) error {
	d.begin()
	defer d.end()
	out, err := d.appendYAML(d.result[:0], src)
	return d.unmarshal(out, v, err, func() errors.Position {
		return errors.Position{Line: 1, Column: 1, ByteColumn: 1}
	})
}

var errNilPointer = stderrors.New("decoder: Unmarshal needs a pointer that is not nil")

// unmarshal stores the result, unless err, with which it came, is fatal. start returns the
// position of the document's first token.
func (d *Decoder) unmarshal(out []byte, v any, err error, start func() errors.Position) error {
	if err == errors.ErrBudget {
		return err // the decoder has let go of the buffer, and has returned it to the budget
	}
	d.account.Own(cap(out) - cap(d.result))
	d.result = out
	if !isComplete(err) {
		return err
	}
	if to := reflect.ValueOf(v); to.Kind() != reflect.Pointer || to.IsNil() {
		return errNilPointer
	}
	switch to := v.(type) {
	case *any:
		*to = d.build(d.padded(out), d.program.Root)
		return err
	case *map[string]any:
		made := d.build(d.padded(out), d.program.Root)
		object, isObject := made.(map[string]any)
		if !isObject && made != nil {
			return notAnObject(out, start())
		}
		*to = object
		return err
	}
	if e := d.unmarshalTyped(out, v); e != nil {
		return e
	}
	return err
}

// unmarshalTyped decodes the result into a Go value. It does not look for invalid UTF-8 and for
// names that repeat, as there are none in a result.
func (d *Decoder) unmarshalTyped(out []byte, v any) error {
	if d.server != Standalone {
		return kjson.UnmarshalCaseSensitivePreserveInts(out, v)
	}
	// With unmarshalers, jsonv2 looks for one for each value.
	if t := reflect.TypeOf(v); t != d.typed {
		d.typed, d.interfaces = t, nil
		if holdsInterfaces(t, make(map[reflect.Type]bool)) {
			d.interfaces = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(d.unmarshalAny))
		}
	}
	if d.interfaces == nil {
		return jsonv2.Unmarshal(out, v, jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
	}
	return jsonv2.Unmarshal(out, v, d.interfaces,
		jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
}

// holdsInterfaces reports whether a value of the type may hold interface values that jsonv2 makes.
// It takes it that methods which are given a jsonv2.Decoder make some.
func holdsInterfaces(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if reflect.PointerTo(t).Implements(reflect.TypeFor[jsonv2.UnmarshalerFrom]()) {
		return true
	}
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Map:
		return holdsInterfaces(t.Key(), seen) || holdsInterfaces(t.Elem(), seen)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return holdsInterfaces(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsInterfaces(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

var errNoValue = stderrors.New("decoder: invalid UTF-8, or a number beyond float64")

// unmarshalAny makes an interface value within a Go value. The text need not be from a result: a
// method can hand the options of its jsontext.Decoder on, and these allow invalid UTF-8.
func (d *Decoder) unmarshalAny(from *jsonv2.Decoder, v *any) error {
	switch reflect.ValueOf(*v).Kind() {
	case reflect.Pointer, reflect.Map, reflect.Struct:
		return jsonv2.ErrSkip // jsonv2 merges the text into the value that is there
	}
	text, err := from.ReadValue()
	if err == nil {
		d.scratch = append(append(d.scratch[:0], text...), zeros[:]...)
		made, ok := d.maker().Make(d.scratch, nil)
		if !ok {
			return errNoValue
		}
		*v = made
	}
	return err
}

var zeros [values.Padding]byte

// padded returns the result followed by the zeros that a values.Maker needs.
func (d *Decoder) padded(out []byte) []byte {
	out = append(out, zeros[:]...)
	d.result = out
	return out
}

// build makes maps and slices from a result, which zeros must follow.
func (d *Decoder) build(text []byte, root *program.Node) any {
	v, ok := d.maker().Make(text, root)
	if !ok {
		panic("decoder: a result is not JSON")
	}
	return v
}

// maker returns the Maker, ready for the program.
func (d *Decoder) maker() *values.Maker {
	m := &d.values
	m.Predicted = d.predicted
	m.NameBytes, m.Separate = d.limits.NameBytes, d.separateStrings
	return m
}

// notAnObject returns the error for a document that starts at a position and is not an object.
func notAnObject(out []byte, at errors.Position) error {
	got := program.FirstTypes[jsonwire.At(out, jsonwire.Blanks(out, 0))]
	return &errors.TypeError{Findings: errors.List{{
		Kind: errors.TypeMismatch, Want: program.Object.String(), Got: got.String(),
		Position: at,
	}}}
}
