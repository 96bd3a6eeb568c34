package schemadiff

import (
	"cmp"
	stderrors "errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// This file compares what definitions say beside their schemas, and chooses which schemas are
// compared.

// A pair is two definitions of one name.
type pair struct {
	old, new *schema.CRD
	changes  []Change
}

func changes(old, updated *schema.CRD) []Change {
	p := pair{old: old, new: updated}
	switch {
	case old == nil:
		p.whole(Harmless, RuleDefinitionAdded, "the definition is new")
	case updated == nil:
		p.whole(Data, RuleDefinitionRemoved, "the definition is gone: if it is deleted, the server deletes all of its objects")
	default:
		p.names()
		p.refused()
		p.versions()
		p.storage()
	}
	return p.changes
}

// whole adds a change that is about no version.
func (p *pair) whole(severity Severity, rule, message string, at ...string) {
	p.changes = append(p.changes, Change{Severity: severity, Rule: rule, Message: message, Old: at, New: at})
}

// names compares the scope and the names, and what converts objects.
func (p *pair) names() {
	if p.old.Scope != p.new.Scope {
		p.whole(Client, RuleScope, became("the scope", p.old.Scope, p.new.Scope)+": the server refuses to change it, and objects have to be created again", "spec", "scope")
	}
	for _, n := range []struct {
		field, old, new string
		isFixed         bool
	}{
		{"kind", p.old.Kind, p.new.Kind, true},
		{"plural", p.old.Plural, p.new.Plural, true},
		{"listKind", p.old.ListKind, p.new.ListKind, false},
		{"singular", p.old.Singular, p.new.Singular, false},
	} {
		if n.old == n.new {
			continue
		}
		message := became(n.field, n.old, n.new) + ": clients that use the old name fail"
		if n.isFixed {
			message = became(n.field, n.old, n.new) + ": the server refuses to change it, and objects have to be created again"
		}
		p.whole(Client, RuleNames, message, "spec", "names", n.field)
	}
	switch {
	case p.old.ConversionWebhook == p.new.ConversionWebhook:
	case p.new.ConversionWebhook:
		p.whole(Caution, RuleConversion, "a webhook converts objects from version to version now, and what it does is not known here", "spec", "conversion")
	default:
		p.whole(Client, RuleConversion, "no webhook converts objects any more: they get another apiVersion, and lose fields that the other version does not have", "spec", "conversion")
	}
	if p.old.PreserveUnknownFields && !p.new.PreserveUnknownFields {
		p.whole(Data, RuleUnknownPruned, "fields that the schema does not declare are pruned now: objects lose them", "spec", "preserveUnknownFields")
	}
}

func became(what, old, updated string) string {
	return fmt.Sprintf("%s was %s and is %s", what, cmp.Or(old, "empty"), cmp.Or(updated, "empty"))
}

// stored returns the versions in which objects are stored, as far as the old definition says it.
func (p *pair) stored() []string {
	all := slices.Clone(p.old.StoredVersions)
	if v := storageOf(p.old); v != nil && !slices.Contains(all, v.Name) {
		all = append(all, v.Name)
	}
	return all
}

// storageOf returns the version in which objects are stored, or nil. As for the server, it is the
// first one that says so.
func storageOf(c *schema.CRD) *schema.Version {
	i := slices.IndexFunc(c.Versions, func(v schema.Version) bool { return v.Storage })
	if i < 0 {
		return nil
	}
	return &c.Versions[i]
}

func versionOf(c *schema.CRD, name string) (v *schema.Version, index int) {
	i := slices.IndexFunc(c.Versions, func(v schema.Version) bool { return v.Name == name })
	if i < 0 {
		return nil, len(c.Versions)
	}
	return &c.Versions[i], i
}

// versions compares the versions of one name, and their schemas.
func (p *pair) versions() {
	stored := p.stored()
	for i := range p.old.Versions {
		v := &p.old.Versions[i]
		w, _ := versionOf(p.new, v.Name)
		isStored := slices.Contains(stored, v.Name)
		if w != nil {
			p.version(v, w, isStored)
			continue
		}
		message := "the version is gone: requests for it fail"
		if isStored {
			message = "the version is gone, and objects are stored in it: the server refuses that"
		}
		p.add(v.Name, isStored, Client, RuleVersionRemoved, message)
	}
	for i := range p.new.Versions {
		w := &p.new.Versions[i]
		if v, _ := versionOf(p.old, w.Name); v != nil {
			continue
		}
		p.add(w.Name, false, Harmless, RuleVersionAdded, "the version is new")
		if from := storageOf(p.new); w.Served && from != nil && from != w && !p.new.ConversionWebhook {
			p.readAs(from, w)
		}
	}
}

// add adds a change of a version, which is not about its schema.
func (p *pair) add(version string, stored bool, severity Severity, rule, message string, below ...string) {
	c := Change{Severity: severity, Rule: rule, Version: version, Stored: stored, Message: message}
	c.Old = versionSteps(p.old, version, below...)
	c.New = versionSteps(p.new, version, below...)
	p.changes = append(p.changes, c)
}

// versionSteps returns what leads to a version of a definition.
func versionSteps(c *schema.CRD, version string, below ...string) []string {
	_, i := versionOf(c, version)
	return append([]string{"spec", "versions", strconv.Itoa(i)}, below...)
}

// version compares the versions of one name.
func (p *pair) version(v, w *schema.Version, stored bool) {
	add := func(severity Severity, rule, message string, below ...string) {
		p.add(v.Name, stored, severity, rule, message, below...)
	}
	switch {
	case v.Served && !w.Served:
		add(Client, RuleVersionUnserved, "the version is no longer served: requests for it fail", "served")
	case !v.Served && w.Served:
		add(Harmless, RuleVersionServed, "the version is served now", "served")
	}
	if !v.Deprecated && w.Deprecated {
		add(Caution, RuleVersionDeprecated, "the version is deprecated now: the server answers requests with a warning", "deprecated")
	}
	switch {
	case v.HasStatus && !w.HasStatus:
		add(Client, RuleStatusRemoved, "the status subresource is gone: requests for it fail", "subresources", "status")
	case !v.HasStatus && w.HasStatus && p.hasField(v, "status"):
		add(Client, RuleStatusAdded, "there is a status subresource now: other requests no longer change the status", "subresources", "status")
	}
	switch {
	case v.Scale != nil && w.Scale == nil:
		add(Client, RuleScaleRemoved, "the scale subresource is gone: requests for it fail", "subresources", "scale")
	case v.Scale == nil && w.Scale != nil:
		add(Harmless, RuleScaleAdded, "there is a scale subresource now", "subresources", "scale")
	case !reflect.DeepEqual(v.Scale, w.Scale):
		add(Caution, RuleScaleChanged, "the scale subresource has its values elsewhere", "subresources", "scale")
	}
	c := p.comparer(p.old, p.new, v, w)
	c.version, c.stored, c.served = v.Name, stored, w.Served
	p.changes = append(p.changes, c.run()...)
}

// hasField reports whether objects of an old version can have a field.
func (p *pair) hasField(v *schema.Version, name string) bool {
	_, ok := rootOf(p.old, v).member(name)
	return ok
}

// storage compares the schemas of two versions if objects that are stored in one are rewritten in
// the other. A webhook could do anything there.
func (p *pair) storage() {
	v, w := storageOf(p.old), storageOf(p.new)
	if v == nil || w == nil || v.Name == w.Name {
		return
	}
	message := fmt.Sprintf("objects are stored in this version now, and were in %s: ", v.Name)
	if p.new.ConversionWebhook {
		p.add(w.Name, true, Caution, RuleStorage, message+"a webhook converts them", "storage")
		return
	}
	p.add(w.Name, true, Caution, RuleStorage, message+"no webhook converts them, and when they are next written they lose what the version does not have", "storage")
	c := p.comparer(p.old, p.new, v, w)
	c.version, c.from, c.stored, c.served = w.Name, v.Name, true, true
	p.changes = append(p.changes, slices.DeleteFunc(c.run(), func(one Change) bool {
		return slices.ContainsFunc(p.changes, func(other Change) bool {
			return other.Version == v.Name && other.Rule == one.Rule && slices.Equal(other.Path, one.Path)
		})
	})...)
}

// readAs adds what objects lack that are stored in one version and read in another, which is new.
func (p *pair) readAs(stored, w *schema.Version) {
	c := p.comparer(p.new, p.new, stored, w)
	c.version, c.from, c.served = w.Name, stored.Name, true
	p.changes = append(p.changes, slices.DeleteFunc(c.run(), func(one Change) bool {
		return !slices.Contains([]string{RuleFieldRemoved, RuleUnknownPruned, RuleType, RuleFieldSpecified}, one.Rule)
	})...)
}

// comparer returns a comparer of the schemas of two versions.
func (p *pair) comparer(old, updated *schema.CRD, v, w *schema.Version) *comparer {
	c := &comparer{old: rootOf(old, v), new: rootOf(updated, w), left: maxSteps}
	if !c.new.all {
		c.old.all = false // that pruning begins is a change of the definition
	}
	return c
}

// rootOf returns the node of the objects of a version.
func rootOf(c *schema.CRD, v *schema.Version) node {
	s := v.Schema
	if s == nil {
		s = &schema.Structural{Type: "object"}
	}
	at := versionSteps(c, v.Name, "schema", "openAPIV3Schema")
	return node{s: s, isResource: true, all: c.PreserveUnknownFields, at: &steps{names: at}}
}

// refused adds why the server refuses the update, except for reasons for which it refuses the old
// definition already, and those that other changes name.
func (p *pair) refused() {
	known := map[string]bool{"spec.scope": true, "spec.names.kind": true, "spec.names.plural": true}
	faults := updateErrors(p.new, p.old)
	if len(faults) == 0 {
		return
	}
	before := map[string]bool{}
	for _, fault := range updateErrors(p.old, p.old) {
		before[fault.Error()] = true
	}
	for _, fault := range faults {
		isStored := strings.HasPrefix(fault.Field, "status.storedVersions")
		if before[fault.Error()] || known[fault.Field] || isStored {
			continue
		}
		p.whole(Client, RuleRefused, "the server refuses the definition: "+fault.Error(), locate.SchemaSteps(fault.Field)...)
	}
}

// updateErrors returns why the server refuses an update of a definition.
func updateErrors(c, old *schema.CRD) (all []*errors.SchemaError) {
	var faults errors.SchemaErrors
	stderrors.As(validation.Update(c, old), &faults)
	all = append(all, faults...)
	for _, fault := range cel.Definition(c, old) {
		all = append(all, &fault.SchemaError)
	}
	return all
}
