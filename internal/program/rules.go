package program

import "github.com/espalier-dev/espalier/errors"

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
	Literal Checker // of numbers, true and false as they are written, or nil

	// Of objects.
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

// An Alternative is a schema below a junctor: it only requires members, or it is a node.
type Alternative struct {
	Required []string
	Node     *Node // or nil
}

// Checks are the rules of a node with what depends on its fields.
type Checks struct {
	Rules  *Rules
	Types  Types // of Rules
	Open   bool  // there are no rules for what is in an object or an array
	Scalar bool  // there are rules for scalars besides their types
	Object bool  // there are rules for the end of an object
	Array  bool  // there are rules for the end of an array
	// Bits of fields.
	Required, Keys, Skip uint64
	// Undeclared are required members without a bit.
	Undeclared []string
	// Alternatives has the bits of the fields that each alternative of each junctor requires.
	Alternatives [][]uint64
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
	c.Scalar = every || r.Text != nil || r.Literal != nil
	c.Object = every || c.Required != 0 || c.Undeclared != nil || r.Members != Unbounded || r.Size > 0
	c.Array = every || r.Items != Unbounded || r.List != Atomic
	c.Open = !c.Object && !c.Array && len(n.Fields) == 0 && !r.Closed && r.Names == nil &&
		(n.Unknown == nil || n.Unknown.Node.Checks == nil) && n.Elements.Node.Checks == nil
}

// A Validator says why objects are invalid, with the texts of the API server. It is safe for use by
// several goroutines.
type Validator interface {
	// Validate validates an object, which is the result of a decoder. It reports false if steps did
	// not suffice: then errors may be missing.
	Validate(object []byte, as Request, steps int) ([]Error, bool)
}

// A Request is what an object is validated for.
type Request uint8

const (
	Create Request = iota
	StatusUpdate
)

// An Error is a reason why an object is invalid. Path leads to the value.
type Error struct {
	Path []errors.Segment
	errors.ValueError
}

// A ScalePath leads to a value that scaling uses.
type ScalePath struct {
	Names  []string
	Text   bool // the value is a string; otherwise it is a number of replicas
	InSpec bool // the path is that of the spec's replicas
}
