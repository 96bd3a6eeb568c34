package command

// This file counts the files in which documents were passed over, because they are no objects.

import "github.com/espalier-dev/espalier/cmd/espalier/internal/finding"

// A passedOver says which documents of one file were passed over.
type passedOver struct {
	objects, others bool
	template        *finding.Outcome // the first one, or nil
}

// add notes a document.
func (p *passedOver) add(v *finding.Outcome) {
	switch {
	case v.IsTemplate && p.template == nil:
		p.template = v
	case v.IsTemplate:
	case v.NoObject:
		p.others = true
	default:
		p.objects = true
	}
}

// end emits the outcome by which the file is counted, if it is. It has templates if some of its
// documents are, and no objects if there is nothing else in it, either.
func (p *passedOver) end(emit func(*finding.Outcome) bool) {
	switch {
	case p.template != nil:
		emit(&finding.Outcome{IsTemplate: true, Chart: p.template.Chart})
	case p.others && !p.objects:
		emit(&finding.Outcome{NoObject: true})
	}
}
