package schemas

// This file adds the built-in kinds of Kubernetes, each group and version when it is asked for.

import (
	stderrors "errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/builtin"
	"github.com/espalier-dev/espalier/schema"
)

// Kinds has the programs of kinds. Those of definitions and OpenAPI documents take precedence over
// built-in ones.
type Kinds struct {
	Release *builtin.Release // of the built-in kinds, or nil

	given, builtIn *schema.Catalog

	mu    sync.Mutex
	added map[string]error           // the groups and versions of builtIn
	known map[[2]string]schema.Entry // by apiVersion and kind
}

func newKinds(given *schema.Catalog, release *builtin.Release, opts []schema.Option) *Kinds {
	return &Kinds{
		Release: release, given: given, builtIn: schema.NewCatalog(opts...),
		added: map[string]error{}, known: entriesOf(given),
	}
}

func entriesOf(c *schema.Catalog) map[[2]string]schema.Entry {
	all := map[[2]string]schema.Entry{}
	for e := range c.All() {
		all[[2]string{e.APIVersion, e.Kind}] = e
	}
	return all
}

// Lookup returns the program of a kind. Its errors are those of [schema.Catalog.Lookup].
func (k *Kinds) Lookup(apiVersion, kind string) (*schema.Program, error) {
	program, err := k.given.Lookup(apiVersion, kind)
	var missing *schema.NotFoundError
	if k.Release == nil || !stderrors.As(err, &missing) || missing.NotServed {
		return program, err
	}
	k.mu.Lock()
	err = k.add(apiVersion)
	k.mu.Unlock()
	if err != nil {
		return nil, err
	}
	program, err = k.builtIn.Lookup(apiVersion, kind)
	if stderrors.As(err, new(*schema.NotFoundError)) {
		if missing.Versions == nil {
			missing.Versions = k.versions(builtin.GroupOf(apiVersion), kind)
		}
		return nil, missing
	}
	return program, err
}

// Entry returns the definition of a kind; of a built-in one it is that of an OpenAPI document.
func (k *Kinds) Entry(apiVersion, kind string) (schema.Entry, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := [2]string{apiVersion, kind}
	if _, ok := k.known[key]; !ok && k.add(apiVersion) != nil {
		return schema.Entry{}, false
	}
	e, ok := k.known[key]
	return e, ok
}

// IsBuiltIn reports whether a kind that was looked up is a built-in one.
func (k *Kinds) IsBuiltIn(apiVersion, kind string) bool {
	e, ok := k.Entry(apiVersion, kind)
	return ok && k.Release != nil && e.CRD.File == k.Release.Name()
}

// add adds the built-in kinds of a group and version. The caller holds k.mu.
func (k *Kinds) add(apiVersion string) error {
	if err, ok := k.added[apiVersion]; ok || k.Release == nil {
		return err
	}
	definitions, err := k.Release.Definitions(apiVersion)
	if err == nil {
		err = k.builtIn.Add(definitions...)
	}
	k.added[apiVersion] = err
	if len(definitions) > 0 && err == nil {
		k.known = entriesOf(k.builtIn)
		maps.Copy(k.known, entriesOf(k.given))
	}
	return err
}

// versions returns the versions of a kind in its group, sorted.
func (k *Kinds) versions(group, kind string) []string {
	versions := k.given.Versions(group, kind)
	for b := range k.Release.Kinds() {
		if b.Group() == group && b.Kind == kind {
			versions = append(versions, strings.TrimPrefix(b.APIVersion, group+"/"))
		}
	}
	slices.Sort(versions)
	return slices.Compact(versions)
}

// byGroup returns the kinds of each group, sorted.
func (k *Kinds) byGroup() map[string][]string {
	kinds := map[string][]string{}
	for e := range k.given.All() {
		kinds[e.CRD.Group] = append(kinds[e.CRD.Group], e.Kind)
	}
	for b := range k.Release.Kinds() {
		kinds[b.Group()] = append(kinds[b.Group()], b.Kind)
	}
	for group := range kinds {
		slices.Sort(kinds[group])
		kinds[group] = slices.Compact(kinds[group])
	}
	return kinds
}

// All returns the entries of a kind and an apiVersion; empty ones stand for all. Those of files
// come first, and each part is sorted by group.
func (k *Kinds) All(apiVersion, kind string) (entries []schema.Entry) {
	isMeant := func(inVersion, ofKind string) bool {
		return (kind == "" || ofKind == kind) && (apiVersion == "" || inVersion == apiVersion)
	}
	for e := range k.given.All() {
		if isMeant(e.APIVersion, e.Kind) {
			entries = append(entries, e)
		}
	}
	for b := range k.Release.Kinds() {
		if !isMeant(b.APIVersion, b.Kind) {
			continue
		}
		if k.IsBuiltIn(b.APIVersion, b.Kind) {
			e, _ := k.Entry(b.APIVersion, b.Kind)
			entries = append(entries, e)
		}
	}
	return entries
}
