package spec

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/errors"
)

// Difference says where the outcome of a decoder is not as specified, or "" if it is: its result
// for the document, its findings without limits, and its error. The document must be JSON in UTF-8
// and within the limits. The order of members in the result is not compared, but the text of
// numbers is.
func (r Rules) Difference(document, result []byte, found errors.List, err error) string {
	v, unread := Parse(document)
	if unread != nil {
		return "the document: " + unread.Error()
	}
	want, list, ok := r.Decode(v)
	var refused *errors.TypeError
	switch {
	case stderrors.As(err, &refused):
		found = refused.Findings
		list = slices.DeleteFunc(list, func(f errors.Finding) bool {
			return f.Kind != errors.TypeMismatch
		})
	case err != nil:
		return "unspecified: " + err.Error()
	case !ok:
		return fmt.Sprintf("specified: refused for %s\ngot:       %s", texts(list), result)
	}
	if specified, got := texts(list), texts(found); specified != got {
		return fmt.Sprintf("specified: %s\ngot:       %s", specified, got)
	}
	if refused != nil {
		return ""
	}
	got, err := Parse(result)
	if err != nil {
		return "the result: " + err.Error()
	}
	if specified, got := inOrder(want), inOrder(got); !bytes.Equal(specified, got) {
		return fmt.Sprintf("specified: %s\ngot:       %s", specified, got)
	}
	return ""
}

// texts returns the kinds and paths of findings.
func texts(found errors.List) string {
	all := make([]string, len(found))
	for i := range found {
		all[i] = fmt.Sprint(found[i].Kind, " ", found[i].Path.Pointer())
	}
	return strings.Join(all, ", ")
}

// inOrder returns a value as JSON with the members of all objects by name.
func inOrder(v Value) []byte {
	var parts [][]byte
	switch v := v.(type) {
	case Object:
		v = slices.Clone(v)
		slices.SortStableFunc(v, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
		for _, m := range v {
			parts = append(parts, slices.Concat(Text(m.Name), []byte(":"), inOrder(m.Value)))
		}
		return slices.Concat([]byte("{"), bytes.Join(parts, []byte(",")), []byte("}"))
	case Array:
		for _, e := range v {
			parts = append(parts, inOrder(e))
		}
		return slices.Concat([]byte("["), bytes.Join(parts, []byte(",")), []byte("]"))
	}
	return Text(v)
}
