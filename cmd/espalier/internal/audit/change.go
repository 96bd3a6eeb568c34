// Package audit says what a change of definitions does to objects that exist: which
// of their fields a server would no longer return, which values it would refuse,
// and which defaults it would add.
package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// A GroupKind names a definition: there is one for each in a cluster.
type GroupKind struct{ Group, Kind string }

// A Change is definitions and those that replace them.
type Change struct{ kinds map[GroupKind]*Kind }

// A Kind is a kind whose definition is replaced.
type Kind struct {
	GroupKind
	from, to *side
	// Same means that objects are treated alike by both definitions.
	Same bool
	// Webhook means that a webhook converts between versions. Then an object is taken for stored
	// in the version that it is read in.
	Webhook bool
}

// A side is a definition before or after the change.
type side struct {
	crd      *schema.CRD
	versions map[string]*version
}

// A version has the programs of a version of a definition. They are compiled when they are asked for.
type version struct {
	*schema.Version
	reads  func() (*schema.Program, error) // prunes and inserts defaults
	judges func() (*schema.Program, error) // has the rules for values
}

// New returns the change from definitions to others. Where there is no older one, nothing is known of
// what objects were before. rules compiles rules in CEL.
func New(from, to []*schema.CRD, rules validation.RuleCompiler) *Change {
	before, after := byKind(from), byKind(to)
	c := &Change{kinds: map[GroupKind]*Kind{}}
	for name, crd := range after {
		k := &Kind{GroupKind: name, Webhook: crd.ConversionWebhook, to: newSide(crd, rules)}
		if old := before[name]; old != nil {
			k.from = newSide(old, rules)
			k.Same = same(old, crd)
			k.Webhook = k.Webhook || old.ConversionWebhook
		}
		c.kinds[name] = k
	}
	for name, crd := range before {
		if c.kinds[name] != nil || after[name] != nil {
			continue
		}
		c.kinds[name] = &Kind{GroupKind: name, from: newSide(crd, rules)}
	}
	return c
}

func byKind(crds []*schema.CRD) map[GroupKind]*schema.CRD {
	all := map[GroupKind]*schema.CRD{}
	for _, crd := range crds {
		all[GroupKind{crd.Group, crd.Kind}] = crd
	}
	return all
}

// Kinds returns the kinds of the change, by their names.
func (c *Change) Kinds() []*Kind {
	return slices.SortedFunc(maps.Values(c.kinds), func(a, b *Kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.GroupKind.Kind, b.GroupKind.Kind))
	})
}

// Kind returns the kind of objects of an apiVersion and kind, or nil.
func (c *Change) Kind(group, kind string) *Kind { return c.kinds[GroupKind{group, kind}] }

// IsGone reports whether the definition has no successor.
func (k *Kind) IsGone() bool { return k.to == nil }

func newSide(crd *schema.CRD, rules validation.RuleCompiler) *side {
	s := &side{crd: crd, versions: map[string]*version{}}
	for i := range crd.Versions {
		v := &crd.Versions[i]
		program := func(opts ...schema.Option) func() (*schema.Program, error) {
			return sync.OnceValues(func() (*schema.Program, error) {
				p, err := crd.Program(v.Name, opts...)
				if err != nil {
					err = fmt.Errorf("%s: version %s: %w", crd.File, v.Name, err)
				}
				return p, err
			})
		}
		s.versions[v.Name] = &version{v, program(), program(validation.Values(rules))}
	}
	return s
}

// storage returns the name of the version in which objects are stored.
func (s *side) storage() string {
	for name, v := range s.versions {
		if v.Storage {
			return name
		}
	}
	return ""
}

// same reports whether two definitions treat objects alike.
func same(a, b *schema.CRD) bool {
	return a.PreserveUnknownFields == b.PreserveUnknownFields && a.ConversionWebhook == b.ConversionWebhook &&
		a.Scope == b.Scope && len(a.Versions) == len(b.Versions) &&
		!slices.ContainsFunc(a.Versions, func(v schema.Version) bool {
			return !slices.ContainsFunc(b.Versions, func(w schema.Version) bool { return sameVersion(&v, &w) })
		})
}

func sameVersion(a, b *schema.Version) bool {
	return a.Name == b.Name && a.Served == b.Served && a.Storage == b.Storage && a.HasStatus == b.HasStatus &&
		marshalled(a.Scale) == marshalled(b.Scale) && (a.Schema == nil) == (b.Schema == nil) &&
		(a.Schema == nil || a.Schema.Equal(b.Schema))
}

func marshalled(v any) string {
	text, _ := jsonv2.Marshal(v, jsonv2.Deterministic(true))
	return string(text)
}
