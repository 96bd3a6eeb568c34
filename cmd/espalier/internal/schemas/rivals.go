package schemas

// This file chooses between definitions of one kind that differ, as those of two channels or of two
// releases do.

import (
	"crypto/sha256"
	stderrors "errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/schema"
)

type groupKind struct{ group, kind string }

func kindOf(crd *schema.CRD) groupKind { return groupKind{crd.Group, crd.Kind} }

// MaxRivals is how many definitions are tried for one object, so that the work for many objects and
// many definitions is no product. An object that only further ones would accept is refused.
const MaxRivals = 8

// A DifferingKind is a kind whose definitions differ.
type DifferingKind struct {
	Group, Kind string
	Definitions []*Rival // the first of those that say the same, in the order of the files
}

// A Rival is one of several definitions of a kind that differ.
type Rival struct {
	crd     *schema.CRD
	catalog *schema.Catalog
	untyped func() (*schema.Catalog, error)
}

func newRival(crd *schema.CRD, opts []schema.Option) (*Rival, error) {
	catalog, err := catalogOf(crd, opts)
	if err != nil {
		return nil, err
	}
	return &Rival{crd, catalog, sync.OnceValues(func() (*schema.Catalog, error) {
		return catalogOf(crd, untyped(opts))
	})}, nil
}

func catalogOf(crd *schema.CRD, opts []schema.Option) (*schema.Catalog, error) {
	c := schema.NewCatalog(opts...)
	return c, c.Add(crd)
}

// Place is where the definition is.
func (r *Rival) Place() finding.Place { return finding.Place{File: r.crd.File, At: r.crd.Position} }

// Name is the name of the definition.
func (r *Rival) Name() finding.Identity {
	return finding.Identity{APIVersion: r.crd.APIVersion, Kind: "CustomResourceDefinition", Name: r.crd.Name}
}

// Lookup returns the program for objects of a kind by this definition.
func (r *Rival) Lookup(apiVersion, kind string) (*schema.Program, error) {
	return r.catalog.Lookup(apiVersion, kind)
}

// Untyped is Loaded.Untyped for this definition.
func (r *Rival) Untyped() (*schema.Catalog, error) { return r.untyped() }

// Entry is Loaded.Entry for this definition.
func (r *Rival) Entry(apiVersion, kind string) (schema.Entry, bool) {
	for e := range r.catalog.All() {
		if e.APIVersion == apiVersion && e.Kind == kind {
			return e, true
		}
	}
	return schema.Entry{}, false
}

// Rivals are the definitions of a version that differ. Of those that say the same of it, they have
// the first one.
type Rivals struct {
	All []*Rival // in the order of the files
	// in has the definitions in a folder, and below those in the folder and within it, by the paths
	// of folders: at most one more than are tried.
	in, below map[string][]*Rival
}

// add adds a definition of a folder.
func (v *Rivals) add(r *Rival, dir string) {
	add := func(to map[string][]*Rival, dir string) {
		if some := to[dir]; len(some) <= MaxRivals && !slices.Contains(some, r) {
			to[dir] = append(some, r)
		}
	}
	add(v.in, dir)
	for above := range folders(dir) {
		add(v.below, above)
	}
}

// For returns the definitions that an object of a file may be meant for: the ones in whose folder
// the file is, and if there are none, all. The first ones have most folders in common with the
// file. There are more if they are too many to be tried.
func (v *Rivals) For(file string) (some []*Rival, more bool) {
	dir := absoluteDir(file)
	for _, of := range []map[string][]*Rival{v.in, v.below} {
		for above := range folders(dir) {
			for _, r := range of[above] {
				if !slices.Contains(some, r) {
					some = append(some, r)
				}
			}
			if len(some) > MaxRivals {
				return some[:MaxRivals], true
			}
		}
		if len(some) > 0 {
			break
		}
	}
	return some, false
}

// absoluteDir returns the folder of a file, with a separator at its end.
func absoluteDir(file string) string {
	path, err := filepath.Abs(file)
	if err != nil {
		path = file
	}
	return strings.TrimSuffix(filepath.Dir(path), string(filepath.Separator)) + string(filepath.Separator)
}

