package schema

import (
	"cmp"
	stderrors "errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/espalier-dev/espalier/internal/bounded"
	"github.com/espalier-dev/espalier/internal/fieldpath"
)

// A Catalog holds the programs for custom resources by apiVersion and kind. The
// zero Catalog is empty.
//
// A program is compiled when it is first asked for: reading a folder of
// hundreds of definitions compiles none of them. All methods may be called
// concurrently.
type Catalog struct {
	opts []Option

	// generation is written while mu is locked, with kinds.
	generation atomic.Uint64

	mu sync.RWMutex
	// kinds has the versions of each kind, in the order in which they were added. The map and the
	// lists are replaced and never changed, so that readers can go on with what they have.
	kinds map[groupKind][]Entry
}

type groupKind struct{ group, kind string }

// NewCatalog returns an empty catalog. It compiles its programs with the
// options, and with [PreserveUnknownFields] where a definition says so.
// NewCatalog panics for options that make [Compile] fail: nil, or a value
// without a meaning.
func NewCatalog(opts ...Option) *Catalog {
	if _, err := optionsOf(opts); err != nil {
		panic(err.Error())
	}
	return &Catalog{opts: slices.Clone(opts), kinds: map[groupKind][]Entry{}}
}

// An Entry is one version of one kind in a [Catalog].
type Entry struct {
	APIVersion string // group/version, or version for core kinds
	Kind       string
	CRD        *CRD     // the definition; CRD.File names its file
	Version    *Version // the element of CRD.Versions

	opts    []Option // of the catalog
	compile func() (*Program, error)
}

// Program compiles the schema of the entry, once, and returns the program. Its
// errors are those of [Compile]. For a version without a schema, the program
// prunes everything except apiVersion, kind and metadata, as the API server
// does. Program compiles versions that are not served as well, unlike
// [Catalog.Lookup].
func (e Entry) Program() (*Program, error) {
	if e.compile == nil {
		return nil, stderrors.New("schema: an Entry that is of no Catalog has no program")
	}
	return e.compile()
}

// Add adds all versions of the given definitions, or of the kinds that
// [ParseOpenAPI] has returned. They belong to the catalog afterwards and must
// not be changed.
//
// Each of them must have a kind and names for its versions, and a definition
// must have a group. A version that another definition already has is an error
// that names both files, unless the two are identical, including their schemas.
// Definitions take precedence over kinds of OpenAPI documents, whichever come
// first, because they say more. If several OpenAPI documents have a kind, the
// first one counts. If there is an error, nothing is added. Add does not check
// whether a definition is valid; package schema/validation does.
func (c *Catalog) Add(crds ...*CRD) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(c.kinds, crds)
}

// Replace is [Catalog.Add] for kinds whose definitions have changed. In one
// step it removes all versions of the given groups and kinds and adds the new
// ones. Kinds with the group and plural of a given definition are removed as
// well, because a definition may rename its kind. Other kinds stay. If there is
// an error, nothing is changed. Programs that were looked up before continue to
// work.
func (c *Catalog) Replace(crds ...*CRD) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	kinds := maps.Clone(c.kinds)
	for _, crd := range crds {
		if crd != nil {
			delete(kinds, groupKind{crd.Group, crd.Kind})
			maps.DeleteFunc(kinds, func(k groupKind, entries []Entry) bool {
				return k.group == crd.Group && crd.Plural != "" && entries[0].CRD.Plural == crd.Plural
			})
		}
	}
	return c.add(kinds, crds)
}

// add adds definitions to kinds, which then replaces the kinds of the catalog. The caller holds
// c.mu.
func (c *Catalog) add(kinds map[groupKind][]Entry, crds []*CRD) error {
	a := newAdder(kinds)
	var errs []error
	for i, crd := range crds {
		switch {
		case crd == nil:
			errs = append(errs, fmt.Errorf("schema: Catalog.Add: definition %d of %d is nil",
				i+1, len(crds)))
		case crd.Kind == "" || crd.Group == "" && !crd.OpenAPI:
			errs = append(errs, fmt.Errorf("%s: no spec.group or no spec.names.kind", crd.source()))
		default:
			for i := range crd.Versions {
				if crd.Versions[i].Name == "" {
					errs = append(errs, fmt.Errorf("%s: no spec.versions[%d].name",
						crd.source(), i))
				} else if err := a.put(c.entry(crd, &crd.Versions[i])); err != nil {
					errs = append(errs, err)
				}
			}
		}
	}
	if len(errs) > 0 {
		return stderrors.Join(errs...)
	}
	c.change(a.kinds)
	return nil
}

