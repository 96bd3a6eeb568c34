package rewrite

import (
	"fmt"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/edit"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/errors"
)

// NewPruner returns a rewriter that removes members that are pruned, or that lose to a duplicate.
func NewPruner(s *examine.Settings) *Rewriter {
	return &Rewriter{
		examiner: examine.New(s), reader: examine.New(s), begin: func() changes { return new(removals) },
		spoiled: "without its unknown and duplicate fields the document would mean something else; the file is left as it is: remove them by hand",
	}
}

// removals are the members to be removed from a document, as offsets of their names in its JSON.
type removals []int

func (m *removals) count() int { return len(*m) }

func (m *removals) edits(text []byte, isYAML bool) (edits []edit.Edit, kept []int, err error) {
	if isYAML {
		return edit.YAML(text, *m)
	}
	edits, err = edit.JSON(text, *m)
	return edits, nil, err
}

func (m *removals) add(e *examine.Examiner, o *examine.Object) (result []byte, err error) {
	switch {
	case o.IsList && o.Decoder != nil && !o.IsFatal():
		err = m.list(o)
		result, _ = e.WithoutItems(o)
	case o.Result != nil:
		err = m.object(o)
		result = o.Result
	}
	return result, err
}

// object collects the removals in an object.
func (m *removals) object(o *examine.Object) error {
	m.unknown(o.Doc, o.Decoder.Findings())
	if err := m.repeated(o.Doc, func(int) bool { return true }); err != nil {
		return err
	}
	if o.Decoder.Omitted() > 0 {
		return fmt.Errorf("more than %d unknown and duplicate fields in one object; the document is left as it is: remove some of them by hand", len(o.Decoder.Findings()))
	}
	return nil
}

// list collects the removals in a List, without those in its items.
func (m *removals) list(o *examine.Object) error {
	m.unknown(o.Doc, o.Decoder.Findings())
	from, to := 0, 0
	if n := len(o.Items); n > 0 {
		from, to = o.Items[0].Base, o.Items[n-1].Base+len(o.Items[n-1].JSON)
	}
	return m.repeated(o.Doc, func(at int) bool { return at < from || to <= at })
}

func (m *removals) unknown(doc input.Document, found errors.List) {
	for i := range found {
		if found[i].Kind == errors.UnknownField {
			*m = append(*m, doc.Base+int(found[i].Position.Offset))
		}
	}
}

// repeated collects the members whose names occur again later, because the last one wins.
func (m *removals) repeated(doc input.Document, counts func(at int) bool) error {
	names, err := edit.Repeated(doc.JSON)
	for _, at := range names {
		if counts(doc.Base + at) {
			*m = append(*m, doc.Base+at)
		}
	}
	return err
}
