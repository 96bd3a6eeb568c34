package spec

import (
	stderrors "errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
)

// An Outcome is what is specified for a document: what [Rules.Decode] returns.
type Outcome struct {
	Result Value
	Found  errors.List
	OK     bool
}

// Outcome returns what is specified for a document.
func (r Rules) Outcome(document Value) *Outcome {
	result, found, ok := r.Decode(document)
	return &Outcome{result, found, ok}
}

// DifferenceInFindings is Difference for all but the result.
func (o *Outcome) DifferenceInFindings(found errors.List, err error) string {
	list := o.Found
	var refused *errors.TypeError
	switch {
	case err == nil && !o.OK:
		return "specified: refused for " + texts(list)
	case stderrors.As(err, &refused):
		found = refused.Findings
		list = slices.DeleteFunc(slices.Clone(list), func(f errors.Finding) bool {
			return f.Kind != errors.TypeMismatch
		})
	case err != nil:
		return "unspecified: " + err.Error()
	}
	isSame := func(a, b errors.Finding) bool { return a.Kind == b.Kind && a.Path == b.Path }
	if !slices.EqualFunc(list, found, isSame) {
		return fmt.Sprintf("specified: %s\ngot:       %s", texts(list), texts(found))
	}
	return ""
}

// Append appends a text that only equal outcomes have.
func (o *Outcome) Append(b []byte) []byte {
	b = append(appendText(b, o.Result), strconv.FormatBool(o.OK)...)
	for i := range o.Found {
		b = append(b, ' ', byte(o.Found[i].Kind))
		b = append(b, o.Found[i].Path.Pointer()...)
	}
	return b
}
