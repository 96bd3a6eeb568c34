package validation

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
)

// TestMetadataRules has texts that are surely valid in a place of metadata, and texts that are not.
func TestMetadataRules(t *testing.T) {
	for place, texts := range map[string]map[string]bool{
		"managedFields[].operation":  {"Apply": true, "Update": true, "Delete": false},
		"managedFields[].fieldsType": {"FieldsV1": true, "FieldsV2": false},
		"managedFields[].manager":    {"kubectl": true, "\n": false},
		"creationTimestamp": {
			"2026-11-23T10:00:00Z": true, "2026-02-29T10:00:00Z": false, "2026-11-23 10:00:00Z": false,
			"2026-11-2xT10:00:00Z": false, "2026-13-01T10:00:00Z": false, "": false,
		},
		"ownerReferences[].kind": {"K": true, "Event": false, "": false},
		"finalizers[]":           {"a/b": true, "orphan": false},
		"embedded name":          {"a": true, "..": false, "a/b": false},
		"kind":                   {"Trellis": true, "1": false, "a-b": false, "": false},
		"apiVersion":             {"v1": true, "a/v1": true, "a/b/c": false, "/v1": false},
	} {
		for text, want := range texts {
			require.Equal(t, want, metadataRules[place]([]byte(text)), "%s: %q", place, text)
		}
	}
}

// TestTimes compares isTime with the times that are decoded from metadata and written again as they
// were: for all days of some years, with each byte of a time changed, and in other forms.
func TestTimes(t *testing.T) {
	is := func(text string) bool {
		var meta apiserver.Time
		quoted := []byte(strconv.Quote(text))
		if meta.UnmarshalJSON(quoted) != nil {
			return false
		}
		written := meta.AppendFormat(nil, `"`+time.RFC3339+`"`)
		return bytes.Equal(quoted, written)
	}
	for _, year := range []string{"0000", "1900", "2000", "2024", "2026", "9999"} {
		for n := range 14 * 40 {
			text := fmt.Sprintf("%s-%02d-%02dT10:00:00Z", year, n/40, n%40)
			require.Equal(t, is(text), isTime([]byte(text)), text)
		}
	}
	for i := range "2026-11-23T10:20:30Z" {
		for c := range 128 {
			text := []byte("2026-11-23T10:20:30Z")
			text[i] = byte(c)
			require.Equal(t, is(string(text)), isTime(text), "%q", text)
		}
	}
	for _, text := range []string{
		"2026-11-23T23:59:59Z", "2026-11-23T24:00:00Z", "2026-11-23T10:60:00Z", "2026-12-31T23:59:60Z",
		"2026-11-23T10:20Z", "2026-11-23T10:20:30", "2026-11-23", "2026-11-23T10:20:30ZZ",
		"2026-11-23T10:20:30.5Z", "2026-11-23T10:20:30+00:00", "2026-11-23T10:20+0Z",
	} {
		require.Equal(t, is(text), isTime([]byte(text)), text)
	}
}

// TestOddSchemas asserts that schemas are compiled that no text has.
func TestOddSchemas(t *testing.T) {
	keyed := "map"
	for _, s := range []*schema.Structural{
		{Type: "string", AnyOf: []*schema.Structural{nil, {MaxLength: new(int64)}}},
		{Type: "array", XListType: &keyed, XListMapKeys: []string{"k"}, Properties: map[string]*schema.Structural{"a": {}}},
	} {
		p, err := schema.Compile(s, Values(), schema.ResourceRoot(false))
		require.NoError(t, err)
		for doc, want := range map[string]bool{`"a"`: s.Type == "string", `[{}]`: s.Type == "array", `[{},{}]`: false} {
			_, err := decoder.New(p, decoder.ValidateCreate).AppendJSON(nil, []byte(doc))
			require.Equal(t, want, err == nil, "%s: %v", doc, err)
		}
	}
}

// TestValidatorOfText asserts that what is no JSON has an error, though decoders have none of it.
func TestValidatorOfText(t *testing.T) {
	p, err := schema.Compile(&schema.Structural{Type: "object"}, Values())
	require.NoError(t, err)
	errs, complete := program.Of(p).Validator.Validate([]byte(`{`), program.Create, 100)
	require.True(t, complete)
	require.Len(t, errs, 1)
	require.Equal(t, errors.SchemaInvalid, errs[0].Kind)
}

// TestLengths asserts that lengths are counted in code points, for those of one to four bytes.
func TestLengths(t *testing.T) {
	for _, char := range []string{"a", "é", "€", "🌳"} {
		for n := range 10 {
			text := []byte(strings.Repeat(char, n))
			for least := range 12 {
				for most := range 12 {
					want := program.Invalid
					if least <= n && n <= most {
						want = program.Valid
					}
					require.Equal(t, want, (&lengthChecker{least, most}).Check(text), "%s: from %d to %d", text, least, most)
				}
			}
		}
	}
}

// TestSizeOfAnnotations has annotations of the greatest size, and of a byte more, in one and in many,
// with the escapes and the blanks that do not count.
func TestSizeOfAnnotations(t *testing.T) {
	p, err := schema.Compile(&schema.Structural{Type: "object"}, Values())
	require.NoError(t, err)
	d := decoder.New(p, decoder.ValidateCreate)
	for more, valid := range []bool{true, false} {
		for _, annotations := range []string{
			`"a":"` + strings.Repeat("b", maxAnnotations-1+more) + `"`,
			strings.Repeat(" ", 1000) + `"\u0061":"\u0062` + strings.Repeat("b", maxAnnotations-2+more) + `"`,
			`"a":"` + strings.Repeat("b", maxAnnotations/2-1) + `","b":"` + strings.Repeat("🌳", (maxAnnotations/2-1)/4) + strings.Repeat("c", 3+more) + `"`,
		} {
			_, err := d.AppendJSON(nil, []byte(`{"apiVersion":"v1","kind":"K","metadata":{"name":"n","annotations":{`+annotations+`}}}`))
			if valid {
				require.NoError(t, err)
				continue
			}
			require.EqualError(t, err, "the object is invalid: metadata.annotations: Too long: may not be more than 262144 bytes")
		}
	}
}

// TestControllers asserts that one of several owners may be a controller, in resources that are
// embedded, too.
func TestControllers(t *testing.T) {
	p, err := schema.Compile(&schema.Structural{Type: "object", Properties: map[string]*schema.Structural{
		"e": {Type: "object", XEmbeddedResource: true},
	}}, Values())
	require.NoError(t, err)
	d := decoder.New(p, decoder.ValidateCreate)
	owner := func(uid, more string) string {
		return `{"apiVersion":"v1","kind":"O","name":"o","uid":"` + uid + `"` + more + `}`
	}
	const controller = `,"controller":true`
	for owners, valid := range map[string]bool{
		owner("1", controller):                                           true,
		owner("1", controller) + "," + owner("2", ""):                    true,
		owner("1", controller) + "," + owner("2", `,"controller":false`): true,
		owner("1", controller) + "," + owner("2", controller):            false,
		owner("1", "") + "," + owner("2", controller):                    true,
	} {
		metadata := `"apiVersion":"v1","kind":"K","metadata":{"name":"n","ownerReferences":[` + owners + `]}`
		for _, doc := range []string{
			`{` + metadata + `}`, `{"apiVersion":"v1","kind":"K","metadata":{"name":"n"},"e":{` + metadata + `}}`,
		} {
			_, err := d.AppendJSON(nil, []byte(doc))
			if valid {
				require.NoError(t, err, doc)
			} else {
				require.ErrorContains(t, err, "Only one reference can have Controller set to true", doc)
			}
		}
	}
}
