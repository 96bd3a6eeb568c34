package request

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// Unknown says which writes pass untouched by the paths of the Kubernetes API
// if the catalog has no schema for them.
type Unknown uint8

const (
	// PassUnknownGroups passes writes to groups of which the catalog has no
	// definition, to /api, and to paths outside of the API. In groups that
	// the catalog knows, it refuses versions, resources and subresources
	// that no definition declares with 403. Every resource declares the
	// subresource scale. It is the default.
	PassUnknownGroups Unknown = iota
	// PassNothing refuses all such writes with 403.
	PassNothing
	// PassUnknown passes all such writes.
	PassUnknown
)

// Paths finds resources by the paths of the Kubernetes API, as [ByPath] does.
type Paths struct {
	// Catalog has the definitions. Definitions that are added to it later
	// are found as well.
	Catalog *schema.Catalog
	// Unknown says which writes pass for which there is no definition.
	Unknown Unknown
	// Decoder has the options for each [Resource].
	Decoder []decoder.Option
}

// ByPath returns a Finder of the served versions in a catalog by the paths of
// the Kubernetes API:
//
//	/apis/GROUP/VERSION/PLURAL
//	/apis/GROUP/VERSION/namespaces/NAMESPACE/PLURAL
//
// and by the paths below them: /NAME, and /NAME/status, whose bodies are whole
// objects. Definitions that are added to the catalog later are found as well.
// Other paths are treated as [PassUnknownGroups] says. [Paths] can select
// another treatment: with [PassNothing] nothing passes while the catalog is
// empty or lacks a group.
//
// ByPath refuses paths that a handler could mistake for the path of a resource.
// In all paths it refuses an element .. in any spelling. Below /api and /apis
// it also refuses empty elements, characters other than ASCII letters, digits
// and -._~:@, escapes of escapes, and elements that equal a known group,
// version, plural or subresource only after folding case or without a suffix.
// Below the subresource proxy everything but .. is allowed. Request targets
// without a path of their own, such as x:http://host/apis/..., are refused. A
// path that two kinds of the catalog share is an error of the finder.
//
// ByPath panics if the catalog is nil, if decoder.New refuses the options, or if
// values are to be validated and the programs of the catalog cannot do that.
func ByPath(catalog *schema.Catalog, opts ...decoder.Option) Finder {
	return Paths{Catalog: catalog, Decoder: opts}.Finder()
}

// Finder returns the finder. It panics where [ByKind] does, and if Unknown is
// not one of the constants.
func (p Paths) Finder() Finder {
	p.Decoder = mustFind(p.Catalog, p.Decoder)
	if p.Unknown > PassUnknown {
		panic("request: Paths.Unknown is none of the constants")
	}
	f := &pathFinder{Paths: p}
	f.index()
	return f.find
}

// A pathFinder has an index of a catalog, which is built again after the catalog has changed.
type pathFinder struct {
	Paths
	mu      sync.Mutex
	current atomic.Pointer[pathIndex]
}

func (f *pathFinder) find(r *Request, _ Peek) (*Resource, error) {
	t, refused := parsePath(r.URL)
	if refused != nil {
		return nil, refused
	}
	index := f.index()
	if index.isFolded(t) {
		return nil, BadRequest("the path of the request differs in case or by a suffix from one that is known here, " +
			"and others may take it for that")
	}
	e := index.entries[t.resourceKey]
	switch {
	case e != nil && (t.subresource == "" || t.subresource == "status"):
		return e.resource()
	case f.Unknown == PassNothing, f.Unknown == PassUnknownGroups && index.refuses(t, e):
		return nil, undeclared(t)
	}
	return Pass, nil
}

// undeclared returns the answer to a write that no definition declares.
func undeclared(t target) *StatusError {
	what := "this path"
	if t.isGroup {
		what = "resource " + strconv.Quote(t.name)
		if t.subresource != "" {
			what += ", subresource " + strconv.Quote(t.subresource) + ","
		}
		what += " in " + strconv.Quote(t.group+"/"+t.version)
	}
	return &StatusError{Code: statusForbidden, Reason: "Forbidden",
		Message: "there is no definition for " + what + " here, and what has none is not passed on"}
}