// ReplaceAll replaces the contents of the catalog by those of another, in one
// step: a lookup sees either the old contents or the new ones. Programs of both
// continue to work. The entries of other are compiled with the options of
// other, and entries that are added later with those of this catalog.
// ReplaceAll does not change other, and later changes of other have no effect
// on this catalog.
//
// It is for servers that read their definitions again while they work: they
// read them into a new catalog, which replaces the old one if there was no
// error.
func (c *Catalog) ReplaceAll(other *Catalog) {
	if other == nil {
		panic("schema: Catalog.ReplaceAll: the Catalog is nil")
	}
	other.mu.RLock()
	kinds := other.kinds
	other.mu.RUnlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.change(kinds)
}

// Remove removes a kind with all its versions, and reports whether the catalog
// had it. Programs that were looked up before continue to work.
func (c *Catalog) Remove(group, kind string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := groupKind{group, kind}
	if len(c.kinds[key]) == 0 {
		return false
	}
	kinds := maps.Clone(c.kinds)
	delete(kinds, key)
	c.change(kinds)
	return true
}

// change replaces the kinds of the catalog. The caller holds c.mu.
func (c *Catalog) change(kinds map[groupKind][]Entry) {
	c.kinds = kinds
	c.generation.Add(1)
}

// Generation returns a number that changes with every change of the catalog and
// never repeats. A program that derives something from [Catalog.All] should
// call Generation first, and derive it again when the number has changed.
func (c *Catalog) Generation() uint64 { return c.generation.Load() }

// An adder adds entries to a copy of the kinds of a catalog.
type adder struct {
	kinds map[groupKind][]Entry
	// versions has the index in kinds of each version, for the kinds that were looked at. The adder
	// has lists of its own for these.
	versions map[groupKind]map[string]int
}

func newAdder(kinds map[groupKind][]Entry) adder {
	kinds = maps.Clone(kinds)
	if kinds == nil { // of the zero Catalog
		kinds = make(map[groupKind][]Entry)
	}
	return adder{kinds, make(map[groupKind]map[string]int)}
}

// find returns the entry for the version of e, or nil if there is none.
func (a *adder) find(e Entry) *Entry {
	key := groupKind{e.CRD.Group, e.CRD.Kind}
	versions := a.versions[key]
	if versions == nil {
		versions = make(map[string]int)
		a.versions[key] = versions
		a.kinds[key] = slices.Clone(a.kinds[key])
		for i, known := range a.kinds[key] {
			versions[known.Version.Name] = i
		}
	}
	if i, ok := versions[e.Version.Name]; ok {
		return &a.kinds[key][i]
	}
	return nil
}

// put adds an entry. If there is one for its version, the rule of Catalog.Add decides.
func (a *adder) put(e Entry) error {
	other := a.find(e)
	key := groupKind{e.CRD.Group, e.CRD.Kind}
	switch {
	case other == nil:
		a.versions[key][e.Version.Name] = len(a.kinds[key])
		a.kinds[key] = append(a.kinds[key], e)
	case e.CRD.OpenAPI: // the entry that is there takes precedence
	case other.CRD.OpenAPI:
		*other = e
	case !other.same(e):
		if other.CRD == e.CRD {
			return fmt.Errorf("%s: spec.versions has %s twice, with different schemas",
				e.CRD.source(), e.Version.Name)
		}
		first, second := other.CRD.source(), e.CRD.source()
		if first == second {
			first += ":" + other.CRD.Position.String()
			second += ":" + e.CRD.Position.String()
		}
		return fmt.Errorf("%s, kind %s is defined in %s and differently in %s",
			e.APIVersion, e.Kind, first, second)
	}
	return nil
}

