package validation

import (
	"maps"
	"math"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// HasRules is the method of program.Validator.
func (v *validator) HasRules() bool { return v.rules != nil }

// Evaluate is the method of program.Validator.
func (v *validator) Evaluate(
	object, old []byte, as program.Request, charge func(bytes int),
) (list []program.Error) {
	e := evaluation{v, v.scope(as), as&program.AsSent != 0, charge}
	r := e.request(object, old)
	if r == nil {
		return nil
	}
	for _, fault := range v.rules.Evaluate(r) {
		list = append(list, program.Error{
			Path: fault.Path,
			ValueError: errors.ValueError{
				Kind: fault.Kind, Rule: rulesKeyword,
				Field: fault.Field, Value: fault.Value, Msg: fault.Msg,
				RuleIndex: fault.Index, RuleDepth: fault.Depth,
			},
			IsOld: old != nil && v.kind.IsOld(e.scope, fault.Path),
		})
	}
	return list
}

const rulesKeyword = "x-kubernetes-validations"

// An evaluation makes what rules are evaluated for.
type evaluation struct {
	*validator
	scope  validate.Scope
	asSent bool
	charge func(bytes int)
}

// request returns nil if nothing of the object is read.
func (e *evaluation) request(object, old []byte) *RuleRequest {
	if old == nil {
		x := e.settled(object, nil, e.self)
		if x == nil {
			return nil
		}
		return &RuleRequest{Object: x}
	}
	self, oldSelf := *e.self, *e.oldSelf
	self.Within, oldSelf.Within = false, false // both objects are there
	r := &RuleRequest{Object: e.settled(object, old, &self)}
	r.Old = e.stored(old, &oldSelf, r.Object)
	of := *e // which is on the heap, and e is not
	r.Whole = func() (any, any) {
		x := of.settled(object, old, whole)
		return x, of.stored(old, whole, x)
	}
	return r
}

// stored returns the selected parts of the stored object. That has a namespace on a server; a
// manifest may leave it out, as the object that replaces it may.
func (e *evaluation) stored(old []byte, s *Selection, object any) any {
	x := e.built(old, s)
	namespace, ok := metadataOf(object)["namespace"]
	if meta := metadataOf(x); ok && meta != nil && meta["namespace"] == nil {
		meta["namespace"] = namespace
	}
	return x
}

// compile compiles the rules of a schema.
func (v *validator) compile(s *schema.Structural, by RuleCompiler) {
	if v.rules = by.CompileRules(s, v.isResource); v.rules == nil {
		return
	}
	self, oldSelf := v.rules.Selections()
	v.self, v.oldSelf = v.withNames(self), v.withNames(oldSelf)
}

// withNames returns a selection with what the name of an object is made of, if metadata is read.
func (v *validator) withNames(s *Selection) *Selection {
	if s == nil {
		return &Selection{} // there is always an object
	}
	meta := s.member([]byte("metadata"))
	if !v.isResource || !meta.selects() || meta.All {
		return s
	}
	names := *meta
	names.Members = map[string]*Selection{"name": {}, "generateName": {}}
	maps.Copy(names.Members, meta.Members)
	own := *s
	own.Members = maps.Clone(s.Members)
	if own.Members == nil {
		own.Members = make(map[string]*Selection)
	}
	own.Members["metadata"] = &names
	return &own
}

// built returns the selected parts of a value.
func (e *evaluation) built(text []byte, s *Selection) any {
	x := s.built(text, e.charge)
	if e.asSent && x != nil {
		x = validate.Settle(e.kind, e.scope, nil, x)
	}
	return x
}

// settled returns the selected parts of an object as the server has it when it evaluates rules.
func (e *evaluation) settled(object, old []byte, s *Selection) any {
	ofNew, ofOld := s, s
	if old != nil && s != whole {
		ofNew, ofOld = e.parts(s)
	}
	x := e.built(object, ofNew)
	fields, isObject := x.(map[string]any)
	if !e.isResource || !isObject {
		return x
	}
	was, _ := e.built(old, ofOld).(map[string]any)
	steps := math.MaxInt
	settled := e.kind.Settled(e.scope, fields, was, &steps)
	meta, isUpdate := metadataOf(settled), e.scope == validate.OfUpdate
	isRead := s.member([]byte("metadata")).member([]byte("generation")) != nil
	if meta != nil && s != whole && isUpdate && isRead {
		// It depends on whether anything has changed.
		generation := metadataOf(e.settled(object, old, whole))["generation"]
		if meta["generation"] = generation; generation == nil {
			delete(meta, "generation")
		}
	}
	return settled
}

func metadataOf(object any) map[string]any {
	members, _ := object.(map[string]any)
	meta, _ := members["metadata"].(map[string]any)
	return meta
}

// parts divides a selection into what the server takes from the new object of an update, and what it
// takes from the stored one.
func (e *evaluation) parts(s *Selection) (ofNew, ofOld *Selection) {
	alone := &Selection{Members: map[string]*Selection{"status": s.member([]byte("status"))}}
	switch e.scope {
	case validate.OfUpdate:
		alone.Members["metadata"] = s.member([]byte("metadata"))
		return s, alone
	case validate.OfStatusUpdate:
		return alone, s
	}
	return s, nil
}
