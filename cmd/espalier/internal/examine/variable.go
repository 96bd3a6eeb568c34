package examine

// This file tells which rules in CEL read values that are not there yet, such as ${NAME}.

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/origin"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// readsOpen reports whether a value is refused by a rule that reads one that is not there yet.
func (e *Examiner) readsOpen(o *Object, f *errors.Finding) bool {
	entry, ok := e.Entry(o.APIVersion, o.Kind)
	if f.Kind != errors.InvalidValue || !ok {
		return false
	}
	expression, to := origin.Expression(entry.Version.Schema, f.Path, f.Invalid)
	if expression == "" {
		return false
	}
	steps := make([]string, len(to))
	for i, s := range to {
		if steps[i] = s.Name; !s.IsName {
			steps[i] = strconv.Itoa(s.Index)
		}
	}
	at, depth := locate.Offset(o.Doc.JSON, steps)
	if depth < len(steps) {
		return false
	}
	value := valueAt(o.Doc.JSON[at:])
	if !variable.Match(value) {
		return false
	}
	fields, ok := fieldsRead(expression)
	var members map[string]jsonv2.Value
	if !ok || jsonv2.Unmarshal(value, &members, jsonv2.AllowDuplicateNames(true)) != nil {
		return true
	}
	for _, name := range fields {
		if variable.Match(members[name]) {
			return true
		}
	}
	return false
}

// self matches where an expression reads the value that it is about, with the name of a field or of
// a function after it.
var self = regexp.MustCompile(`\bself\b(?:\s*\.\s*(\w+)\s*(\(?))?`)

// fieldsRead returns the fields of self that an expression reads. It is not ok if it may read others,
// too: if it takes self as a whole, or spells a name as CEL has to spell some (a__dash__b).
func fieldsRead(expression string) (names []string, ok bool) {
	for _, m := range self.FindAllStringSubmatch(expression, -1) {
		if m[1] == "" || m[2] != "" || strings.Contains(m[1], "__") {
			return nil, false
		}
		names = append(names, m[1])
	}
	return names, true
}