// errTwoKinds is the error for a plural of two kinds: nobody can know which is stored there.
var errTwoKinds = errors.New("request: two kinds of the catalog have the same group, version and plural")

// A pathIndex has the paths of a catalog. It is immutable.
type pathIndex struct {
	generation uint64
	entries    map[resourceKey]*pathEntry
	// declared has the groups, their versions, and their plurals; the rest of each key is empty.
	// folded has the same keys after their last part was folded.
	declared, folded map[resourceKey]bool
}

// index returns an index of the catalog as it is now.
func (f *pathFinder) index() *pathIndex {
	if last := f.fresh(); last != nil {
		return last
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	index := f.fresh() // another request may have made it meanwhile
	if index == nil {
		// The number is read before the entries, so that the entries are of that generation or of a
		// later one.
		index = newPathIndex(f.Catalog.Generation(), f.Catalog, f.Decoder, f.current.Load())
		f.current.Store(index)
	}
	return index
}

// fresh returns the last index, or nil if the catalog has changed since.
func (f *pathFinder) fresh() *pathIndex {
	if last := f.current.Load(); last != nil && last.generation == f.Catalog.Generation() {
		return last
	}
	return nil
}

// newPathIndex makes an index. Entries that have not changed since the last one keep their
// decoders.
func newPathIndex(
	generation uint64, catalog *schema.Catalog, opts []decoder.Option, last *pathIndex,
) *pathIndex {
	index := &pathIndex{generation, map[resourceKey]*pathEntry{}, map[resourceKey]bool{}, map[resourceKey]bool{}}
	for e := range catalog.All() {
		g, v, n := e.CRD.Group, e.Version.Name, e.CRD.Plural
		if n == "" { // OpenAPI documents do not name the plurals
			continue
		}
		for _, key := range []resourceKey{{g, "", ""}, {g, v, ""}, {g, v, n}} {
			index.declared[key] = true
			index.folded[key.fold()] = true
		}
		if !e.Version.Served {
			continue
		}
		key := resourceKey{g, v, n}
		if other := index.entries[key]; other != nil && other.entry.Kind != e.Kind {
			index.entries[key] = &pathEntry{resource: func() (*Resource, error) {
				return nil, errTwoKinds
			}}
			continue
		}
		if last != nil && last.entries[key] != nil && last.entries[key].isOf(e) {
			index.entries[key] = last.entries[key]
			continue
		}
		index.entries[key] = &pathEntry{e, sync.OnceValues(func() (*Resource, error) {
			return FromEntry(e, opts...)
		})}
	}
	return index
}

// fold folds the last part of the key that is not empty.
func (k resourceKey) fold() resourceKey {
	switch {
	case k.name != "":
		k.name = foldLabel(k.name)
	case k.version != "":
		k.version = foldLabel(k.version)
	default:
		k.group = foldGroup(k.group)
	}
	return k
}

// isFolded reports whether a path is in the index only for a server that folds it.
func (x *pathIndex) isFolded(t target) bool {
	if !t.isGroup {
		return false
	}
	for _, key := range []resourceKey{{t.group, "", ""}, {t.group, t.version, ""}, t.resourceKey} {
		if !x.declared[key] {
			return x.folded[key.fold()] ||
				key.name != "" && key.name != "namespaces" && foldLabel(key.name) == "namespaces"
		}
	}
	return t.subresource != "status" && foldLabel(t.subresource) == "status"
}

// refuses reports whether nothing declares the path, although something declares its group. e is
// the entry of the resource, or nil.
func (x *pathIndex) refuses(t target, e *pathEntry) bool {
	return t.isGroup && x.declared[resourceKey{group: t.group}] &&
		(e == nil || t.subresource != "scale")
}

// A pathEntry is an entry of a catalog. Its resource is made when the first request asks for it.
type pathEntry struct {
	entry    schema.Entry
	resource func() (*Resource, error)
}

func (e *pathEntry) isOf(entry schema.Entry) bool {
	return e.entry.CRD == entry.CRD && e.entry.Version == entry.Version
}
