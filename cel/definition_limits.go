package cel

import (
	"maps"
	"regexp"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	kfield "k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// maxLimits is how many limits an error names.
const maxLimits = 8

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)

// missingLimits returns the keywords that would bound the cost of an expression, as
// [DefinitionError] says.
func missingLimits(n *ruleNode, expression string) (limits []string) {
	add := func(s *apiextensions.JSONSchemaProps, path *kfield.Path) {
		if keyword := missingLimit(s); keyword != "" && len(limits) < maxLimits {
			limits = append(limits, path.Child(keyword).String())
		}
	}
	for up := n.up; up != nil; up = up.up {
		if up.s.Type != "string" {
			add(up.s, up.path)
		}
	}
	words := map[string]bool{}
	for _, w := range word.FindAllString(expression, -1) {
		words[w] = true
	}
	type part struct {
		s    *apiextensions.JSONSchemaProps
		path *kfield.Path
	}
	queue := []part{{n.s, n.path}}
	for ; len(queue) > 0 && len(limits) < maxLimits; queue = queue[1:] {
		s, path := queue[0].s, queue[0].path
		add(s, path)
		if s.Items != nil && s.Items.Schema != nil {
			queue = append(queue, part{s.Items.Schema, path.Child("items")})
		}
		if a := s.AdditionalProperties; a != nil && a.Schema != nil {
			queue = append(queue, part{a.Schema, path.Child("additionalProperties")})
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if escaped, ok := apiservercel.Escape(name); ok && words[escaped] {
				p := s.Properties[name]
				queue = append(queue, part{&p, path.Child("properties").Key(name)})
			}
		}
	}
	return limits
}

// missingLimit returns the keyword that s lacks, if the values of s can be of any size for an
// estimate.
func missingLimit(s *apiextensions.JSONSchemaProps) string {
	switch {
	case s.Type == "array" && s.MaxItems == nil:
		return "maxItems"
	case s.Type == "object" && s.AdditionalProperties != nil && s.MaxProperties == nil:
		return "maxProperties"
	case s.Type == "string" && s.MaxLength == nil && len(s.Enum) == 0:
		switch s.Format {
		case "date", "date-time", "duration": // whose length is limited
		default:
			return "maxLength"
		}
	}
	return ""
}