func (c *Catalog) entry(crd *CRD, v *Version) Entry {
	e := Entry{APIVersion: crd.apiVersion(v.Name), Kind: crd.Kind, CRD: crd, Version: v, opts: c.opts}
	e.compile = sync.OnceValues(func() (*Program, error) { return crd.compile(v, c.opts) })
	return e
}

// Program compiles the schema of a version, served or not, with the options,
// and with [PreserveUnknownFields] where the definition says so. For a version
// without a schema, the program prunes everything except apiVersion, kind and
// metadata, as the API server does.
//
// If there is no such version, the error is a [*NotFoundError] whose Versions
// are all versions of the definition. Other errors are those of [Compile].
func (c *CRD) Program(version string, opts ...Option) (*Program, error) {
	names := make([]string, len(c.Versions))
	for i := range c.Versions {
		if names[i] = c.Versions[i].Name; names[i] == version {
			return c.compile(&c.Versions[i], opts)
		}
	}
	slices.Sort(names)
	return nil, &NotFoundError{APIVersion: c.apiVersion(version), Kind: c.Kind, Versions: names}
}

// compiled returns the schema that is compiled for the version.
func (v *Version) compiled() *Structural {
	if v.Schema == nil {
		return &Structural{Type: "object"}
	}
	return v.Schema
}

func (c *CRD) compile(v *Version, opts []Option) (*Program, error) {
	if c.PreserveUnknownFields {
		opts = append(slices.Clip(opts), PreserveUnknownFields(true))
	}
	o, err := optionsOf(opts)
	var p *Program
	if err == nil {
		o.crd, o.version = c, v
		p, err = o.compile(v.compiled())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s, kind %s: %w", c.source(), c.apiVersion(v.Name), c.Kind, err)
	}
	return p, nil
}

func (c *CRD) apiVersion(version string) string {
	return strings.TrimPrefix(c.Group+"/"+version, "/")
}

// same reports whether two entries of one version are interchangeable.
func (e *Entry) same(o Entry) bool {
	return e.Version.Served == o.Version.Served &&
		e.CRD.PreserveUnknownFields == o.CRD.PreserveUnknownFields &&
		e.Version.Schema.Equal(o.Version.Schema)
}

// source returns a name for the origin of a definition.
func (c *CRD) source() string {
	return cmp.Or(c.File, c.Name, c.Plural+"."+c.Group)
}

func findVersion(entries []Entry, name string) *Entry {
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Version.Name == name })
	if i < 0 {
		return nil
	}
	return &entries[i]
}

// AddPath adds the definitions in a file, or in all files below a folder whose
// names end in .yaml, .yml or .json. It ignores files and folders whose names
// start with a dot, does not follow links to folders, and skips documents of
// other kinds as [ParseCRD] does.
//
// A file must be regular, or a link to a regular file, and no longer than
// [MaxFileBytes], because a folder that others write may link to an endless
// device.
//
// The error has one line for each file that cannot be read. If there is an
// error, nothing is added.
func (c *Catalog) AddPath(name string) error {
	return c.addFiles(func(read readFunc) error { return readPath(name, read) })
}

// MaxFileBytes is the maximum length of a file that [Catalog.AddPath],
// [Catalog.AddFS] and [Catalog.AddOpenAPIPath] read: 64 MiB.
const MaxFileBytes = 64 << 20

// readPath calls read for a file, or for each file below a folder that AddPath reads, and joins the
// errors.
func readPath(name string, read readFunc) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return readFS(os.DirFS(name), func(below string, content []byte) error {
			return read(filepath.Join(name, filepath.FromSlash(below)), content)
		})
	}
	content, err := bounded.ReadFile(name, MaxFileBytes)
	if err != nil {
		return err
	}
	return read(name, content)
}

// AddFS is [Catalog.AddPath] for all files of a file system, such as an
// embed.FS.
func (c *Catalog) AddFS(fsys fs.FS) error {
	return c.addFiles(func(read readFunc) error { return readFS(fsys, read) })
}

// A readFunc reads one file, which errors call by its name.
type readFunc func(name string, content []byte) error

