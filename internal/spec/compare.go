package spec

import (
	"bytes"
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
	return r.Outcome(v).Difference(result, found, err)
}

// Difference is [Rules.Difference] for the document of the outcome.
func (o *Outcome) Difference(result []byte, found errors.List, err error) string {
	difference := o.DifferenceInFindings(found, err)
	if err == nil && !o.OK {
		return difference + "\ngot:       " + string(result)
	}
	if difference != "" || err != nil {
		return difference
	}
	if rest, ok := cut(result, o.Result); ok && len(rest) == 0 {
		return ""
	}
	got, err := Parse(result)
	if err != nil {
		return "the result: " + err.Error()
	}
	if specified, got := inOrder(o.Result), inOrder(got); !bytes.Equal(specified, got) {
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
