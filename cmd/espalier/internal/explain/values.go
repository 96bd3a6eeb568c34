package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/schema"
)

// values returns what a schema says of the values that it allows, besides their types.
func values(s *schema.Structural) (parts []string) {
	add := func(when bool, text string) {
		if when {
			parts = append(parts, text)
		}
	}
	if len(s.Enum) > 0 {
		allowed := make([]string, len(s.Enum))
		for i, value := range s.Enum {
			allowed[i] = brief(value)
		}
		parts = append(parts, "one of "+first(allowed))
	}
	add(s.Format != "", "format "+sanitize.Name(s.Format))
	add(s.Pattern != "", "pattern "+brief([]byte(s.Pattern)))
	parts = append(parts, counted(s.MinLength, s.MaxLength, "character")...)
	parts = append(parts, numbers(s)...)
	parts = append(parts, counted(s.MinItems, s.MaxItems, "element")...)
	parts = append(parts, counted(s.MinProperties, s.MaxProperties, "member")...)
	switch {
	case s.XListType != nil && len(s.XListMapKeys) > 0:
		parts = append(parts, "list type "+sanitize.Name(*s.XListType)+" with keys "+listed(s.XListMapKeys))
	case s.XListType != nil:
		parts = append(parts, "list type "+sanitize.Name(*s.XListType))
	}
	add(s.UniqueItems, "elements differ")
	for _, junctor := range []struct {
		name string
		of   int
	}{{"allOf", len(s.AllOf)}, {"anyOf", len(s.AnyOf)}, {"oneOf", len(s.OneOf)}} {
		add(junctor.of > 0, junctor.name+" with "+finding.Count(junctor.of, "schema"))
	}
	add(s.Not != nil, "not with a schema")
	add(len(s.XValidations) > 0, finding.Count(len(s.XValidations), "rule")+" in CEL")
	return parts
}

// counted says how many characters, elements or members there may be.
func counted(least, most *int64, unit string) (parts []string) {
	if least != nil {
		parts = append(parts, "at least "+finding.Count(int(*least), unit))
	}
	if most != nil {
		parts = append(parts, "at most "+finding.Count(int(*most), unit))
	}
	return parts
}

// numbers says which numbers are allowed.
func numbers(s *schema.Structural) (parts []string) {
	add := func(limit *float64, exclusive bool, within, beyond string) {
		switch {
		case limit == nil:
		case exclusive:
			parts = append(parts, beyond+strconv.FormatFloat(*limit, 'g', -1, 64))
		default:
			parts = append(parts, within+strconv.FormatFloat(*limit, 'g', -1, 64))
		}
	}
	add(s.Minimum, s.ExclusiveMinimum, "at least ", "more than ")
	add(s.Maximum, s.ExclusiveMaximum, "at most ", "less than ")
	add(s.MultipleOf, false, "a multiple of ", "")
	return parts
}

// first returns the first of several texts, separated by commas.
func first(texts []string) string {
	const most = 12
	if len(texts) > most {
		return strings.Join(texts[:most], ", ") + fmt.Sprintf(" and %d more", len(texts)-most)
	}
	return strings.Join(texts, ", ")
}