// addFiles adds the definitions in the files for which each calls its argument.
func (c *Catalog) addFiles(each func(read readFunc) error) error {
	var all []*CRD
	err := each(func(name string, manifest []byte) error {
		crds, err := parseFile(name, manifest)
		all = append(all, crds...)
		return err
	})
	if err != nil {
		return err
	}
	return c.Add(all...)
}

// readFS calls read for each file of a file system that AddPath reads, and joins the errors.
func readFS(fsys fs.FS, read readFunc) error {
	var errs []error
	walk := func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)):
			var content []byte
			if content, err = bounded.ReadFS(fsys, name, MaxFileBytes); err == nil {
				err = read(name, content)
			}
		}
		if err != nil {
			errs = append(errs, err)
		}
		return nil
	}
	_ = fs.WalkDir(fsys, ".", walk) // walk returns no error
	return stderrors.Join(errs...)
}

func parseFile(name string, manifest []byte) ([]*CRD, error) {
	crds, err := ParseCRD(manifest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, crd := range crds {
		crd.File = name
	}
	return crds, nil
}

// Lookup returns the program for resources of a kind, and compiles it if
// necessary. apiVersion is group/version, as it is written in the resource.
//
// If the kind or the version is unknown, or the version is not served, the
// error is a [*NotFoundError]: the API server refuses such requests. Other
// errors are those of [Compile].
func (c *Catalog) Lookup(apiVersion, kind string) (*Program, error) {
	group, version, ok := strings.Cut(apiVersion, "/")
	entries := c.versions(group, kind)
	if !ok && len(entries) == 0 {
		version, entries = apiVersion, c.versions("", kind) // a kind of the core group
	}
	e := findVersion(entries, version)
	if e == nil || !e.Version.Served {
		return nil, &NotFoundError{
			APIVersion: apiVersion,
			Kind:       kind,
			Versions:   served(entries),
			NotServed:  e != nil,
		}
	}
	return e.Program()
}

// Versions returns the names of the served versions of a kind, sorted, or nil
// if there are none.
func (c *Catalog) Versions(group, kind string) []string {
	return served(c.versions(group, kind))
}

func (c *Catalog) versions(group, kind string) []Entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.kinds[groupKind{group, kind}]
}

func served(entries []Entry) []string {
	var names []string
	for _, e := range entries {
		if e.Version.Served {
			names = append(names, e.Version.Name)
		}
	}
	slices.Sort(names)
	return names
}

// All yields all versions, served or not, sorted by group, kind and version. It
// yields the versions that the catalog has when All is called.
func (c *Catalog) All() iter.Seq[Entry] {
	c.mu.RLock()
	all := slices.Concat(slices.Collect(maps.Values(c.kinds))...)
	c.mu.RUnlock()
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(
			strings.Compare(a.CRD.Group, b.CRD.Group),
			strings.Compare(a.Kind, b.Kind),
			strings.Compare(a.Version.Name, b.Version.Name),
		)
	})
	return slices.Values(all)
}

// A NotFoundError is returned for a kind of resource that a [Catalog] has no
// program for.
type NotFoundError struct {
	APIVersion string
	Kind       string
	// Versions are the served versions of the kind in this group, sorted.
	// In an error of [CRD.Program] they include versions that are not
	// served. Versions is empty if the kind is not known.
	Versions []string
	// NotServed is set if the version is known but not served.
	NotServed bool
}

// Error returns the text of Kubernetes clients (meta.NoKindMatchError),
// followed by what the catalog knows of the kind.
func (e *NotFoundError) Error() string {
	b := []byte("no matches for kind " + fieldpath.Quoted(e.Kind) +
		" in version " + fieldpath.Quoted(e.APIVersion))
	switch {
	case e.NotServed && len(e.Versions) == 0:
		b = append(b, ": the version is not served"...)
	case e.NotServed && len(e.Versions) == 1:
		b = append(b, ": the version is not served, "+e.Versions[0]+" is"...)
	case e.NotServed:
		b = append(b, ": the version is not served, "+strings.Join(e.Versions, ", ")+" are"...)
	case len(e.Versions) > 0:
		b = append(b, ": the kind has "+strings.Join(e.Versions, ", ")...)
	}
	return string(b)
}
