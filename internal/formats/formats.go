// Package formats finds values of the right type that the API server cannot decode. The server
// decodes metadata into a metav1.ObjectMeta, and objects of built-in kinds into Go types. The
// formats in the schema of a custom resource play no part in decoding.
package formats

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/schema"
)

// metadata is the schema of the fields of a metav1.ObjectMeta whose types have their own
// UnmarshalJSON.
var metadata = func() *schema.Structural {
	object := func(properties map[string]*schema.Structural) *schema.Structural {
		return &schema.Structural{Type: "object", Properties: properties}
	}
	time := &schema.Structural{Type: "string", Format: "date-time"}
	entry := object(map[string]*schema.Structural{"time": time})
	entries := &schema.Structural{Type: "array", Items: &schema.SchemaOrArray{Schema: entry}}
	return object(map[string]*schema.Structural{
		"creationTimestamp": time, "deletionTimestamp": time, "managedFields": entries,
	})
}()

// Of returns a schema with only those formats that decoding checks. For a kind that is decoded into
// a Go type it is s itself. For a custom resource it has the fields that lead to metadata.
func Of(s *schema.Structural, isGoType bool) *schema.Structural {
	if isGoType {
		return s
	}
	if left := maxLooked; !hasResource(s, &left) {
		s = nil // most have none, and are large
	}
	return toMetadata(s, true, map[metadataKey]*schema.Structural{})
}

// maxLooked is how many schemas are searched for resources before the search gives up: schemas that
// contain themselves have no end.
const maxLooked = 1 << 16

// hasResource reports whether there is an embedded resource within a schema, or the search gives
// up.
func hasResource(s *schema.Structural, left *int) bool {
	if s == nil {
		return false
	}
	if *left--; *left < 0 {
		return true
	}
	for _, p := range s.Properties {
		if p != nil && p.XEmbeddedResource || hasResource(p, left) {
			return true
		}
	}
	within := func(child *schema.Structural) bool {
		return child != nil && (child.XEmbeddedResource || hasResource(child, left))
	}
	return s.AdditionalProperties != nil && within(s.AdditionalProperties.Schema) || s.Items != nil && within(s.Items.Schema)
}

// A metadataKey identifies a schema that leads to metadata by its source.
type metadataKey struct {
	s          *schema.Structural
	isResource bool
}

// toMetadata returns the part of a schema that leads to the metadata of resources, or nil.
func toMetadata(
	s *schema.Structural, isResource bool, done map[metadataKey]*schema.Structural,
) *schema.Structural {
	key := metadataKey{s, isResource}
	if known, ok := done[key]; ok {
		return known
	}
	to := &schema.Structural{}
	done[key] = to // it may contain itself
	leads := isResource
	if isResource {
		to.Properties = map[string]*schema.Structural{"metadata": metadata}
	}
	within := func(child *schema.Structural) *schema.Structural {
		if child == nil {
			return nil
		}
		child = toMetadata(child, child.XEmbeddedResource, done)
		leads = leads || child != nil
		return child
	}
	if s != nil {
		for name, p := range s.Properties {
			if isResource && name == "metadata" {
				continue
			}
			if child := within(p); child != nil {
				if to.Properties == nil {
					to.Properties = map[string]*schema.Structural{}
				}
				to.Properties[name] = child
			}
		}
		if s.AdditionalProperties != nil {
			if child := within(s.AdditionalProperties.Schema); child != nil {
				to.AdditionalProperties = &schema.SchemaOrBool{Allows: true, Schema: child}
			}
		}
		if s.Items != nil {
			if child := within(s.Items.Schema); child != nil {
				to.Items = &schema.SchemaOrArray{Schema: child}
			}
		}
	}
	if !leads {
		done[key] = nil
		return nil
	}
	return to
}

// A Bad is a value that cannot be decoded.
type Bad struct {
	Offset int // of the value, in the JSON
	Path   errors.Path
	Must   string // what it must be, such as "a quantity"; never has text of the value
}

// Find returns the values of a JSON document that cannot be decoded, in their order. It returns at
// most most of them, and how many more there are. The document must be valid JSON. isYAML says that
// it was made from YAML: the API server rewrites numbers then.
func Find(js []byte, s *schema.Structural, isYAML bool, most int) (bad []Bad, more int) {
	w := walker{Cursor: skip.Cursor{Text: js}, isYAML: isYAML, most: most}
	w.value(s)
	return w.found, w.more
}

