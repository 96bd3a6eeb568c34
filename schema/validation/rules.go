package validation

import (
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// A RuleCompiler compiles the rules in a schema (x-kubernetes-validations),
// which are expressions in CEL. [Values] takes one. The module cel has the one
// of the API server; this module does not depend on CEL.
type RuleCompiler interface {
	// CompileRules compiles the rules in a schema and in the schemas within
	// it. It returns nil if a server would run none. A rule with a mistake is
	// an error of each object that it is about, as for the server.
	//
	// isResource is set if the values are objects of their own, whose metadata
	// the rules at the root can read. CompileRules keeps the schema, which
	// must not be changed afterwards. Several goroutines may call it.
	CompileRules(s *schema.Structural, isResource bool) Rules
}

// Rules are the compiled rules in a schema. Any number of goroutines can use
// them.
type Rules interface {
	// Selections returns which parts of an object, and of the stored object
	// that it replaces, the rules read. The second is nil if they read nothing
	// of that.
	Selections() (self, oldSelf *Selection)
	// Evaluate evaluates the rules for an object without errors that hinder
	// it. The order of the errors is always the same.
	Evaluate(r *RuleRequest) []RuleError
}

// A Selection says which parts of a value are read. A nil Selection says that
// nothing is, and one without contents that it matters whether there is a
// value, whether it is null, and which one it is if it is a scalar.
type Selection struct {
	All      bool                  // everything is, and the other fields do not matter
	Members  map[string]*Selection // of an object, by their names
	Others   *Selection            // members of an object whose names are not in Members
	Elements *Selection            // those of an array, all of which are there if it is not nil
	// Within says that only parts within the value are read: without any, there need be no value.
	// Parts that are null, and scalars, count as none; elements of which none is read are nil.
	Within bool
}

// A RuleRequest is what rules are evaluated for. Values are nil, bool, int64,
// float64, string, []any and map[string]any. They have at least the selected
// parts, and must not be changed.
type RuleRequest struct {
	Object any
	Old    any // the parts of the stored object, or nil for an object that is created
	// Whole returns both objects with all of their parts. It is nil for an
	// object that is created.
	Whole func() (object, old any)
}

// A RuleError is the reason why a rule refuses a value.
type RuleError struct {
	Path  []errors.Segment       // to the value, or to the one that the rule names (fieldPath)
	Depth int                    // how many segments of Path lead to the value
	Kind  errors.SchemaErrorKind // as the rule has it (reason)
	Field string                 // the server's path, or nothing for the whole
	Value string                 // as the server shows it, or nothing
	Msg   string
	Index int // of the rule in the x-kubernetes-validations of the value's schema
}
