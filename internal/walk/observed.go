package walk

import (
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/findings"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/program"
)

// Observed is what a walk observes for the rules of the API server, which are applied
// to its result.
type Observed struct {
	KindAt, APIVersionAt int // where their values are in the text, or -1
	Metadata             []Metadata
	// OddType says that encoding/json may take an undeclared name of the root for kind
	// or apiVersion.
	OddType bool
}

// Metadata is the metadata of the object, or of an embedded resource.
type Metadata struct {
	At     int // where it starts in the result
	Source int // where it starts in the text
	Root   bool
	Node   *program.Node
}

func (o *Observed) start() {
	o.KindAt, o.APIVersionAt = -1, -1
	o.Metadata = o.Metadata[:0]
	o.OddType = false
}

// name observes an undeclared name of the root.
func (o *Observed) name(name []byte, escaped bool) {
	o.OddType = o.OddType || escaped || apiserver.FoldsToType(name)
}

// check looks at the value at i, whose node v takes some types only. parent is the node
// of the container. It returns the node that governs the value, or nil if its member is
// to be dropped.
func (w *Walker) check(
	b []byte, i int, v, parent *program.Node, kind uint8, cur names.Place,
) *program.Node {
	t := program.FirstTypes[b[i]]
	if v.Checks != nil && t != 0 {
		w.here(kind, cur)
		if w.Judge == nil {
			w.checkValue(b, i, v)
		} else if v.Hard()&t != 0 {
			w.enterPart(b, i, v)
		}
		if v.Checks.Hard == program.Any {
			return v
		}
	}
	switch {
	case t == 0: // a syntax error, which is found next
		return v
	case v.Hard() == 0: // an unknown field, or a null of one that the schema does not drop
		if w.Report {
			w.note(int(cur), kind, cur, findings.Unknown(parent.Group))
		}
		return nil
	case v.Hard()&t == 0:
		w.Doubt = true
		if !w.tolerates(v, parent) {
			w.note(i, kind, cur, findings.Mismatch(v.Hard(), t))
		} else if v.Group == program.Pruned {
			return nil
		}
		return Any
	case w.NoteType && kind == inObject && parent.Group == program.Pruned:
		w.observe(b, i, v, cur)
	}
	return v
}

// tolerates reports whether a value of a wrong type is no error: in an object from
// storage, that of a member of metadata, and apiVersion and kind of embedded resources.
func (w *Walker) tolerates(v, parent *program.Node) bool {
	isText := v.Group == program.Pruned && v.Hard() == program.String && w.sp > 1
	isWithin := v.Group != program.Pruned && parent.Group != program.Pruned
	return w.FromStorage && (isText || isWithin)
}

// observe notes metadata, apiVersion and kind.
func (w *Walker) observe(b []byte, i int, v *program.Node, cur names.Place) {
	w.here(inObject, cur)
	o := &w.Observed
	if v.Group != program.Pruned {
		if !w.AsServer {
			return
		}
		w.flush(b, i)
		m := Metadata{len(w.Out), i, v.Group == program.RootMetadata, v}
		if n := len(o.Metadata); n > 0 && o.Metadata[n-1].Source == i {
			o.Metadata = o.Metadata[:n-1] // the walk was cut here
		}
		o.Metadata = append(memory.RoomForOne(w.account, o.Metadata), m)
		return
	}
	if v.Hard() != program.String || w.sp > 1 {
		return
	}
	if name, _ := w.frameSegment(0); string(name) == "kind" {
		o.KindAt = i
	} else {
		o.APIVersionAt = i
	}
}

// defers reports whether defaults of objects of the node are inserted later, or not at
// all. Then nulls that these would replace stay.
func (w *Walker) defers(n *program.Node) bool {
	return w.WithoutDefaults || w.AsServer && n.Group != program.Pruned
}
