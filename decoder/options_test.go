package decoder

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/walk"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// allOptions returns one option of each kind, and one Limits for each of its fields.
func allOptions() map[string]Option {
	all := map[string]Option{
		"FieldValidation": Strict, "ValueValidation": ValidateCreate, "ServerMode": ServerStorage, "NumbersAsSent": NumbersAsSent(true), "Compact": Compact(true),
		"ReportDroppedNulls": ReportDroppedNulls(true), "SeparateStrings": SeparateStrings(true), "YAMLDialect": YAMLDialect(yamlbridge.Core),
		"ExpectType": ExpectType("v1", "K"), "WithBudget": WithBudget(&limitedBudget{room: 1 << 30}),
	}
	limits := reflect.TypeFor[Limits]()
	for i := range limits.NumField() {
		var l Limits
		reflect.ValueOf(&l).Elem().Field(i).SetInt(int64(1000 + i))
		all[limits.Field(i).Name] = l
	}
	return all
}

// decoderWith returns a decoder with the options.
func decoderWith(opts ...Option) *Decoder {
	return newDecoder(&program.Program{Root: walk.Any}, optionsOf(opts))
}

// TestOptionsMerge asserts, for each pair of options, that their order does not matter and that
// each has the effect that it has alone. It also asserts that there is an option for each setting.
func TestOptionsMerge(t *testing.T) {
	settings := func(opts ...Option) map[string]any {
		d := decoderWith(opts...)
		all := map[string]any{"yaml": d.yaml.Dialect}
		for _, of := range []reflect.Value{reflect.ValueOf(d.options), reflect.ValueOf(d.limits)} {
			for i := range of.NumField() {
				if name := of.Type().Field(i).Name; name != "limits" {
					all[name] = fmt.Sprint(of.Field(i))
				}
			}
		}
		return all
	}
	none, unset, all := settings(), settings(), allOptions()
	for a, optA := range all {
		alone := settings(optA)
		assert.NotEqual(t, none, alone, "%s does something", a)
		maps.DeleteFunc(unset, func(name string, is any) bool { return alone[name] != is })
		for b, optB := range all {
			both := settings(optA, optB)
			assert.Equal(t, both, settings(optB, optA), "%s and %s", a, b)
			for name, is := range alone {
				isServers := (name == "NameBytes" || name == "NumberBytes") && a == "ServerMode"
				isDialect := (name == "yaml" || name == "dialect") && a == "ServerMode" && b == "YAMLDialect"
				if is != none[name] && !(isServers && name == b) && !isDialect {
					assert.Equal(t, is, both[name], "%s of %s, with %s", name, a, b)
				}
			}
		}
	}
	assert.Empty(t, unset, "no option sets these")
}

// TestLimitsMerge asserts that a limit that was set applies, whatever else was set.
func TestLimitsMerge(t *testing.T) {
	depth, number := Limits{Depth: 2}, Limits{NumberBytes: 3}
	for _, opts := range [][]Option{{depth, number}, {number, depth}, {depth, ServerRequests, number},
		{ServerTypedRequests, number, depth}} {
		d := decoderWith(opts...)
		var e *errors.LimitError
		_, err := d.AppendJSON(nil, []byte(`{"kind":"K","a":{"b":{}}}`))
		require.ErrorAs(t, err, &e)
		assert.Equal(t, errors.LimitDepth, e.Limit)
		_, err = d.AppendJSON(nil, []byte(`{"kind":"K","a":1234}`))
		require.ErrorAs(t, err, &e)
		assert.Equal(t, errors.LimitNumberBytes, e.Limit)
		_, err = d.AppendJSON(nil, []byte(`{"kind":"K","a":{"b":123}}`))
		require.NoError(t, err)
	}
	assert.Equal(t, Limits{}.withDefaults(), decoderWith(Limits{}).limits)
	limits := decoderWith(Limits{Depth: 2}, Limits{Depth: 3}).limits
	assert.Equal(t, 3, limits.Depth, "the last one holds")
	assert.Equal(t, reflect.TypeFor[Limits]().NumField(), len(limits.fields()))
}

