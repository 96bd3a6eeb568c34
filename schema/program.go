package schema

import "github.com/espalier-dev/espalier/errors"

// A Program is a compiled schema: immutable, safe for any number of goroutines.
type Program struct{}

// A SemanticsName chooses what a program does where Kubernetes and the KEPs differ.
type SemanticsName uint8

const (
	Kubernetes SemanticsName = iota
	KEP
)

// An Option changes how a schema is compiled.
type Option func(*options)

type options struct {
	semantics    SemanticsName
	resourceRoot bool
}

// Semantics chooses the semantics; the default is Kubernetes.
func Semantics(s SemanticsName) Option { return func(o *options) { o.semantics = s } }

// ResourceRoot says whether the root is a resource; the default is true.
func ResourceRoot(is bool) Option { return func(o *options) { o.resourceRoot = is } }

// Compile stub.
func Compile(s *Structural, opts ...Option) (*Program, error) { return &Program{}, nil }

// FieldNames returns the names of the fields declared for the object at path, sorted.
func (p *Program) FieldNames(path errors.Path) []string { return nil }

// String prints the listing.
func (p *Program) String() string { return "" }
