package examine

// This file compares objects with the old state: each replaces the object that has its group, kind,
// namespace and name there.

import (
	stderrors "errors"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/stored"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
)

// Old is the old state.
type Old struct {
	stored.Objects
	// Key returns what tells which file of the new state is which one of the old state.
	Key func(name string) string
	// Catalog prunes and defaults old objects as a server does when it reads what it has stored: it
	// accepts all types and values.
	Catalog *schemas.Kinds
}

// ForOld returns the settings to read the old state with.
func (s *Settings) ForOld() *Settings {
	return &Settings{
		Loaded: s.Loaded, Validation: decoder.Ignore, IgnoreMissing: true, SkipKinds: s.SkipKinds,
		Old: s.Old, isOld: true, Layout: s.Layout,
	}
}

// catalog returns the catalog for the objects that are read.
func (s *Settings) catalog() *schemas.Kinds {
	if s.isOld {
		return s.Old.Catalog
	}
	return s.Kinds
}

// programs are where the program of a kind is looked up.
type programs interface {
	Lookup(apiVersion, kind string) (*schema.Program, error)
}

// untyped returns the programs without type checks for the object that is read.
func (e *Examiner) untyped() (programs, error) {
	if e.rival != nil {
		return e.rival.Untyped()
	}
	return e.Untyped()
}

// Entry returns the entry of the kind of the object that is read.
func (e *Examiner) Entry(apiVersion, kind string) (schema.Entry, bool) {
	if e.rival != nil {
		return e.rival.Entry(apiVersion, kind)
	}
	return e.Settings.Entry(apiVersion, kind)
}

// IsStored reports whether an object of the old state can be compared with new ones.
func (e *Examiner) IsStored(o *Object) bool {
	switch {
	case o.Result == nil || o.IsList:
		return false
	case isDefinition(o.APIVersion, o.Kind):
		if isPartial(o.Result) {
			return false
		}
	case o.Skipped || !e.hasValueRules(o):
		return false
	}
	o.Namespace, o.Name = locate.ObjectName(o.Doc.JSON)
	return true
}

// oldDefinition returns the definition that a new one replaces, or nil.
func (e *Examiner) oldDefinition(o *Object, crd *schema.CRD) *schema.CRD {
	if e.Old == nil {
		old := e.OldDefinitions[crd.Name]
		o.Compared = old != nil
		return old
	}
	of := finding.Identity{APIVersion: o.APIVersion, Kind: o.Kind, Name: crd.Name}
	old, err := e.Old.Find(of, e.Old.Key(e.file))
	if err != nil {
		e.notCompared(o, err.Error())
	}
	if old == nil {
		return nil
	}
	crds, err := schema.ParseCRD(old.JSON)
	if err != nil || len(crds) != 1 {
		why := old.Place().String() + " is no definition"
		if syntax := (*errors.SyntaxError)(nil); stderrors.As(err, &syntax) {
			why += ": " + placeless(syntax)
		}
		e.notCompared(o, why)
		return nil
	}
	o.Compared = true
	return crds[0]
}

// findOld sets the object that a new one replaces, if there is one and the server's answer depends
// on it.
func (e *Examiner) findOld(o *Object, program *schema.Program) {
	if e.Old == nil || e.isOld || e.valueValidation(o, program) == decoder.AcceptValues {
		return
	}
	of := o.Identity
	of.Namespace, of.Name = locate.ObjectName(o.Doc.JSON)
	old, err := e.Old.Find(of, e.Old.Key(e.file))
	if err != nil {
		e.notCompared(o, err.Error())
		return
	}
	if old == nil {
		return
	}
	if o.Old = old; old.APIVersion != o.APIVersion {
		e.convertOld(o)
	}
	o.Compared = o.Old != nil
}

// convertOld converts the old object to the version of the new one. Without a webhook the server
// changes nothing but apiVersion, and prunes and defaults again.
func (e *Examiner) convertOld(o *Object) {
	old := o.Old
	o.Old = nil
	entry, _ := e.Entry(o.APIVersion, o.Kind)
	if entry.CRD.ConversionWebhook {
		e.notCompared(o, "a webhook converts "+old.Place().String()+" to this version")
		return
	}
	program, err := e.Old.Catalog.Lookup(o.APIVersion, o.Kind)
	if err != nil {
		e.notCompared(o, err.Error())
		return
	}
	d := decoder.New(program, decoder.Ignore, decoder.Compact(true))
	js, err := d.AppendJSON(nil, withAPIVersion(old.JSON, o.APIVersion))
	if !isComplete(err) {
		e.notCompared(o, err.Error())
		return
	}
	converted := *old
	converted.APIVersion, converted.JSON = o.APIVersion, js
	o.Old = &converted
}

// withAPIVersion returns an object with another apiVersion.
func withAPIVersion(js []byte, apiVersion string) []byte {
	var members map[string]jsonv2.Value
	if jsonv2.Unmarshal(js, &members, jsonv2.AllowInvalidUTF8(true)) != nil {
		return js
	}
	members["apiVersion"], _ = jsonv2.Marshal(apiVersion)
	js, _ = jsonv2.Marshal(members, jsonv2.Deterministic(true), jsonv2.AllowInvalidUTF8(true))
	return js
}

// notCompared warns that an object is validated as a new one.
func (e *Examiner) notCompared(o *Object, why string) {
	e.add(o, finding.Finding{
		Severity: finding.Warning, Rule: finding.RuleOld,
		Message: "not compared with the old object, and validated as a new one: " + why, At: o.Start,
	}, inFile, "")
}

// ofCreate counts what the server would say of an object if it created it. What it says beyond that
// comes from the comparison with the old one.
func (e *Examiner) ofCreate(o *Object, program *schema.Program) map[string]int {
	count := map[string]int{}
	d := e.decoder(o, program, false)
	_, _ = d.AppendJSON(nil, o.Doc.JSON)
	for _, f := range d.Findings() {
		if f.Kind == errors.InvalidValue {
			count[f.Invalid.Error()]++
		}
	}
	return count
}
