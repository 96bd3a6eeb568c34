package program

import (
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// A Verdict says what a look at a value without errors knows of it.
type Verdict uint8

const (
	Valid Verdict = iota
	Unsure
	Invalid // surely
)

// Rules say which values of a node are surely valid. Package screen applies them. They are compiled
// on request only.
type Rules struct {
	Types  Types // that a value may have
	Unsure bool  // there are rules that are not among these
	Enum   bool  // Text and Literal know all values; containers and null are unsure

	Text    Checker // of strings, or nil
	Only    string  // the only text that Text allows, if it is not empty
	Literal Checker // of numbers, true and false as they are written, or nil

	// Of objects.
	Embedded bool     // they are embedded resources
	Required []string // names of members that must be there
	Keys     []string // of members that tell the elements of a list apart
	Skip     string   // the name of a member that is not looked at in objects that are created
	Members  Bounds   // of the number of members
	Size     int      // the most bytes that an object may have, or 0
	Closed   bool     // undeclared members are refused
	Names    Checker  // of the names of members, or nil

	// Of arrays.
	Items Bounds
	List  ListType

	Junctors []Junctor
}

// A Checker checks a text. It is a pointer, and equal ones are the same.
type Checker interface{ Check(text []byte) Verdict }

// Bounds are those of a count.
type Bounds struct{ Least, Most int }

// Unbounded are bounds that every count is within.
var Unbounded = Bounds{0, int(^uint(0) >> 1)}

// Allow reports whether n is within the bounds.
func (b Bounds) Allow(n int) bool { return b.Least <= n && n <= b.Most }

// A ListType says which elements of an array must differ.
type ListType uint8

const (
	Atomic ListType = iota // none
	Set                    // all
	Keyed                  // those with the same keys: x-kubernetes-list-type: map
)

// A Junctor is allOf, anyOf, oneOf or not.
type Junctor struct {
	Kind         JunctorKind
	Alternatives []Alternative
}

// A JunctorKind is a keyword.
type JunctorKind uint8

const (
	AllOf JunctorKind = iota
	AnyOf
	OneOf
	Not
)

// Combine returns what follows from how many alternatives fit, are doubtful, and do not fit.
func (k JunctorKind) Combine(fit, doubtful, misfit int) Verdict {
	var holds, fails bool
	switch k {
	case AllOf:
		holds, fails = doubtful+misfit == 0, misfit > 0
	case AnyOf:
		holds, fails = fit > 0, fit+doubtful == 0
	case OneOf:
		holds, fails = fit == 1 && doubtful == 0, fit > 1 || fit+doubtful == 0
	case Not:
		holds, fails = misfit == 1, fit == 1
	}
	switch {
	case holds:
		return Valid
	case fails:
		return Invalid
	}
	return Unsure
}

// An Alternative is a schema below a junctor: it only requires members, or it is a node.
type Alternative struct {
	Required []string
	Node     *Node // or nil
}

// Checks are the rules of a node with what depends on its fields. What the walk needs for a scalar
// comes first, to be in one line of the cache.
type Checks struct {
	Only    string  // the only string that is allowed, as it is commonly written, or empty
	Text    Checker // of Rules
	Literal Checker // of Rules
	Names   Checker // of the names of members with values of the node, or nil
	Key     int     // values tell the elements of a list apart, by the key of this number, or by SetKey
	Hard    Types   // what Node.Types would be without validations
	Types   Types   // of Rules
	More    bool    // there are more rules for scalars than those of Text and Literal
	Scalar  bool    // there are rules for scalars besides their types
	Open    bool    // there are no rules for what is in an object or an array
	Whole   bool    // an object or array is not judged without what is in it
	Object  bool    // there are rules for the end of an object
	Array   bool    // there are rules for the end of an array
	Counted bool    // these only say how many elements it may have

	// Bits of fields.
	Required, Keys, Skip uint64
	// Doubtful has the fields whose defaults are not surely valid.
	Doubtful uint64
	// Undeclared are required members without a bit.
	Undeclared []string
	// Alternatives has the bits of the fields that each alternative of each junctor requires.
	Alternatives [][]uint64
	Rules        *Rules
}

// bind makes the checks of a node, whose fields have their bits.
func (c *Checks) bind(n *Node) {
	r := c.Rules
	unsure := r.Unsure
	bits := func(names []string) (set uint64) {
		for _, name := range names {
			f := n.Find([]byte(name))
			if f == nil || f.Bit == 0 {
				unsure = true // there is no bit for it
				continue
			}
			set |= f.Bit
		}
		return set
	}
	c.Types = r.Types
	for _, name := range r.Required {
		if f := n.Find([]byte(name)); f == nil || f.Bit == 0 {
			c.Undeclared = append(c.Undeclared, name)
		} else {
			c.Required |= f.Bit
		}
	}
	c.Keys = bits(r.Keys)
	if r.Skip != "" {
		c.Skip = bits([]string{r.Skip})
	}
	for _, j := range r.Junctors {
		var masks []uint64
		for _, a := range j.Alternatives {
			masks = append(masks, bits(a.Required))
		}
		c.Alternatives = append(c.Alternatives, masks)
	}
	if unsure && !r.Unsure {
		own := *r
		own.Unsure = true
		c.Rules, r = &own, &own
	}
	every := r.Unsure || r.Enum || len(r.Junctors) > 0
	c.Text, c.Literal = r.Text, r.Literal
	if r.Only != "" {
		c.Only = string(jsonwire.AppendQuoted(nil, r.Only))
	}
	c.More = r.Unsure || len(r.Junctors) > 0
	c.Scalar = every || r.Text != nil || r.Literal != nil
	c.Object = every || c.Required != 0 || c.Undeclared != nil || r.Members != Unbounded || r.Size > 0
	c.Array = every || r.Items != Unbounded || r.List != Atomic
	c.Counted = c.Array && !every && r.List == Atomic
	c.Open = !c.Object && !c.Array && len(n.Fields) == 0 && !r.Closed && r.Names == nil &&
		(n.Unknown == nil || n.Unknown.Node.Checks == nil) && n.Elements.Node.Checks == nil
	c.Whole = every && !requiresOnly(r) || len(r.Junctors) > 0 && r.Types&Array != 0 ||
		c.Undeclared != nil || r.Members != Unbounded || r.Size > 0 || r.Closed ||
		r.Embedded || r.List != Atomic || n.Group != Pruned ||
		slices.ContainsFunc(n.Fields, func(f Field) bool { return f.Implicit })
	c.prepare(n)
}

// requiresOnly reports whether there are no rules but those for members that must be there.
func requiresOnly(r *Rules) bool {
	return !r.Unsure && !r.Enum && !slices.ContainsFunc(r.Junctors, hasNodes)
}

// hasNodes reports whether an alternative says more than which members are required.
func hasNodes(j Junctor) bool {
	return slices.ContainsFunc(j.Alternatives, func(a Alternative) bool { return a.Node != nil })
}

// prepare makes a node tell the walker where to look at its rules.
func (c *Checks) prepare(n *Node) {
	c.Hard = n.Types
	n.Types = c.Hard & c.Types
	if c.Scalar || c.Key > 0 || c.Names != nil || c.Whole {
		n.Types |= Ruled
	}
	if n.Types != Any && c.Hard == Any {
		n.Types |= Soft
	}
	n.Awaited |= c.Required | c.Keys | c.awaited()
	r := c.Rules
	if c.Object || r.Names != nil || r.Closed {
		n.KeepObject = false
	}
	if r.Closed || len(n.Fields) > 63 {
		n.SimpleObject = false
	}
	if c.Array {
		n.KeepArray = false
		if n.Types&Array != 0 {
			n.Awaited |= other
		}
	}
}

// other is a bit that no object of a node has which has rules: such nodes have 63 fields at most, or
// are not simple.
const other = 1 << 63

// awaited returns the bits that an object lacks for which there are other rules than required
// members. If it needs only to have one of several members, it is one that has the first of them.
func (c *Checks) awaited() (bits uint64) {
	r := c.Rules
	if c.Undeclared != nil || r.Unsure || r.Enum || r.Members != Unbounded || r.Size > 0 {
		return other
	}
	for i, j := range r.Junctors {
		first := c.Alternatives[i][0]
		if j.Kind != AnyOf || first == 0 || hasNodes(j) {
			return other
		}
		bits |= first
	}
	return bits
}

// Doubt says that the default of a field is not surely valid.
func (c *Checks) Doubt(f *Field) {
	c.Object = true
	c.Whole = c.Whole || f.Bit == 0
	if c.Doubtful |= f.Bit; f.Bit == 0 {
		own := *c.Rules
		own.Unsure = true
		c.Rules = &own
	}
}

// SetKey is the number of the only key of elements that are scalars.
const SetKey = 1 << 20

// Hard returns the types that a value must have to be decoded. A value of another type is a
// mismatch.
func (n *Node) Hard() Types {
	if n.Checks != nil {
		return n.Checks.Hard
	}
	return n.Types
}

// A Validator says why objects are invalid, with the texts of the API server. It is safe for use by
// several goroutines.
type Validator interface {
	// Validate validates an object, which is the result of a decoder. It reports false if steps did
	// not suffice: then errors may be missing.
	Validate(object []byte, as Request, steps int) ([]Error, bool)
	// ValidatePart validates a part of an object, as Validate would with all of it if the type of the
	// object is right. It takes its steps from those that are left; fewer than none did not suffice.
	ValidatePart(p *Part, as Request, steps *int) []Error
	// ValidateType validates the type of an object. Both are JSON: null is that of an absent one, and
	// nothing that of the right one.
	ValidateType(apiVersion, kind []byte) []Error
	// ValidateUpdate is Validate for an object that replaces old, the stored object. Both are objects
	// in which no name repeats.
	ValidateUpdate(object, old []byte, as Request, steps int) ([]Error, bool)
	// HasRules reports whether there are rules in CEL.
	HasRules() bool
	// Evaluate evaluates the rules in CEL for an object without errors that hinder it. old is the
	// stored object, or nil if none is known. charge is called before so many bytes are allocated.
	Evaluate(object, old []byte, as Request, charge func(bytes int)) []Error
	// Warnings returns the server's warnings about the owner references and the finalizers of an
	// object that is created. Each is a list, as JSON, or nil.
	Warnings(owners, finalizers []byte) []string
}

// A Part is a part of an object. It has one of Value, Names and Elements.
type Part struct {
	Path     []errors.Segment
	Value    []byte   // JSON
	Names    []string // of all declared members of an object, without rules for others
	Elements int      // the number of those of an array
	IsArray  bool     // Elements counts
}

// A Request is what an object is validated for.
type Request uint8

const (
	Create Request = iota
	Update
	StatusUpdate

	// AsSent, added to one of these, says that metadata is as it was sent. The server normalises it
	// before it validates.
	AsSent Request = 1 << 7
)

// An Error is a reason why an object is invalid. Path leads to the value.
type Error struct {
	Path []errors.Segment
	errors.ValueError
	// IsOld says that the value is that of the stored object, which the server has kept.
	IsOld bool
	// Hinders says that rules in CEL are not evaluated.
	Hinders bool
}

// IsOfAnyType reports whether the server finds the error in objects of a wrong type, too. Of these it
// validates only embedded resources, sets and maps.
func IsOfAnyType(e *errors.ValueError) bool {
	return e.Rule == "x-kubernetes-embedded-resource" || e.Rule == "x-kubernetes-list-type"
}

// Metadata is a part of metadata, for which there are rules.
type Metadata struct {
	// Place leads to the part: labels.* are the values of labels, finalizers[] the elements of
	// finalizers. It is empty for the whole.
	Place    string
	Embedded bool // in an embedded resource
}
