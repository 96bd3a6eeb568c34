package audit

// This file says what a change does to one object. It does what a server does: an object is stored
// in the storage version of the old definition. The server reads it by the schema of that version
// in the new definition, inserts its defaults, changes apiVersion to the version that is asked for,
// and prunes by the schema of that one.

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"slices"
	"sync"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
)

// An EffectKind says what happens to an object or to a value in it.
type EffectKind uint8

const (
	// Lost is a field that a server does not return any more.
	Lost EffectKind = iota + 1
	// Refused is a value that the server refuses, and did not refuse before.
	Refused
	// Unreadable is an object that the server can no longer read, as its definition is gone, or does
	// not have the version in which it is stored.
	Unreadable
	// NotServed is an object of a version that the server does not serve any more.
	NotServed
	// Defaulted is a field with another value, which comes from a default.
	Defaulted
)

// An Effect is what happens to a value.
type Effect struct {
	Kind EffectKind
	Path errors.Path
	// Old and New are the values, as JSON; nil stands for none.
	Old, New []byte
	// Of a value that is refused: the server's text, and whether an update may keep it.
	Why     *errors.ValueError
	MayStay bool
	// Created means that only objects are affected that are created from then on.
	Created bool
}

// An Auditor applies a change to objects, one at a time.
type Auditor struct {
	decoders map[decoderKey]*decoder.Decoder
}

type decoderKey struct {
	program *schema.Program
	mode    decoder.ServerMode
	values  decoder.ValueValidation
}

// NewAuditor returns an auditor. It serves one goroutine.
func NewAuditor() *Auditor { return &Auditor{map[decoderKey]*decoder.Decoder{}} }

// limits are so large that an auditor knows all refusals of an object, but for hostile ones.
var limits = decoder.Limits{Findings: 10_000, FindingBytes: 16 << 20}

// Object returns what the change does to an object of the kind, which has the version. isStored
// means that a server has returned the object; else it is what somebody applies, and the effects are
// those on the object that comes of it.
func (a *Auditor) Object(k *Kind, version string, js []byte, isStored bool) ([]Effect, error) {
	switch {
	case k.from == nil:
		return a.present(k, version, js)
	case k.to == nil:
		return []Effect{{Kind: Unreadable}}, nil
	}
	if k.from.versions[version] == nil {
		return nil, fmt.Errorf("the old definition has no version %s", version)
	}
	in := version // in which it is stored
	if !k.Webhook {
		in = k.from.storage()
	}
	bytes, err := a.write(k.from, version, in, js, isStored)
	if err != nil {
		return nil, err
	}
	var effects []Effect
	switch v := k.to.versions[version]; {
	case k.to.versions[in] == nil:
		return []Effect{{Kind: Unreadable}}, nil
	case v == nil || !v.Served:
		effects = append(effects, Effect{Kind: NotServed})
		version = in
	}
	before, err := a.read(k.from, in, version, bytes)
	if err != nil {
		return nil, err
	}
	after, err := a.read(k.to, in, version, bytes)
	if err != nil {
		return nil, err
	}
	effects = differences(effects, before, after)
	if !isStored {
		if k.from.versions[version].HasStatus {
			effects = slices.DeleteFunc(effects, func(e Effect) bool { return e.Path.IsWithin(status) })
		}
		if effects, err = a.created(effects, k, version, after, js); err != nil {
			return nil, err
		}
	}
	return a.refused(effects, k, version, before, after)
}

// status is where no manifest has a say, if it is a subresource.
var status = errors.Path{}.Child("status")

// present returns what is wrong with an object by a definition of which no older one is known.
func (a *Auditor) present(k *Kind, version string, js []byte) ([]Effect, error) {
	v := k.to.versions[version]
	if v == nil {
		return []Effect{{Kind: Unreadable}}, nil
	}
	var effects []Effect
	if !v.Served {
		effects = append(effects, Effect{Kind: NotServed})
	}
	before, err := a.decode(anything, decoder.ServerStorage, js)
	if err != nil {
		return nil, err
	}
	after, err := a.read(k.to, version, version, before)
	if err != nil {
		return nil, err
	}
	return a.refused(differences(effects, before, after), k, version, nil, after)
}

// anything is the program for objects of which nothing is known.
var anything = sync.OnceValues(func() (*schema.Program, error) {
	preserve := true
	return schema.Compile(&schema.Structural{Type: "object", XPreserveUnknownFields: &preserve})
})

// write returns what a server stores in a version for an object of another one.
func (a *Auditor) write(s *side, version, in string, js []byte, isStored bool) ([]byte, error) {
	mode := decoder.ServerRequests
	switch {
	case isStored && in == version:
		mode = decoder.ServerStorage
	case isStored:
		mode = decoder.ServerUnconverted
	}
	v := s.versions[version]
	js, err := a.decode(v.reads, mode, js)
	if err == nil && !isStored && v.HasStatus {
		js, err = withoutStatus(js)
	}
	if err != nil || in == version {
		return js, err
	}
	return a.convert(s, in, js)
}

// read returns what a server returns in a version for an object that is stored in another one.
func (a *Auditor) read(s *side, in, version string, js []byte) ([]byte, error) {
	if in == version {
		return a.decode(s.versions[in].reads, decoder.ServerStorage, js)
	}
	js, err := a.decode(s.versions[in].reads, decoder.ServerUnconverted, js)
	if err != nil {
		return nil, err
	}
	return a.convert(s, version, js)
}

