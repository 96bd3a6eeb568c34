package judge

import (
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/yamlwriter"
	"github.com/espalier-dev/espalier/schema"
)

// A Change is a difference between an object and its result.
type Change struct {
	// Finding is where the object has the value or, if the value comes, the object that it comes into.
	// Its message says what becomes of the value: "spec.a is pruned".
	Finding
	Comes bool   `json:"comes"` // a default, and else something goes
	Why   string `json:"why"`
	Basis string `json:"basis"` // the rule, with the place where it is written down
	// SchemaLine is the line of the definition that decides, or the nearest around it; 0 if none does.
	SchemaLine int `json:"schemaLine"`

	isNull bool // what goes
}

// The rules, as the command's explain has them.
const (
	byPruning   = "unknown fields are pruned (KEP-2332)"
	byImplicit  = "metadata has the fields of ObjectMeta (KEP-2332, proposal 4)"
	byDefault   = "a default is inserted if its field is absent from an object that is there (KEP-575)"
	byNull      = "a null is dropped if its field is not nullable and has no default"
	byNullValue = "a null is replaced by the default if its field is not nullable"
	byLast      = "of a name that occurs twice, the last value counts (KEP-2885)"
)

// maxDepth is the depth of the deepest change that is explained.
const maxDepth = 100

// compare adds the result to an answer, and how it differs from the object.
func (d *definition) compare(r *Request, entry schema.Entry, o *document, result []byte, a *Answer) {
	before, after := o.root(), parse(result)
	a.Result = written(result, after, r.YAML)
	if r.Difference {
		a.Before = written(before.appendJSON(nil), before, r.YAML)
	}
	c := comparison{definition: d, entry: entry, object: o, answer: a, advice: make(map[errors.Path]string)}
	c.values(before, after, 0)
	places := make([]*Finding, len(a.Changes))
	for i := range a.Changes {
		places[i] = &a.Changes[i].Finding
	}
	place(places, r.Object)
	slices.SortStableFunc(a.Changes, func(x, y Change) int { return x.offset - y.offset })
}

// maxIndented is the depth of the deepest JSON that is indented. The indentation of deeper values would be longer
// than the document. Package yamlwriter has such a depth, too.
const maxIndented = 64

// written returns the JSON of a value as the page shows it, or nothing if it cannot be written.
func written(js []byte, value *node, asYAML bool) string {
	text, err := js, error(nil)
	switch {
	case asYAML:
		text, err = yamlwriter.Document(js)
	case value.depth() <= maxIndented:
		text, err = jsonv2.AppendFormat(nil, js, jsonv2.Multiline(true), jsonv2.WithIndent("  "))
		text = append(text, '\n')
	}
	if err != nil {
		return ""
	}
	return string(text)
}

// A comparison goes through an object and its result at the same time.
type comparison struct {
	*definition
	entry  schema.Entry
	object *document
	answer *Answer
	path   []errors.Segment
	advice map[errors.Path]string
}

// values compares a value that is in both. at is where it is in the object.
func (c *comparison) values(before, after *node, at int) {
	switch {
	case before.kind == 'n' && after.kind != 'n':
		c.add(at, Change{
			Comes: true, Finding: Finding{Message: "was null, and becomes " + brief(after)},
			Why: "the schema has a default for it, and does not say nullable", Basis: byNullValue,
		})
	case before.kind != after.kind:
	case before.kind == '{':
		c.members(before, after, at)
	case before.kind == '[':
		for i := range min(len(before.members), len(after.members)) {
			c.path = append(c.path, errors.Segment{Index: i})
			c.values(before.members[i].value, after.members[i].value, before.members[i].at)
			c.path = c.path[:len(c.path)-1]
		}
	}
}

