package schema

import (
	stderrors "errors"
	"slices"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
)

// A Step is a place on the way to a value, with what a program does there: see
// [Entry.Trace].
type Step struct {
	Kind StepKind
	// Schema specifies the values at this place. It is nil where nothing
	// does. Within metadata it says only what becomes of nulls and what is
	// the default.
	Schema *Structural
	// Keywords lead from the Schema of the step before to this one, such as
	// "properties" and "spec". There are none without a Schema.
	Keywords []string
	// Null says what happens to a null.
	Null NullAction
	// Default is the default of the Schema, as compact JSON, pruned and
	// defaulted itself. It is empty if there is none. It takes the place of a
	// null if Null says so, and a field under properties gets it if it is
	// absent from an object that is there.
	Default string
}

// A StepKind says by which rule a value is kept or pruned.
type StepKind uint8

const (
	StepRoot     StepKind = iota // the object itself
	StepProperty                 // specified under properties
	StepValue                    // specified by additionalProperties
	StepElement                  // specified by items
	// StepImplicit is apiVersion, kind or metadata of a resource, or a field
	// within metadata that ObjectMeta has.
	StepImplicit
	// StepPreserved is a value that no schema specifies, within an object
	// that preserves unknown fields.
	StepPreserved
	// StepUnspecified is an element of an array for which there is no schema.
	// It is kept, and the members within it are pruned.
	StepUnspecified
	// StepPruned is a member that is not specified. It is removed, with
	// everything in it.
	StepPruned
)

var stepKinds = [...]string{"root", "property", "value", "element", "implicit", "preserved", "unspecified", "pruned"}

// String returns the kind in a word, such as "property".
func (k StepKind) String() string {
	if int(k) < len(stepKinds) {
		return stepKinds[k]
	}
	return "StepKind(" + strconv.Itoa(int(k)) + ")"
}

// A NullAction says what happens to a null.
type NullAction uint8

const (
	NullKept      = NullAction(program.KeepNull)
	NullDropped   = NullAction(program.DropNull)    // the member is removed
	NullDefaulted = NullAction(program.DefaultNull) // the default takes its place
)

// Trace follows a path through the entry's program and its schema at the same
// time. It returns a step for the root and for each segment of the path, up to
// the first that is pruned. So it says why a decoder of [Entry.Program] keeps,
// prunes or defaults a value: kinds, nulls and defaults are those of the
// program, and schemas show which part of the definition decides.
//
// Trace fails where Program does, and for a path in which segments were left
// out.
func (e Entry) Trace(path errors.Path) ([]Step, error) {
	p, err := e.Program()
	if err != nil {
		return nil, err
	}
	t := tracer{node: p.table.Root, schema: e.Version.compiled()}
	if o, _ := optionsOf(e.opts); o.resource { // NewCatalog has judged them
		t.role = root
	}
	steps := []Step{{Schema: t.schema}}
	for s := range path.Segments() {
		if s.Gap > 0 {
			return nil, stderrors.New("schema: a path without all of its segments cannot be followed")
		}
		var step Step
		if s.IsName {
			step = t.member(s.Name)
		} else {
			step = t.element()
		}
		steps = append(steps, step)
		if step.Kind == StepPruned {
			break
		}
	}
	return steps, nil
}

// A tracer is at a place in a program, and at that place in the schema from
// which the program was compiled. The node decides; the schema only follows.
type tracer struct {
	node   *program.Node
	schema *Structural // the empty one where nothing is specified
	role   role
	// within is the kind of all places below, in metadata and in what is
	// preserved, and else StepRoot.
	within StepKind
}

// member goes to the members with a name.
func (t *tracer) member(name string) Step {
	edge, isField := t.node.Unknown, false
	if f := t.node.Find([]byte(name)); f != nil {
		edge, isField = &f.Edge, true
	}
	switch {
	case edge == nil && t.node.DropsNulls:
		return Step{Kind: StepPruned, Null: NullDropped}
	case edge == nil:
		return Step{Kind: StepPruned}
	case edge.Node.Hard() == 0: // declared for what becomes of a null only
		return Step{Kind: StepPruned, Null: NullAction(edge.Null)}
	}
	kind, below, keywords := StepPreserved, t.schema.member(name), []string{"additionalProperties"}
	switch {
	case t.schema.Properties[name] != nil:
		kind, keywords = StepProperty, []string{"properties", name}
	case t.schema.AdditionalProperties != nil:
		kind = StepValue
	}
	switch {
	case t.within != StepRoot:
		kind = t.within
	case isField && t.role != plain && slices.Contains(reserved, name):
		kind, below, keywords = StepImplicit, t.role.declared(t.schema, name), []string{"properties", name}
	}
	return t.enter(edge, kind, below, keywords)
}

// element goes to the elements of an array.
func (t *tracer) element() Step {
	edge, kind, items := &t.node.Elements, StepUnspecified, t.schema.element()
	switch {
	case t.within != StepRoot:
		kind = t.within
	case items != nil:
		kind = StepElement
	case edge.Node.KeepObject:
		kind = StepPreserved
	}
	return t.enter(edge, kind, items, []string{"items"})
}

// enter goes over an edge to values of the schema s, which may be nil.
func (t *tracer) enter(edge *program.Edge, kind StepKind, s *Structural, keywords []string) Step {
	step := Step{Kind: kind, Schema: s, Null: NullAction(edge.Null), Default: edge.Default}
	if kind == StepImplicit || kind == StepPreserved {
		t.within = kind
	}
	if t.node, t.schema = edge.Node, s; s == nil {
		t.schema = new(Structural)
	} else {
		step.Keywords = keywords
	}
	t.role = roleOf(t.schema)
	return step
}