// folders yields a folder and those around it. The last one is that of all, which has no name.
func folders(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for dir != "" && yield(dir) {
			dir = dir[:strings.LastIndexByte(dir[:len(dir)-1], filepath.Separator)+1]
		}
		if dir == "" {
			yield("")
		}
	}
}

// settle adds definitions to the catalog. Of those of a kind that differ, the last one gets there,
// and all of them are rivals. Whatever is no difference is an error, and then nothing is added.
func (s *Loaded) settle(crds []*schema.CRD) error {
	byKind := map[groupKind][]*schema.CRD{}
	var kinds []groupKind
	var errs []error
	for _, crd := range crds {
		if err := schema.NewCatalog().Add(crd); err != nil {
			errs = append(errs, sanitize.Unjoin(err)...)
			continue
		}
		kind := kindOf(crd)
		if len(byKind[kind]) == 0 {
			kinds = append(kinds, kind)
		}
		byKind[kind] = append(byKind[kind], crd)
	}
	if len(errs) > 0 {
		return stderrors.Join(errs...)
	}
	var agreed []*schema.CRD
	for _, kind := range kinds {
		same := byKind[kind]
		differ, err := s.addRivals(same)
		if err != nil {
			return err
		}
		if differ {
			same = same[len(same)-1:]
		}
		agreed = append(agreed, same...)
	}
	return s.Catalog.Add(agreed...)
}

// addRivals adds the definitions of one kind as rivals if they differ.
func (s *Loaded) addRivals(same []*schema.CRD) (differ bool, err error) {
	if len(same) == 1 {
		return false, nil
	}
	var all []*Rival
	versions := map[[2]string]*Rivals{}
	first := map[content]*Rival{}
	for _, crd := range same {
		own, err := newRival(crd, s.ofFiles)
		if err != nil {
			return false, err
		}
		all = append(all, own)
		dir := absoluteDir(crd.File)
		for i := range crd.Versions {
			c, err := contentOf(crd, &crd.Versions[i])
			if err != nil {
				return false, err
			}
			key := [2]string{crd.Group + "/" + c.version, crd.Kind}
			v := versions[key]
			if v == nil {
				v = &Rivals{in: map[string][]*Rival{}, below: map[string][]*Rival{}}
				versions[key] = v
			}
			if first[c] == nil {
				first[c] = own
				v.All = append(v.All, own)
			}
			v.add(first[c], dir)
		}
	}
	if all = differing(all, versions); len(all) == 0 {
		return false, nil
	}
	maps.Copy(s.rivals, versions)
	s.Differing = append(s.Differing, &DifferingKind{same[0].Group, same[0].Kind, all})
	s.places[all[0].Place().String()] = true
	return true, nil
}

// differing returns the definitions that differ from others in a version.
func differing(all []*Rival, versions map[[2]string]*Rivals) []*Rival {
	differs := map[*Rival]bool{}
	for _, v := range versions {
		for _, r := range v.All {
			differs[r] = differs[r] || len(v.All) > 1
		}
	}
	return slices.DeleteFunc(all, func(r *Rival) bool { return !differs[r] })
}

// A content is what definitions say of a version. They differ if it does.
type content struct {
	version          string
	served, preserve bool
	schema           [sha256.Size]byte
}

func contentOf(crd *schema.CRD, v *schema.Version) (c content, err error) {
	c = content{version: v.Name, served: v.Served, preserve: crd.PreserveUnknownFields}
	if v.Schema != nil {
		var js []byte
		js, err = v.Schema.MarshalJSON()
		c.schema = sha256.Sum256(js)
	}
	return c, err
}

// Rivals returns the definitions of a version of a kind, if those of the kind differ, or nil. There
// may be one alone.
func (s *Loaded) Rivals(apiVersion, kind string) *Rivals {
	return s.rivals[[2]string{apiVersion, kind}]
}

// IsReported reports whether the definition at a place is the first of several that differ, where
// they are reported.
func (s *Loaded) IsReported(at finding.Place) bool { return s.places[at.String()] }

// untyped returns options for programs that do not check types.
func untyped(opts []schema.Option) []schema.Option {
	return append(slices.Clip(opts), schema.CheckTypes(false))
}