// TestRefusedAtConstruction asserts that arguments which can only fail later are refused when they
// are given.
func TestRefusedAtConstruction(t *testing.T) {
	p, err := schema.Compile(&schema.Structural{Type: "object"})
	require.NoError(t, err)
	lookup := func(string, string) (*schema.Program, error) { return p, nil }
	for text, do := range map[string]func(){
		"the program is nil, or was not made by schema.Compile":          func() { New(nil) },
		"decoder: the program is nil, or was not made by schema.Compile": func() { NewPool(nil) },
		"program is nil, or was not made by schema.Compile":              func() { New(new(schema.Program)) },
		"decoder: option 2 of 2 is nil":                                  func() { New(p, ServerRequests, nil) },
		"option 1 of 1 is nil":                                           func() { NewPool(p, nil) },
		"decoder: there is no FieldValidation(9)":                        func() { New(p, FieldValidation(9)) },
		"YAMLDialect: there is no yamlbridge.Dialect(9)":                 func() { New(p, YAMLDialect(9)) },
		"decoder: no limit can be less than 0: {Depth:-1 Findings:0 F":   func() { NewPool(p, Limits{Depth: -1}) },
		"a Sequence needs a reader and a lookup":                         func() { NewSequence(strings.NewReader(""), nil) },
		"decoder: a Sequence needs a reader and a lookup":                func() { NewYAMLSequence(nil, lookup) },
		"WithBudget: a Pool cannot give back what it takes":              func() { NewPool(p, WithBudget(&limitedBudget{})) },
		"WithBudget: a Sequence cannot give back what it takes":          func() { NewSequence(strings.NewReader(""), lookup, WithBudget(&limitedBudget{})) },
		"there is no ServerMode(6)":                                      func() { New(p, ServerMode(6)) },
		"there is no ValueValidation(4)":                                 func() { NewListSequence(strings.NewReader(""), lookup, ValueValidation(4)) },
		"there is no FieldValidation(3)":                                 func() { NewListSequence(strings.NewReader(""), lookup, FieldValidation(3)) },
	} {
		func() {
			defer func() { assert.Contains(t, fmt.Sprint(recover()), text) }()
			do()
		}()
	}
}

// TestBeforeReset asserts that readers without a source and writers without a target return an
// error.
func TestBeforeReset(t *testing.T) {
	d := decoderWith()
	for _, r := range []*Reader{d.NewReader(nil), d.NewYAMLReader(nil)} {
		r.Reset(nil)
		_, err := r.Read(make([]byte, 1))
		require.EqualError(t, err, "decoder: a Reader has nothing to read from before Reset")
		r.Reset(strings.NewReader(`{}`))
		out, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, "{}", string(out))
	}
	w := d.NewWriter(nil)
	_, err := io.WriteString(w, "{}")
	require.NoError(t, err, "nothing is written yet")
	require.EqualError(t, w.Close(), "decoder: a Writer has nothing to write to before Reset")
	w.Reset(io.Discard)
	_, err = io.WriteString(w, "{}")
	require.NoError(t, err)
	require.NoError(t, w.Close())
}

// TestNoProgram asserts that a lookup which returns neither a program nor an error is an error.
func TestNoProgram(t *testing.T) {
	for _, none := range []*schema.Program{nil, {}} {
		s := NewSequence(strings.NewReader(`{"apiVersion":"v1","kind":"K"}`),
			func(string, string) (*schema.Program, error) { return none, nil })
		require.NoError(t, s.Next())
		out, err := s.AppendJSON([]byte("before"))
		require.EqualError(t, err, `decoder: the lookup has returned no program for kind "K" `+
			`in version "v1", and no error`)
		require.Equal(t, "before", string(out))
		require.Equal(t, io.EOF, s.Next())
	}
}

// TestServerModeText asserts that modes are marshalled as their names.
func TestServerModeText(t *testing.T) {
	for m, want := range []string{"Standalone", "ServerRequests", "ServerTypedRequests",
		"ServerStorage", "ServerConversions", "ServerUnconverted"} {
		text, err := ServerMode(m).MarshalText()
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
	_, err := ServerMode(6).MarshalText()
	require.EqualError(t, err, "decoder: there is no ServerMode(6)")
}

func TestValidationNames(t *testing.T) {
	for v, name := range map[FieldValidation]string{Warn: "Warn", Strict: "Strict", Ignore: "Ignore"} {
		assert.Equal(t, name, v.String())
	}
}

// TestValidationText asserts that the text of each FieldValidation can be read back, and that other
// texts are refused.
func TestValidationText(t *testing.T) {
	for _, v := range []FieldValidation{Warn, Strict, Ignore} {
		text, err := v.MarshalText()
		require.NoError(t, err)
		var back FieldValidation
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, v, back)
	}
	v := Strict
	for _, name := range []string{"", "strict", "Validation(9)"} {
		require.ErrorContains(t, v.UnmarshalText([]byte(name)),
			`there is no field validation called "`+name+`": it is Warn, Strict or Ignore`)
	}
	assert.Equal(t, Strict, v)
	_, err := FieldValidation(9).MarshalText()
	require.EqualError(t, err, "decoder: there is no FieldValidation(9)")
}
