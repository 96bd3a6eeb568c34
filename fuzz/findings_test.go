package fuzz

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// maxStrict is how many errors sigs.k8s.io/json reports.
const maxStrict = 100

// groupNames are the groups in which the server reports findings, in its order.
var groupNames = [...]string{"duplicate fields", "unknown fields in root metadata", "unknown fields", "unknown fields in embedded metadata"}

// compareFindings compares the unknown and duplicate fields, and their order.
func (c *comparer) compareFindings(a *Answer) (what, detail string) {
	theirs := [...][]string{a.Duplicates, a.UnknownInMetadata, a.Unknown, a.UnknownInEmbedded}
	if c.schema.XEmbeddedResource {
		// Coercion takes the root for an embedded resource as well, and finds the unknown fields of
		// its metadata twice.
		theirs[3] = slices.DeleteFunc(slices.Clone(theirs[3]), func(path string) bool {
			return slices.Contains(a.UnknownInMetadata, path)
		})
	}
	ours, fault := c.findings()
	if fault != "" {
		return "text of a finding", fault
	}
	if c.yaml {
		if what, detail := c.compareYAMLDuplicates(a, ours[0]); what != "" {
			return what, detail
		}
		ours[0] = nil
	}
	for i, name := range groupNames {
		want, got := theirs[i], ours[i]
		if i < 2 && len(want) == maxStrict && len(got) > maxStrict {
			c.notes[name+" beyond the server's 100"]++
			got = got[:maxStrict]
		}
		if slices.Equal(want, got) {
			continue
		}
		if c.yaml && slices.EqualFunc(want, got, isElided) {
			c.notes["paths with a long name, which damage has made"]++
			continue
		}
		detail := fmt.Sprintf("they: %q\nwe:   %q", want, got)
		if slices.Equal(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))) {
			return name + " in another order", detail
		}
		return name, detail
	}
	return "", ""
}

// isElided reports whether two paths are equal but for a part of the first that the second leaves
// out.
func isElided(whole, path string) bool {
	start, end, isElided := strings.Cut(path, "...")
	return whole == path ||
		isElided && strings.HasPrefix(whole, start) && strings.HasSuffix(whole, end)
}

// compareYAMLDuplicates compares the messages about repeated names in a YAML body. The server's
// messages have their lines.
func (c *comparer) compareYAMLDuplicates(a *Answer, ours []string) (what, detail string) {
	lines := c.decoder.YAMLDuplicates()
	text := ""
	if len(lines) > 0 {
		text = "yaml: unmarshal errors:\n  " + strings.Join(lines, "\n  ")
	}
	if c.exact && a.YAML != text || (a.YAML != "") != (len(ours) > 0) {
		return "duplicate fields in YAML", fmt.Sprintf("they: %s\nwe:   %s %q", a.YAML, text, ours)
	}
	return "", ""
}

// findings returns the paths of the findings in the server's spelling, by groups. It reports a
// finding that is in the wrong group, and one whose text differs from the server's although its
// names need no escapes.
func (c *comparer) findings() (groups [len(groupNames)][]string, fault string) {
	type mention struct {
		group          int
		resource, path string
	}
	mentioned := make(map[mention]bool)
	last := 0
	for i := range c.found {
		f := &c.found[i]
		s := c.schema
		if f.Kind == ferrors.DuplicateField {
			s = nil
		}
		spelled := spell(f.Path, s)
		path, group := spelled.String(), spelled.group
		want := f.Kind.String() + ` "` + path + `"`
		if f.Kind == ferrors.DuplicateField {
			group = 0
			want = f.Kind.String() + " " + strconv.Quote(path)
		} else if !c.exact || c.rules != nil {
			want = f.Kind.String() + ` "` + spelled.dots + `"`
		}
		if isPlain(f.Path) && f.Error() != want {
			return groups, fmt.Sprintf("they: %s\nwe:   %s", want, f.Error())
		}
		if group < last {
			return groups, fmt.Sprintf("%s after %s", f.Error(), groupNames[last])
		}
		last = group
		// sigs.k8s.io/json reports a path once in each text that it decodes: the document, or one
		// metadata. To it, paths of one spelling are the same.
		m := mention{group, spelled.resource, path}
		if group != 2 && mentioned[m] {
			c.notes["paths that the server cannot tell apart"]++
			continue
		}
		mentioned[m] = true
		groups[group] = append(groups[group], path)
	}
	return groups, ""
}

// isPlain reports whether Path.String has no reason to quote a name.
func isPlain(p ferrors.Path) bool {
	for step := range p.Segments() {
		if step.IsName && (ferrors.Path{}).Child(step.Name).String() != step.Name {
			return false
		}
	}
	return true
}

// A spelling is one of the two forms in which the server writes a path, depending on the group.
type spelling struct {
	// dots has names after dots. brackets has the keys of maps in brackets, up to an embedded
	// resource.
	dots, brackets string
	// group is 1 for root metadata, 3 for embedded metadata, and 2 for the rest.
	group int
	// resource is the embedded resource, in brackets.
	resource string
}

func (s spelling) String() string {
	if s.group == 3 {
		return s.brackets
	}
	return s.dots
}

// spell returns the server's spelling of a path, under the schema, or without a schema for
// duplicate fields.
func spell(p ferrors.Path, s *schema.Structural) spelling {
	var dots, brackets strings.Builder
	spelled := spelling{group: 2}
	depth := 0
	for step := range p.Segments() {
		depth++
		if !step.IsName {
			fmt.Fprintf(&dots, "[%d]", step.Index)
			fmt.Fprintf(&brackets, "[%d]", step.Index)
			if s != nil && s.Items != nil {
				s = s.Items.Schema
			} else {
				s = nil
			}
			continue
		}
		if depth > 1 {
			dots.WriteByte('.')
		}
		dots.WriteString(step.Name)
		var next *schema.Structural
		isMap := false
		if s != nil {
			next = s.Properties[step.Name]
			if next == nil && s.AdditionalProperties != nil {
				next, isMap = s.AdditionalProperties.Schema, true
			}
		}
		isMetadata := step.Name == "metadata" && spelled.group == 2
		switch {
		case spelled.group == 3:
			brackets.WriteString("." + step.Name)
		case depth == 1 && isMetadata:
			spelled.group = 1
		case isMetadata && s != nil && s.XEmbeddedResource:
			spelled.group = 3
			spelled.resource = brackets.String()
			brackets.WriteString(".metadata")
		case isMap, step.Name == "":
			brackets.WriteString("[" + step.Name + "]")
		case depth > 1:
			brackets.WriteString("." + step.Name)
		default:
			brackets.WriteString(step.Name)
		}
		s = next
	}
	if spelled.group == 1 && depth == 1 {
		spelled.group = 2
	}
	spelled.dots, spelled.brackets = dots.String(), brackets.String()
	return spelled
}
