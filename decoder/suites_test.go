package decoder

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/schema"
)

// openVerdicts are our verdicts on the texts that JSONTestSuite leaves open; true means accepted.
// The refused texts are beyond float64, are not UTF-8, have half of a surrogate pair, or have a
// byte order mark.
var openVerdicts = map[string]bool{
	"i_number_double_huge_neg_exp.json":                   true,
	"i_number_huge_exp.json":                              false,
	"i_number_neg_int_huge_exp.json":                      false,
	"i_number_pos_double_huge_exp.json":                   false,
	"i_number_real_neg_overflow.json":                     false,
	"i_number_real_pos_overflow.json":                     false,
	"i_number_real_underflow.json":                        true,
	"i_number_too_big_neg_int.json":                       true,
	"i_number_too_big_pos_int.json":                       true,
	"i_number_very_big_negative_int.json":                 true,
	"i_object_key_lone_2nd_surrogate.json":                false,
	"i_string_1st_surrogate_but_2nd_missing.json":         false,
	"i_string_1st_valid_surrogate_2nd_invalid.json":       false,
	"i_string_UTF-16LE_with_BOM.json":                     false,
	"i_string_UTF-8_invalid_sequence.json":                false,
	"i_string_UTF8_surrogate_U+D800.json":                 false,
	"i_string_incomplete_surrogate_and_escape_valid.json": false,
	"i_string_incomplete_surrogate_pair.json":             false,
	"i_string_incomplete_surrogates_escape_valid.json":    false,
	"i_string_invalid_lonely_surrogate.json":              false,
	"i_string_invalid_surrogate.json":                     false,
	"i_string_invalid_utf-8.json":                         false,
	"i_string_inverted_surrogates_U+1D11E.json":           false,
	"i_string_iso_latin_1.json":                           false,
	"i_string_lone_second_surrogate.json":                 false,
	"i_string_lone_utf8_continuation_byte.json":           false,
	"i_string_not_in_unicode_range.json":                  false,
	"i_string_overlong_sequence_2_bytes.json":             false,
	"i_string_overlong_sequence_6_bytes.json":             false,
	"i_string_overlong_sequence_6_bytes_null.json":        false,
	"i_string_truncated-utf-8.json":                       false,
	"i_string_utf16BE_no_BOM.json":                        false,
	"i_string_utf16LE_no_BOM.json":                        false,
	"i_structure_500_nested_arrays.json":                  true,
	"i_structure_UTF-8_BOM_empty_object.json":             false,
}

// withDuplicates are the texts that JSON allows and Strict refuses.
var withDuplicates = map[string]bool{
	"y_object_duplicated_key.json":           true,
	"y_object_duplicated_key_and_value.json": true,
}

// places are the places of a text in a document. Each takes another way through the machines.
var places = []struct {
	name          string
	before, after string
	schema        string
	opts          []schema.Option
}{
	{"the whole input, preserved", ``, ``, `{x-kubernetes-preserve-unknown-fields: true}`, []schema.Option{schema.ResourceRoot(false)}},
	{"the whole input, walked", ``, ``, `{type: object}`, []schema.Option{schema.ResourceRoot(false)}},
	{"in a skipped field", `{"unknown":`, `}`, `{type: object}`, nil},
	{"in a preserved field", `{"a":`, `}`, `{type: object, properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}`, nil},
	{"in a declared field", `{"a":`, `}`, `{type: object, properties: {a: {type: string}}}`, nil},
	{"in a map", `{"a":{"b":`, `}}`, `{type: object, properties: {a: {type: object, additionalProperties: true}}}`, nil},
	// These are far enough from the end for the simple machine.
	{"in a simple field", `{"b":0,"a":`, `,"c":0}` + blanks, `{type: object, properties: {b: {type: integer}, a: {type: object, properties: {a: {type: string}, asd: {type: string}}}, c: {type: integer}}}`, nil},
	{"in a simple array", `{"a":[0,`, `,0]}` + blanks, `{type: object, properties: {a: {type: array, items: {type: object, properties: {a: {type: string}}}}}}`, nil},
	{"in a simple map", `{"a":{"b":0,"c":`, `,"d":0}}` + blanks, `{type: object, properties: {a: {type: object, additionalProperties: {type: object, properties: {a: {type: string}}}}}}`, nil},
}

var blanks = strings.Repeat(" ", 2*skip.Slack)

