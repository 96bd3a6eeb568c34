package validation

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/recognize"
	recognizers "github.com/espalier-dev/espalier/internal/recognize/compile"
	"github.com/espalier-dev/espalier/schema"
)

// This file has the rules that the server has for the metadata of all objects. They are those of
// package validate; whatever is unusual is left to it.

// Type is a method of schema's ruleMaker.
func (m *maker) Type(r *program.Rules, s *schema.Structural, name, want string) {
	if s == nil {
		s = new(schema.Structural)
	}
	m.Scalars(r, s)
	r.Types &= program.String
	rule := name
	if want != "" {
		rule = isPrefix + want
		if r.Text == nil {
			r.Only = want
		}
	}
	m.restrict(r, rule)
}

// restrict adds a rule for strings in metadata.
func (m *maker) restrict(r *program.Rules, rule string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := textKey{most: unlimited}
	if r.Text != nil {
		key = m.keys[r.Text]
	}
	key.metadata = rule
	r.Text = m.keepText(key)
}

const unlimited = int(^uint(0) >> 1)

// metadataRules recognizes texts that are surely valid, by the places of metadata and the names of
// rules. Empty texts are absent for the server, which may require them.
var metadataRules = map[string]func(text []byte) bool{
	"name": recognize.DNSSubdomain,
	"generateName": func(text []byte) bool {
		return recognize.DNSSubdomain(bytes.TrimSuffix(text, []byte("-")))
	},
	"embedded name": func(text []byte) bool {
		return len(text) > 0 && text[0] != '.' && bytes.IndexByte(text, '/') < 0 && bytes.IndexByte(text, '%') < 0
	},
	"namespace":            recognize.DNSLabel,
	"key of annotations":   recognize.AnnotationKey,
	"key of labels":        recognize.QualifiedName,
	"labels.*":             recognize.LabelValue,
	"creationTimestamp":    isTime,
	"deletionTimestamp":    isTime,
	"managedFields[].time": isTime,
	"finalizers[]": func(text []byte) bool {
		return recognize.QualifiedName(text) && string(text) != "orphan" && string(text) != "foregroundDeletion"
	},
	"ownerReferences[].apiVersion": isAPIVersion,
	"ownerReferences[].kind":       func(text []byte) bool { return len(text) > 0 && string(text) != "Event" },
	"ownerReferences[].name":       isNotEmpty,
	"ownerReferences[].uid":        isNotEmpty,
	"managedFields[].manager":      isManager,
	"managedFields[].subresource":  isManager,
	"managedFields[].operation":    func(text []byte) bool { return string(text) == "Apply" || string(text) == "Update" },
	"managedFields[].fieldsType":   func(text []byte) bool { return string(text) == "FieldsV1" },
	"apiVersion":                   isAPIVersion,
	"kind":                         isKind,
}

func isNotEmpty(text []byte) bool { return len(text) > 0 }

// isAPIVersion reports whether a text has a version, and at most one slash, which is within it.
func isAPIVersion(text []byte) bool {
	return len(text) > 0 && text[0] != '/' && text[len(text)-1] != '/' && bytes.Count(text, []byte("/")) <= 1
}

// isKind reports whether a text is of letters and digits, and short.
func isKind(text []byte) bool {
	if len(text) == 0 || len(text) > 63 || text[0]|0x20-'a' > 'z'-'a' {
		return false
	}
	for _, c := range text {
		if c|0x20-'a' > 'z'-'a' && c-'0' > 9 {
			return false
		}
	}
	return true
}

// isManager reports whether a text is short and can be printed.
func isManager(text []byte) bool {
	return len(text) <= 128 && !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' || c > '~' })
}

// isTime reports whether a text is a time in the form that the server writes, without an offset.
func isTime(text []byte) bool {
	const form = "2006-01-02T15:04:05Z"
	return len(text) == len(form) && text[len("2006-01-02")] == 'T' && text[len(form)-1] == 'Z' && isDateTime(text)
}

var isDateTime = recognizers.Format("date-time")

// maxAnnotations is how large annotations may be.
const maxAnnotations = 256 << 10

// Metadata is a method of schema's ruleMaker.
func (m *maker) Metadata(r *program.Rules, part program.Metadata, s *schema.Structural) {
	place := part.Place
	switch place {
	case "":
		r.Unsure = !saysOnlyNames(s)
		switch {
		case part.Embedded:
		case s != nil && s.Properties["name"] != nil:
			r.Required = []string{"name"} // the server validates a generated name, too
		default:
			r.Junctors = []program.Junctor{{
				Kind:         program.AnyOf,
				Alternatives: []program.Alternative{{Required: []string{"name"}}, {Required: []string{"generateName"}}},
			}}
		}
		return
	case "name", "generateName":
		if s != nil {
			m.Scalars(r, s)
			r.Types &= program.String
		}
		if part.Embedded {
			place = "embedded name"
		}
	case "labels", "annotations":
		r.Types |= program.Null
		names := program.Rules{}
		m.restrict(&names, "key of "+place)
		if r.Names = names.Text; place == "annotations" {
			r.Size = maxAnnotations
		}
	case "ownerReferences":
		r.Types |= program.Null
		r.Items.Most = 1 // only one of several may be a controller
	case "ownerReferences[]":
		r.Required = []string{"apiVersion", "kind", "name", "uid"}
	case "managedFields[]":
		r.Required = []string{"operation"}
	case "creationTimestamp", "deletionTimestamp", "managedFields", "finalizers":
		r.Types |= program.Null
	case "generation", "deletionGracePeriodSeconds":
		m.mu.Lock()
		key := literalKey{most: 1 << 62}
		r.Literal = keep(&m.literals, key, func() *literalChecker { return newLiteral(key) })
		m.mu.Unlock()
	}
	if metadataRules[place] != nil {
		m.restrict(r, place)
	}
}

// saysOnlyNames reports whether a schema of metadata has rules for names alone, as structural
// schemas do.
func saysOnlyNames(s *schema.Structural) bool {
	if s == nil {
		return true
	}
	for name := range s.Properties {
		if name != "name" && name != "generateName" {
			return false
		}
	}
	rest := *s
	rest.Properties, rest.Description, rest.Title, rest.XPreserveUnknownFields = nil, "", "", nil
	return (rest.Type == "" || rest.Type == "object") && reflect.DeepEqual(rest, schema.Structural{Type: rest.Type})
}
