package request

import (
	"slices"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// A Resource is one version of one kind, and decodes bodies. It must not be
// copied or changed once it is in use. Any number of goroutines can use it.
type Resource struct {
	// APIVersion and Kind are those that objects must have: bodies with
	// others are refused. An empty one allows any value, and none.
	APIVersion, Kind string
	// Program decodes objects.
	Program *schema.Program
	// Patch decodes merge patches and apply patches. It is a program of
	// schema.Structural.MergePatch. If it is nil, such patches cannot be
	// checked.
	Patch *schema.Program
	// Decoder has options for the decoders. They override the defaults of
	// this package, which are at most 256 findings, 1 MiB that a stream may
	// hold, and 16 bytes that aliases may add for each byte of the body. A
	// decoder.FieldValidation among them has no effect.
	//
	// With decoder.ValidateCreate among them, the values of objects that
	// POST creates are validated. Program must then be compiled with
	// validation.Values. decoder.ValidateUpdate and ValidateStatusUpdate are
	// refused.
	Decoder []decoder.Option

	once  sync.Once
	pools [uses][3]*decoder.Pool
}

// A use is what a body is decoded for.
type use uint8

const (
	stored  use = iota // an object in place of a stored one
	created            // an object that is created, whose values are validated
	patched
	uses
)

// maxFindings is more than the headers of an answer can hold: 4096 characters, of which the
// shortest finding takes 17.
const maxFindings = 256

// maxHeld limits what a stream holds: the names of open objects.
const maxHeld = 1 << 20

// aliasFactor limits what aliases may add for each byte of a body, beyond 64 KiB. It keeps small
// bodies small.
const aliasFactor = 16

// pool returns a pool of decoders.
func (res *Resource) pool(v decoder.FieldValidation, as use) *decoder.Pool {
	res.once.Do(func() {
		values := mustBeKnown(res.Decoder)
		for _, v := range []decoder.FieldValidation{decoder.Warn, decoder.Strict, decoder.Ignore} {
			limits := decoder.Limits{Findings: maxFindings, HeldBytes: maxHeld, AliasFactor: aliasFactor}
			opts := append(append([]decoder.Option{limits}, res.Decoder...), v)
			if values != decoder.AcceptValues {
				res.pools[created][v] = decoder.NewPool(res.Program, opts...)
				opts = append(opts, decoder.AcceptValues)
			}
			res.pools[stored][v] = decoder.NewPool(res.Program, opts...)
			if res.Patch != nil {
				// A patch seldom has a type. checkType checks the one of an apply patch.
				res.pools[patched][v] = decoder.NewPool(res.Patch, append(opts, decoder.ExpectType("", ""))...)
			}
		}
	})
	pool := res.pools[as][v]
	// The first call has panicked. Later ones must panic as well, before they acquire a slot.
	if pool == nil {
		panic("request: a Resource has options that decoder.New refuses")
	}
	return pool
}

// splitAPIVersion returns the group, which may be empty, and the version.
func splitAPIVersion(apiVersion string) (group, version string) {
	if i := strings.IndexByte(apiVersion, '/'); i >= 0 {
		return apiVersion[:i], apiVersion[i+1:]
	}
	return "", apiVersion
}

// A Peek reads the body and returns the apiVersion and kind of the object in
// it: see decoder.PeekType. The [Finder] should return its errors.
type Peek func() (apiVersion, kind string, err error)

// Pass is what a [Finder] returns for requests that are to pass untouched.
var Pass = new(Resource)

// A Finder returns the resource that a request is about, or [Pass]. If it
// returns neither a resource nor an error, it has missed a case, and the answer
// is 500.
//
// A Finder is called for requests with the methods POST, PUT and PATCH, and for
// GET requests that ask to switch protocols, which pass only if it returns
// Pass. Any number of goroutines may call it. An error is the answer to the
// request: a *[StatusError] as it is, a *schema.NotFoundError and errors of
// peek as 400, and any other error as 500.
//
// A Finder must not read the body of the request; peek does.
type Finder func(r *Request, peek Peek) (*Resource, error)

// Passes reports whether a request passes untouched, whatever its body is.
func (find Finder) Passes(r *Request) bool {
	res, err := find(r, noPeek)
	return res == Pass && err == nil
}

// Always returns a Finder that finds the same resource for every request. It
// panics if the resource is nil or has no program, or if decoder.New refuses
// its options.
func Always(res *Resource) Finder {
	if res == nil || res.Program == nil {
		panic("request: Always: the Resource is nil, or has no program")
	}
	res.pool(decoder.Warn, stored)
	return func(*Request, Peek) (*Resource, error) { return res, nil }
}

// mustFind panics if the catalog is missing or the options make no sense. It returns a copy of the
// options, so that nobody changes them later.
func mustFind(catalog *schema.Catalog, opts []decoder.Option) []decoder.Option {
	if catalog == nil {
		panic("request: the Catalog is nil")
	}
	opts = mustWork(opts)
	// All programs of a catalog are compiled with the same options.
	for e := range catalog.All() {
		if p, err := e.Program(); err == nil && cannotValidate(p, opts) {
			panic(errNoValues.Error())
		}
		break
	}
	return opts
}

// mustWork panics if the options make no sense, and returns a copy of them.
func mustWork(opts []decoder.Option) []decoder.Option {
	opts = slices.Clone(opts)
	accepting := opts
	if mustBeKnown(opts) == decoder.ValidateCreate { // which not all programs can do
		accepting = append(slices.Clip(opts), decoder.AcceptValues)
	}
	p, _ := schema.Compile(nil) // has no reason to fail
	decoder.NewPool(p, accepting...)
	return opts
}

// FromEntry returns the resource of an entry of a catalog, including the
// program for patches. It fails if one of the programs does not compile, or if
// values are to be validated and the program cannot do that. It panics if
// decoder.New refuses the options.
func FromEntry(e schema.Entry, opts ...decoder.Option) (*Resource, error) {
	opts = mustWork(opts)
	program, err := e.Program()
	if err != nil {
		return nil, err
	}
	if cannotValidate(program, opts) {
		return nil, errNoValues
	}
	s := e.Version.Schema
	if s == nil {
		s = &schema.Structural{Type: "object"}
	}
	patch, err := schema.Compile(s.MergePatch(), schema.PreserveUnknownFields(e.CRD.PreserveUnknownFields))
	if err != nil {
		return nil, err
	}
	return &Resource{
		APIVersion: e.APIVersion, Kind: e.Kind, Program: program, Patch: patch, Decoder: opts,
	}, nil
}