func TestJSONTestSuite(t *testing.T) {
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			p := compileYAML(t, place.schema, place.opts...)
			counts := map[corpus.Verdict]int{}
			for text := range corpus.JSONTestSuite(t) {
				counts[text.Verdict]++
				src := []byte(place.before + string(text.Data) + place.after)
				accept := text.Verdict == corpus.Accept
				if text.Verdict == corpus.Open {
					verdict, listed := openVerdicts[text.Name]
					require.True(t, listed, text.Name)
					accept = verdict
				}
				for _, v := range []FieldValidation{Ignore, Warn, Strict} {
					out, err := New(p, v).AppendJSON(nil, src)
					var strict *ferrors.StrictError
					switch {
					case errors.As(err, &strict):
						assert.True(t, accept, text.Name)
						assert.NotNil(t, out, text.Name)
						assert.Equal(t, withDuplicates[text.Name], hasDuplicate(strict), text.Name)
					case accept:
						assert.NoError(t, err, text.Name)
						assert.False(t, v == Strict && withDuplicates[text.Name], text.Name)
					default:
						assert.Error(t, err, text.Name)
						assert.Nil(t, out, text.Name)
					}
				}
			}
			assert.Equal(t, map[corpus.Verdict]int{corpus.Accept: 95, corpus.Refuse: 188, corpus.Open: 35},
				counts)
		})
	}
}

func hasDuplicate(e *ferrors.StrictError) bool {
	for _, f := range e.Findings() {
		if f.Kind.String() == "duplicate field" {
			return true
		}
	}
	return false
}

func TestJSONChecker(t *testing.T) {
	for _, place := range places {
		p := compileYAML(t, place.schema, place.opts...)
		n := 0
		for text := range corpus.JSONChecker(t) {
			n++
			_, err := New(p).AppendJSON(nil, []byte(place.before+string(text.Data)+place.after))
			assert.Equal(t, text.Verdict == corpus.Accept, err == nil,
				"%s %s: %v", text.Name, place.name, err)
		}
		assert.Equal(t, 34, n)
	}
}

// TestJSONTestSuiteTransforms holds that texts of which decoders make different values are accepted
// if they are UTF-8 and have no half of a surrogate pair, and that their numbers and strings are
// kept as they are written.
func TestJSONTestSuiteTransforms(t *testing.T) {
	for _, place := range places {
		d := New(compileYAML(t, place.schema, place.opts...))
		n := 0
		for text := range corpus.JSONTestSuiteTransforms(t) {
			n++
			src := []byte(place.before + string(text.Data) + place.after)
			out, err := d.AppendJSON(nil, src)
			valid := jsontext.Value(text.Data).IsValid(jsontext.AllowDuplicateNames(true))
			assert.Equal(t, valid, err == nil, "%s %s: %v", text.Name, place.name, err)
			if place.name == "the whole input, preserved" && valid && text.Data[0] == '[' {
				assert.Equal(t, string(src), string(out), text.Name)
			}
		}
		assert.Equal(t, 22, n)
	}
}

// TestEveryByteEverywhere puts each control and structural character, and a few others, at each
// index of a text, in each place of a document. It compares which texts are accepted with jsontext.
// Once a control character after the colon of an undeclared name was taken for white space.
func TestEveryByteEverywhere(t *testing.T) {
	text := `{"a": "b", "asd":1,"c":[2 ,{"d":true}], "longer than a word": {}, "e":-1.5}`
	for _, place := range places {
		d := New(compileYAML(t, place.schema, place.opts...), Ignore)
		check := func(text string) {
			src := []byte(place.before + text + place.after)
			out, err := d.AppendJSON(nil, src)
			valid := jsontext.Value(src).IsValid(jsontext.AllowDuplicateNames(true))
			if valid != isJSON(err) {
				require.Equal(t, valid, isJSON(err), "%s: %q: %v", place.name, src, err)
			}
			if err == nil && !jsontext.Value(out).IsValid() {
				require.Fail(t, "the result is no JSON", "%s: %q: %q", place.name, src, out)
			}
		}
		others := "09:[\\]{}eEnt\x7f\x80\xc3\xff"
		for at := range text {
			for c := range '0' {
				check(text[:at] + string(c) + text[at:])
				check(text[:at] + string(c) + text[at+1:])
			}
			for i := range len(others) {
				check(text[:at] + others[i:i+1] + text[at:])
				check(text[:at] + others[i:i+1] + text[at+1:])
			}
		}
	}
}