// A walker reads an object along with its schema.
type walker struct {
	skip.Cursor
	isYAML bool
	found  []Bad
	more   int
	most   int
}

// value reads the next value, and reports whether that was possible. s has its formats, or is nil.
func (w *walker) value(s *schema.Structural) (ok bool) {
	kind := w.Next()
	if s == nil || s.Format == schema.FormatQuantity || !leadsOn(s, kind) {
		from := w.At
		value, valid := w.Value()
		if !valid || s == nil {
			return valid
		}
		if must := w.mustBe(s, value); must != "" {
			w.add(Bad{Offset: from, Must: must})
		}
		return true
	}
	return w.Each(func(step skip.Step) bool {
		if step.Name == nil {
			return w.value(s.Items.Schema)
		}
		child := s.Properties[string(step.Name)]
		if child == nil && s.AdditionalProperties != nil {
			child = s.AdditionalProperties.Schema
		}
		return w.value(child)
	})
}

// leadsOn reports whether a value that begins with c may have formats within it.
func leadsOn(s *schema.Structural, c byte) bool {
	return c == '{' && (len(s.Properties) > 0 || s.AdditionalProperties != nil) || c == '[' && s.Items != nil && s.Items.Schema != nil
}

func (w *walker) add(bad Bad) {
	if len(w.found) == w.most {
		w.more++
		return
	}
	bad.Path = errors.PathOf(fieldpath.Encode(len(w.Path), func(i int) ([]byte, int) {
		return w.Path[i].Name, w.Path[i].Index
	}))
	w.found = append(w.found, bad)
}

// mustBe says what a value must be to be decoded, or "" if it is that.
func (w *walker) mustBe(s *schema.Structural, value []byte) string {
	kind := jsonwire.At(value, 0)
	isNumber := kind == '-' || kind-'0' <= 9
	switch {
	case s.Format == schema.FormatQuantity:
		// resource.Quantity reads the text between the quotes without unescaping it.
		text := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(string(value), `"`), `"`))
		if kind != 'n' && !IsQuantity(text) {
			return "a quantity, such as 500m, 2 or 1.5Gi"
		}
	case isNumber && s.XIntOrString:
		if !w.isInteger(value, 32) {
			return "a string or an integer of 32 bits"
		}
	case isNumber && s.Type == "integer" && s.Format == "int32":
		if !w.isInteger(value, 32) {
			return "an integer of 32 bits"
		}
	case isNumber && s.Type == "integer":
		if !w.isInteger(value, 64) {
			return "an integer of 64 bits, written without a point and an exponent"
		}
	case kind == '"' && s.Format != "":
		return textMustBe(s.Format, string(jsonwire.AppendUnescaped(nil, value[1:len(value)-1])))
	case kind == 'n' && s.Format == schema.FormatDuration:
		return textMustBe(s.Format, "")
	}
	return ""
}

// isInteger reports whether a number is decoded into an integer. Numbers of YAML are written as
// JSON before.
func (w *walker) isInteger(value []byte, bits int) bool {
	if w.isYAML {
		value = apiserver.AppendNumbers(nil, value)
	}
	_, err := strconv.ParseInt(string(value), 10, bits)
	return err == nil
}

// textMustBe says what a string with a format must be. The message omits the text, which may be
// secret.
func textMustBe(format, text string) string {
	var err error
	must := ""
	switch format {
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
		must = "a time as in RFC 3339, such as 2026-01-02T15:04:05Z"
	case schema.FormatMicroTime:
		_, err = time.Parse("2006-01-02T15:04:05.000000Z07:00", text)
		must = "a time with six digits after the second, such as 2026-01-02T15:04:05.000000Z"
	case schema.FormatDuration:
		_, err = time.ParseDuration(text)
		must = "a duration, such as 1h30m or 500ms"
	case "byte":
		_, err = base64.StdEncoding.DecodeString(text)
		must = "base64, with padding (RFC 4648, section 4)"
	}
	if err == nil {
		return ""
	}
	return must
}
