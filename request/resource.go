package request

import (
	"slices"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// A Resource is what bodies are decoded by: one version of one kind. It must not be
// copied or changed once it is in use, and is for any number of goroutines.
type Resource struct {
	// APIVersion and Kind are what objects must have: bodies with others are refused.
	// Where one is empty, anything may stand there, or nothing.
	APIVersion, Kind string
	// Program is what objects are decoded by.
	Program *schema.Program
	// Patch is what merge patches and apply patches are decoded by: a program of
	// schema.Structural.MergePatch. Where it is nil, they cannot be checked.
	Patch *schema.Program
	// Decoder has options for the decoders, in front of which the limit of findings is
	// set to 256, that of what a stream holds to 1 MiB, and that of aliases to 16 bytes for each of the body. decoder.FieldValidation has no effect.
	Decoder []decoder.Option

	once             sync.Once
	objects, patches [3]*decoder.Pool
}

// maxFindings is more than fit into the headers of an answer: 4096 characters, of which
// the shortest finding has 17.
const maxFindings = 256

// maxHeld is for the names of objects that are open in a stream.
const maxHeld = 1 << 20

// aliasFactor is what aliases may add for each byte of a body, beyond 64 KiB: what is small is to stay so.
const aliasFactor = 16

// pool returns decoders for objects or patches.
func (res *Resource) pool(v decoder.FieldValidation, isPatch bool) *decoder.Pool {
	res.once.Do(func() {
		for _, v := range []decoder.FieldValidation{decoder.Warn, decoder.Strict, decoder.Ignore} {
			opts := []decoder.Option{decoder.Limits{Findings: maxFindings, HeldBytes: maxHeld, AliasFactor: aliasFactor}}
			opts = append(append(opts, res.Decoder...), v)
			res.objects[v] = decoder.NewPool(res.Program, opts...)
			if res.Patch != nil { // which seldom has a type: checkType looks at what it has
				res.patches[v] = decoder.NewPool(res.Patch, append(opts, decoder.ExpectType("", ""))...)
			}
		}
	})
	pool := res.objects[v]
	if isPatch {
		pool = res.patches[v]
	}
	if pool == nil { // the first call has panicked; a turn must not be taken for what is going to panic
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

// A Peek returns the apiVersion and kind of the object in the body, for which it reads
// that: see decoder.PeekType. Errors are for the [Finder] to return.
type Peek func() (apiVersion, kind string, err error)

// Pass is what a [Finder] returns for requests that are to pass untouched.
var Pass = new(Resource)

// A Finder returns the resource that a request is about, or [Pass]. Where it returns neither that nor an error,
// it has forgotten a case, and the answer is 500. It is asked for requests with the methods POST, PUT and PATCH, and for those with GET that
// want to switch protocols, which pass only where it returns Pass. It is asked by any
// number of goroutines. An error is the answer to the request: a *[StatusError] as it is,
// a *schema.NotFoundError and errors of peek as 400, any other as 500.
//
// It must not read the body of the request; peek does.
type Finder func(r *Request, peek Peek) (*Resource, error)

// Passes reports whether a request passes untouched, whatever its body is.
func (find Finder) Passes(r *Request) bool {
	res, err := find(r, noPeek)
	return res == Pass && err == nil
}

// Always finds the same resource for every request. It panics where that has no program, or options that decoder.New
// refuses.
func Always(res *Resource) Finder {
	if res == nil || res.Program == nil {
		panic("request: Always: the Resource is nil, or has no program")
	}
	res.pool(decoder.Warn, false)
	return func(*Request, Peek) (*Resource, error) { return res, nil }
}

// ByKind finds the resources of a catalog by the type of the object in the body. Bodies
// without one that the catalog knows are refused, patches among them, which seldom have one. To find the type, aliases
// are read within the limit that a [Resource] has by default: a larger one in the options has no effect. It panics without
// a catalog, and for options that decoder.New refuses.
func ByKind(catalog *schema.Catalog, opts ...decoder.Option) Finder {
	opts = mustFind(catalog, opts)
	made := kinds{made: map[[2]string]*Resource{}}
	return func(_ *Request, peek Peek) (*Resource, error) {
		apiVersion, kind, err := peek()
		if err != nil {
			return nil, err
		}
		program, err := catalog.Lookup(apiVersion, kind)
		if err != nil {
			return nil, err
		}
		return made.of(program, apiVersion, kind, opts), nil
	}
}

// mustFind panics where a catalog is missing, or options make no sense. It returns these, so that nobody changes them later.
func mustFind(catalog *schema.Catalog, opts []decoder.Option) []decoder.Option {
	if catalog == nil {
		panic("request: the Catalog is nil")
	}
	return mustWork(opts)
}

// mustWork panics where options make no sense, and returns a copy of them.
func mustWork(opts []decoder.Option) []decoder.Option {
	p, _ := schema.Compile(nil) // which has no reason to fail
	decoder.NewPool(p, opts...)
	return slices.Clone(opts)
}

// FromEntry returns the resource of an entry of a catalog, with the program for
// patches besides. It fails where these do not compile, and panics for options that decoder.New refuses.
func FromEntry(e schema.Entry, opts ...decoder.Option) (*Resource, error) {
	program, err := e.Program()
	if err != nil {
		return nil, err
	}
	s := e.Version.Schema
	if s == nil {
		s = &schema.Structural{Type: "object"}
	}
	patch, err := schema.Compile(s.MergePatch(), schema.PreserveUnknownFields(e.CRD.PreserveUnknownFields))
	if err != nil {
		return nil, err
	}
	return &Resource{APIVersion: e.APIVersion, Kind: e.Kind, Program: program, Patch: patch, Decoder: mustWork(opts)}, nil
}

// kinds are the resources that were made so far, by their types. There are as many as the catalog has.
type kinds struct {
	mu   sync.RWMutex
	made map[[2]string]*Resource
}

// of returns the resource of a type, which is made anew where the program is another one.
func (k *kinds) of(program *schema.Program, apiVersion, kind string, opts []decoder.Option) *Resource {
	key := [2]string{apiVersion, kind}
	k.mu.RLock()
	res := k.made[key]
	k.mu.RUnlock()
	if res != nil && res.Program == program {
		return res
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if res = k.made[key]; res == nil || res.Program != program {
		res = &Resource{APIVersion: apiVersion, Kind: kind, Program: program, Decoder: opts}
		k.made[key] = res
	}
	return res
}
