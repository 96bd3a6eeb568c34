package origin

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
)

// A place is a schema, with the keywords that lead to it.
type place struct {
	*schema.Structural
	steps []string
}

func (p place) below(s *schema.Structural, steps ...string) place {
	return place{s, slices.Concat(p.steps, steps)}
}

// keyword returns what leads from a schema to the keyword that refuses the value at a path, or to
// the schema of the value. It returns nil if there is neither.
func keyword(s *schema.Structural, path errors.Path, why *errors.ValueError) []string {
	segments, ok := segmentsOf(path)
	if s == nil || !ok {
		return nil
	}
	if why.Rule == ruleInCEL {
		steps, _ := ruleOf(s, segments[:min(why.RuleDepth, len(segments))], why)
		return steps
	}
	missing := ""
	switch n := len(segments); {
	case n == 0:
	case why.Rule == "required":
		missing, segments = segments[n-1].Name, segments[:n-1]
	case why.Rule == "x-kubernetes-list-type":
		segments = segments[:n-1] // from the element to the list
	}
	places := withJunctors([]place{{s, []string{}}})
	for _, segment := range segments {
		places = withJunctors(next(places, segment))
	}
	for _, p := range places {
		if why.Rule == "required" {
			if i := slices.Index(p.Required, missing); i >= 0 {
				return append(p.steps, "required", strconv.Itoa(i))
			}
		} else if p.refuses(why) {
			return append(p.steps, why.Rule)
		}
	}
	if len(places) == 0 || !isKeyword(why.Rule) {
		return nil
	}
	return places[0].steps
}

// segmentsOf returns the segments of a path, if all are known.
func segmentsOf(path errors.Path) (segments []errors.Segment, ok bool) {
	for segment := range path.Segments() {
		if segment.Gap > 0 {
			return nil, false
		}
		segments = append(segments, segment)
	}
	return segments, true
}

// Expression returns the rule in CEL that refuses a value, and what leads to the value that it is
// about. There is none if why is another rule.
func Expression(
	s *schema.Structural, path errors.Path, why *errors.ValueError,
) (expression string, to []errors.Segment) {
	to, ok := segmentsOf(path)
	if s == nil || !ok || why.Rule != ruleInCEL {
		return "", nil
	}
	to = to[:min(why.RuleDepth, len(to))]
	_, expression = ruleOf(s, to, why)
	return expression, to
}

const ruleInCEL = "x-kubernetes-validations"

// ruleOf returns what leads to the rule in CEL that refuses the value to which segments lead, and
// its expression. The index of the rule counts in one schema, and allOf may have others, with indices of their own.
func ruleOf(
	s *schema.Structural, segments []errors.Segment, why *errors.ValueError,
) (steps []string, expression string) {
	places := withJunctors([]place{{s, []string{}}})
	for _, segment := range segments {
		places = withJunctors(next(places, segment))
	}
	for _, p := range places {
		if why.RuleIndex >= len(p.XValidations) {
			continue
		}
		here := append(p.steps, ruleInCEL, strconv.Itoa(why.RuleIndex))
		var rule struct {
			Rule              string `json:"rule"`
			Message           string `json:"message"`
			MessageExpression string `json:"messageExpression"`
		}
		if jsonv2.Unmarshal(p.XValidations[why.RuleIndex], &rule) != nil {
			continue
		}
		switch message := strings.TrimSpace(rule.Message); {
		case message != "" && strings.Contains(why.Msg, message), message == "" && strings.Contains(why.Msg, strings.TrimSpace(rule.Rule)):
			return here, rule.Rule
		case steps == nil && rule.MessageExpression != "":
			steps, expression = here, rule.Rule
		}
	}
	return steps, expression
}

// maxPlaces bounds how many schemas are looked at for one value.
const maxPlaces = 1000

// withJunctors adds the schemas below allOf, anyOf, oneOf and not, after those that they are in.
func withJunctors(places []place) []place {
	for i := 0; i < len(places) && len(places) < maxPlaces; i++ {
		p := places[i]
		for _, junctor := range []struct {
			name string
			of   []*schema.Structural
		}{{"allOf", p.AllOf}, {"anyOf", p.AnyOf}, {"oneOf", p.OneOf}} {
			for i, s := range junctor.of {
				if s != nil && len(places) < maxPlaces {
					places = append(places, p.below(s, junctor.name, strconv.Itoa(i)))
				}
			}
		}
		if p.Not != nil {
			places = append(places, p.below(p.Not, "not"))
		}
	}
	return places
}

// next returns the schemas for a member or an element of a value with the given schemas.
func next(places []place, segment errors.Segment) (below []place) {
	for _, p := range places {
		switch {
		case !segment.IsName:
			if p.Items != nil && p.Items.Schema != nil {
				below = append(below, p.below(p.Items.Schema, "items"))
			}
		case p.Properties[segment.Name] != nil:
			below = append(below, p.below(p.Properties[segment.Name], "properties", segment.Name))
		case p.AdditionalProperties != nil && p.AdditionalProperties.Schema != nil:
			below = append(below, p.below(p.AdditionalProperties.Schema, "additionalProperties"))
		}
	}
	return below
}

// refuses reports whether the keyword of a schema may be the one that refuses a value.
func (p place) refuses(why *errors.ValueError) bool {
	switch why.Rule {
	case "enum":
		return len(p.Enum) > 0 && len(p.Enum) == len(why.Allowed)
	case "pattern":
		return p.Pattern != "" && strings.Contains(why.Msg, p.Pattern)
	case "format":
		return p.Format != "" && strings.Contains(why.Msg, p.Format)
	case "type":
		return p.Type != "" && strings.Contains(why.Msg, "type "+p.Type)
	}
	field, ok := keywords[why.Rule]
	return ok && !reflect.ValueOf(p.Structural).Elem().Field(field).IsZero()
}

// keywords are the fields of a Structural by their names in JSON.
var keywords = func() map[string]int {
	fields, i := make(map[string]int), 0
	for f := range reflect.TypeFor[schema.Structural]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = i
		i++
	}
	return fields
}()

func isKeyword(rule string) bool {
	_, ok := keywords[rule]
	return ok
}