// members compares the members of an object that is in both.
func (c *comparison) members(before, after *node, at int) {
	result := make(map[string]*node, len(after.members))
	for i := range after.members {
		result[after.members[i].name] = after.members[i].value
	}
	was := make(map[string]bool, len(before.members))
	for i := range before.members {
		m := &before.members[i]
		was[m.name] = true
		c.path = append(c.path, errors.Segment{Name: m.name, IsName: true})
		switch value := result[m.name]; {
		case m.replaced:
			c.add(m.at, Change{Finding: Finding{Message: "is replaced"}, Why: "its name occurs again", Basis: byLast})
		case value == nil:
			c.add(m.at, Change{isNull: m.value.kind == 'n'})
		default:
			c.values(m.value, value, m.at)
		}
		c.path = c.path[:len(c.path)-1]
	}
	for i := range after.members {
		m := &after.members[i]
		if was[m.name] {
			continue
		}
		c.path = append(c.path, errors.Segment{Name: m.name, IsName: true})
		c.add(at, Change{
			Comes: true, Finding: Finding{Message: "was absent, and becomes " + brief(m.value)},
			Why: "the schema has a default for it", Basis: byDefault,
		})
		c.path = c.path[:len(c.path)-1]
	}
}

// removed says why a member is not in the result.
func (c *comparison) removed(path errors.Path, trace []schema.Step, isNull bool) Change {
	pruned := Change{Finding: Finding{Message: "is pruned"}, Why: "the schema specifies nothing at this place", Basis: byPruning}
	if len(trace) < 2 {
		return pruned
	}
	at, above := trace[len(trace)-1], trace[len(trace)-2]
	isImplicit := above.Kind == schema.StepImplicit
	dropped := Change{Finding: Finding{Message: "is dropped"}, Basis: byNull}
	switch {
	case isNull && (at.Kind == schema.StepImplicit || at.Kind == schema.StepPruned && at.Null == schema.NullDropped):
		dropped.Why = "it is null, and metadata has no nulls"
		return dropped
	case isNull && at.Kind != schema.StepPruned:
		dropped.Why = "it is null, and the schema neither says nullable nor has a default"
		return dropped
	case isImplicit:
		pruned.Why, pruned.Basis = "metadata has no such field", byImplicit
	case above.Schema != nil:
		pruned.Why = "the schema does not declare it"
	default:
		return pruned
	}
	if program, err := c.entry.Program(); err == nil {
		pruned.Why += advised(program, path, c.advice)
	}
	return pruned
}

// add adds a change of the value at the path. at is its place in the object. Without a message, the value is not
// in the result.
func (c *comparison) add(at int, change Change) {
	if len(c.answer.Changes) >= maxChanges {
		c.answer.More++
		return
	}
	name, path, trace := "a deep field", errors.Path{}, []schema.Step(nil)
	if len(c.path) <= maxDepth {
		path = c.fieldPath()
		name = path.String()
		trace, _ = c.entry.Trace(path) // it fails where the program does, which has decoded the object
	}
	if change.Message == "" {
		change = c.removed(path, trace, change.isNull)
	}
	change.set(c.object.at(at))
	change.SchemaLine = c.line(trace)
	change.Message = name + " " + change.Message
	c.answer.Changes = append(c.answer.Changes, change)
}

// fieldPath returns the path that the comparison has come to.
func (c *comparison) fieldPath() (path errors.Path) {
	for _, s := range c.path {
		if s.IsName {
			path = path.Child(s.Name)
		} else {
			path = path.Element(s.Index)
		}
	}
	return path
}

// line returns the line of the definition to which a trace leads, or 0.
func (c *comparison) line(trace []schema.Step) int {
	doc := c.document(c.entry.CRD)
	if doc == nil || trace == nil {
		return 0
	}
	n, at := doc.root(), 0
	enter := func(names ...string) bool {
		for _, name := range names {
			m := n.named(name)
			if m == nil {
				return false
			}
			n, at = m.value, m.at
		}
		return true
	}
	if !c.isSchema && !enter("spec", "versions", strconv.Itoa(c.version()), "schema", "openAPIV3Schema") {
		return 0
	}
	for _, step := range trace {
		if !enter(step.Keywords...) {
			break
		}
	}
	return doc.at(at).Line
}

// version returns the index of the version that the object has.
func (c *comparison) version() int {
	return slices.IndexFunc(c.entry.CRD.Versions, func(v schema.Version) bool { return v.Name == c.entry.Version.Name })
}

// maxBrief is the length of the longest value that a message shows, in bytes.
const maxBrief = 60

// brief returns a value for a message.
func brief(n *node) string {
	text := n.appendJSON(nil)
	if len(text) <= maxBrief {
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:maxBrief]), "") + "..."
}
