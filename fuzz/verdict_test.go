package fuzz

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/schema"
)

// bothRefuse compares the errors for a document.
func (c *comparer) bothRefuse(doc []byte, err error) (_ class, what, detail string) {
	if what, detail := c.compareFaults(doc, err); what != "" {
		return differs, what, detail
	}
	return bothRefuse, "", ""
}

// compareFaults compares the reasons for which a document is refused. If there are several, the two
// sides may name different ones: we first read the whole text, while the server looks at kind and
// apiVersion, and then at one thing after the other. Each sort of fault that we report must be one
// that the server would find. If all faults are of one sort, their places are compared, too.
func (c *comparer) compareFaults(doc []byte, err error) (what, detail string) {
	if c.yaml {
		js, err := yaml.YAMLToJSON(doc)
		if err != nil {
			c.notes["refused as YAML"]++
			return "", ""
		}
		doc = js
	}
	theirs := c.server.Faults(doc, c.stored)
	ours := ourFaults(err, c.schema)
	detail = fmt.Sprintf("they: %+v\nwe:   %+v\n      %v", theirs, ours, err)
	if len(theirs) == 0 || len(ours) == 0 {
		return "fault: none", detail
	}
	switch first := ours[0]; {
	case !c.exact && first.Sort == SyntaxFault && isUTF8(first.Text):
		c.notes["refused for its UTF-8, and for something else"]++
		return "", ""
	case first.Sort == RangeFault && theirs[0].Offset > first.Offset && theirs[0].Sort != RangeFault && isOutOfRange(doc[first.Offset:]):
		c.notes["refused for a number, and for the syntax after it"]++
		return "", ""
	}
	sorts := make(map[Sort]bool)
	for _, f := range theirs {
		sorts[f.Sort] = true
	}
	for _, f := range ours {
		if !sorts[f.Sort] {
			return fmt.Sprintf("fault: %q, and not for %q", f.Sort, theirs[0].Sort), detail
		}
	}
	if len(sorts) > 1 {
		c.notes["refused for several reasons"]++
		return "", ""
	}
	if !c.yaml && !samePlace(theirs, ours, doc) {
		return fmt.Sprintf("fault: place of %q", theirs[0].Sort), detail
	}
	return "", ""
}

// ourFaults describes an error in the terms of the server.
func ourFaults(err error, s *schema.Structural) []Fault {
	var syntax *ferrors.SyntaxError
	var limit *ferrors.LimitError
	var mismatch *ferrors.TypeError
	var object *ferrors.ObjectError
	switch {
	case errors.As(err, &syntax) && strings.HasSuffix(syntax.Msg, "is beyond the range of float64"):
		return []Fault{{Sort: RangeFault, Offset: int(syntax.Position.Offset)}}
	case errors.As(err, &syntax):
		return []Fault{{Sort: SyntaxFault, Offset: int(syntax.Position.Offset), Text: syntax.Msg}}
	case errors.As(err, &limit) && limit.Limit == ferrors.LimitDepth:
		return []Fault{{Sort: DepthFault, Offset: int(limit.Position.Offset)}}
	case errors.As(err, &mismatch):
		var list []Fault
		for i := range mismatch.Findings {
			f := &mismatch.Findings[i]
			list = append(list, faultAt(f.Path, s, f.Error()))
		}
		return list
	case errors.As(err, &object) && strings.Contains(object.Msg, "'Kind'"):
		return []Fault{{Sort: NoKindFault, Text: object.Msg}}
	case errors.As(err, &object) && strings.HasPrefix(object.Msg, "with defaults, "):
		return []Fault{{Sort: EmbeddedFault, Text: object.Msg}}
	case errors.As(err, &object):
		return []Fault{faultAt(object.Path, s, object.Msg)}
	}
	return nil
}

func faultAt(p ferrors.Path, s *schema.Structural, text string) Fault {
	steps := slices.Collect(p.Segments())
	path := spell(p, s)
	switch {
	case len(steps) == 0:
		return Fault{Sort: NoObjectFault, Text: text}
	case len(steps) == 1 && steps[0].Name == "metadata":
		return Fault{Sort: MetadataFault, Text: text}
	case path.group == 1:
		return Fault{Sort: MetadataFault, Field: steps[1].Name, Text: text}
	case len(steps) == 1 && strings.Contains(text, "GroupVersion"):
		return Fault{Sort: GroupVersionFault, Text: text}
	case len(steps) == 1:
		return Fault{Sort: TypeMetaFault, Field: steps[0].Name, Text: text}
	}
	return Fault{Sort: EmbeddedFault, Field: path.brackets, Text: text}
}

// samePlace compares the places of faults of one sort.
func samePlace(theirs, ours []Fault, doc []byte) bool {
	they := theirs[0]
	oneIs := func(is func(f Fault) bool) bool { return slices.ContainsFunc(ours, is) }
	switch they.Sort {
	case SyntaxFault, DepthFault:
		at := ours[0].Offset
		isEscape := at < len(doc) && doc[at] == '\\' // our place is its start, the server's is within it
		return at == they.Offset || isEscape && at < they.Offset && they.Offset < at+len(`\u0000`)
	case RangeFault:
		return ours[0].Offset <= they.Offset && string(doc[ours[0].Offset:they.Offset]) == they.Text
	case GroupVersionFault:
		return slices.ContainsFunc(theirs, func(f Fault) bool {
			return ours[0].Text == "unexpected GroupVersion string: "+fieldpath.Quoted(f.Field)
		})
	case TypeMetaFault:
		return !oneIs(func(f Fault) bool {
			return !slices.ContainsFunc(theirs, func(they Fault) bool { return strings.EqualFold(they.Field, f.Field) })
		})
	case MetadataFault:
		if isTime(they) {
			// The server's decoder stops there, although it finds others before.
			return oneIs(func(f Fault) bool { return f.Text == they.Text || f.Field != "" })
		}
		return oneIs(func(f Fault) bool { return f.Field == they.Field })
	case EmbeddedFault:
		return oneIs(func(f Fault) bool {
			rest, within := strings.CutPrefix(f.Field, they.Field)
			return within && (rest == "" || rest[0] == '.' || rest[0] == '[') ||
				isTime(they) || // we report a time if there is nothing else
				strings.HasPrefix(f.Text, "with defaults, ") // it has no place in the document
		})
	}
	return true
}

// isUTF8 reports whether a syntax error disappears if strings are repaired.
func isUTF8(msg string) bool {
	return strings.HasPrefix(msg, "invalid UTF-8") || strings.Contains(msg, "half of a surrogate pair")
}

var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?`)

// isOutOfRange reports whether a text starts with a number beyond float64.
func isOutOfRange(text []byte) bool {
	_, err := strconv.ParseFloat(string(number.Find(text)), 64)
	return errors.Is(err, strconv.ErrRange)
}

func isTime(f Fault) bool { return strings.HasPrefix(f.Text, "parsing time") }