// convert does what a server does without a webhook.
func (a *Auditor) convert(s *side, to string, js []byte) ([]byte, error) {
	js, err := withMember(js, "apiVersion", s.crd.Group+"/"+to)
	if err != nil {
		return nil, err
	}
	return a.decode(s.versions[to].reads, decoder.ServerConversions, js)
}

func (a *Auditor) decode(program func() (*schema.Program, error), mode decoder.ServerMode, js []byte) ([]byte, error) {
	p, err := program()
	if err != nil {
		return nil, err
	}
	out, err := a.decoder(p, mode, decoder.AcceptValues).AppendJSON(nil, js)
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (a *Auditor) decoder(p *schema.Program, mode decoder.ServerMode, values decoder.ValueValidation) *decoder.Decoder {
	key := decoderKey{p, mode, values}
	d := a.decoders[key]
	if d == nil {
		d = decoder.New(p, decoder.Ignore, mode, values, decoder.Compact(true), limits)
		a.decoders[key] = d
	}
	return d
}

// created adds the defaults that an object gets if it is created after the change, and that differ
// from those that it would have got before.
func (a *Auditor) created(effects []Effect, k *Kind, version string, after, sent []byte) ([]Effect, error) {
	in := version
	if !k.Webhook {
		in = k.to.storage()
	}
	if k.to.versions[in] == nil {
		return effects, nil
	}
	js, err := a.write(k.to, version, in, sent, false)
	if err != nil {
		return nil, err
	}
	if js, err = a.read(k.to, in, version, js); err != nil {
		return nil, err
	}
	for _, e := range differences(nil, after, js) {
		if e.Kind == Defaulted && e.Old != nil && !locate.Has(sent, Steps(e.Path)) {
			e.Created = true
			effects = append(effects, e)
		}
	}
	return effects, nil
}

// Steps returns the steps of a path.
func Steps(path errors.Path) (steps []locate.Step) {
	for s := range path.Segments() {
		if s.IsName {
			steps = append(steps, locate.Field(s.Name))
		} else {
			steps = append(steps, locate.Element(s.Index))
		}
	}
	return steps
}

// refused adds the values that the server refuses after the change, and not before. before is nil if
// nothing is known of that.
func (a *Auditor) refused(effects []Effect, k *Kind, version string, before, after []byte) ([]Effect, error) {
	now, err := a.judge(k.to.versions[version], decoder.ValidateCreate, after, nil)
	if err != nil || len(now) == 0 {
		return effects, err
	}
	var was errors.List
	if before != nil {
		if was, err = a.judge(k.from.versions[version], decoder.ValidateCreate, before, nil); err != nil {
			return nil, err
		}
	}
	onUpdate, err := a.judge(k.to.versions[version], decoder.ValidateUpdate, after, after)
	if err != nil {
		return nil, err
	}
	known, stays := refusals(was), refusals(onUpdate)
	for i := range now {
		f := &now[i]
		if !known[refusalOf(f)] && !finding.IsConsequence(f.Invalid) {
			effects = append(effects, Effect{Kind: Refused, Path: f.Path, Why: f.Invalid, MayStay: !stays[refusalOf(f)]})
		}
	}
	return effects, nil
}

// judge returns the invalid values of an object.
func (a *Auditor) judge(v *version, as decoder.ValueValidation, js, old []byte) (errors.List, error) {
	p, err := v.judges()
	if err != nil {
		return nil, err
	}
	d := a.decoder(p, decoder.ServerStorage, as)
	if old != nil {
		d.SetOld(old)
	}
	_, err = d.AppendJSON(nil, js)
	if err != nil && !stderrors.As(err, new(*errors.InvalidError)) {
		return nil, err
	}
	var list errors.List
	for _, f := range d.Findings() {
		if f.Kind == errors.InvalidValue {
			list = append(list, f)
		}
	}
	return list, nil
}

// A refusal is what tells a refused value from others.
type refusal struct {
	path errors.Path
	rule string
}

func refusalOf(f *errors.Finding) refusal { return refusal{f.Path, f.Invalid.Rule} }

func refusals(list errors.List) map[refusal]bool {
	all := map[refusal]bool{}
	for i := range list {
		all[refusalOf(&list[i])] = true
	}
	return all
}

// withMember returns an object with another value for a member that is a text.
func withMember(js []byte, name, value string) ([]byte, error) {
	text, err := jsonv2.Marshal(value)
	if err != nil {
		return nil, err
	}
	return editMember(js, name, text)
}

// withoutStatus returns an object without its status.
func withoutStatus(js []byte) ([]byte, error) { return editMember(js, "status", nil) }

// editMember replaces the value of a member of an object, or removes the member if there is no other
// value. What is not there stays so.
func editMember(js []byte, name string, value []byte) ([]byte, error) {
	d := jsonv2.NewDecoder(bytes.NewReader(js), jsonv2.AllowInvalidUTF8(true), jsonv2.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	out, end := make([]byte, 0, len(js)+len(value)), 0
	for d.PeekKind() == '"' {
		start := int(d.InputOffset())
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		is := token.String() == name
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		if !is {
			continue
		}
		at := int(d.InputOffset())
		if value != nil {
			out = append(append(out, js[end:at-len(v)]...), value...)
		} else {
			out = append(out, js[end:start]...)
		}
		end = at
	}
	out = append(out, js[end:]...)
	if bytes.HasPrefix(out, []byte("{,")) { // the first member was removed
		out = append(out[:1], out[2:]...)
	}
	return out, nil
}
