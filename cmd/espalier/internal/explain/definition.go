package explain

import (
	"maps"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/schema"
)

// shown returns the steps of a trace that are in the definition, and the first
// of those that are not: in metadata, and in what is preserved.
func shown(trace []schema.Step) []schema.Step {
	for i, step := range trace {
		switch step.Kind {
		case schema.StepPruned, schema.StepUnspecified:
			return trace[:i]
		case schema.StepImplicit, schema.StepPreserved:
			return trace[:i+1]
		}
	}
	return trace
}

// Declared returns the names of the fields that the schema declares for the object at a path,
// in the spelling of paths and with the index of an element where the field is an array.
func Declared(entry schema.Entry, path []locate.Step) (names []string) {
	trace, err := entry.Trace(locate.FieldPath(path))
	if err != nil || len(trace) <= len(path) || trace[len(path)].Schema == nil {
		return nil
	}
	for name, field := range trace[len(path)].Schema.Properties {
		text := locate.Spelled([]locate.Step{locate.Field(name)})
		if field.Items != nil {
			text += "[0]"
		}
		names = append(names, text)
	}
	return names
}

func preserves(s *schema.Structural) bool {
	return s != nil && s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

// isRequired reports whether the schema that a step leads away from requires the member with a name.
func isRequired(from schema.Step, name string) bool {
	return from.Schema != nil && slices.Contains(from.Schema.Required, name)
}

// describe returns what the schema says at a step, as far as it matters.
func describe(step schema.Step, required bool) string {
	n := step.Schema
	switch {
	case step.Kind == schema.StepImplicit && required:
		return "specified implicitly, and required"
	case step.Kind == schema.StepImplicit:
		return "specified implicitly"
	case step.Kind == schema.StepPreserved:
		return "not specified, and preserved"
	case n == nil:
		return "not specified"
	}
	var parts []string
	add := func(when bool, text string) {
		if when {
			parts = append(parts, text)
		}
	}
	add(n.Type != "", "type "+sanitize.Name(n.Type))
	add(n.XIntOrString, "integer or string")
	add(required, "required")
	add(preserves(n), "preserves unknown fields")
	add(n.XEmbeddedResource, "an embedded resource")
	add(n.Nullable, "nullable")
	add(len(n.Default) > 0, "default "+brief(n.Default))
	parts = append(parts, values(n)...)
	add(n.AdditionalProperties != nil, "a map")
	if len(n.Properties) > 0 {
		parts = append(parts, "declares "+listed(slices.Sorted(maps.Keys(n.Properties))))
	}
	if len(parts) == 0 {
		return "says nothing"
	}
	return strings.Join(parts, ", ")
}
