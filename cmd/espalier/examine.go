package main

import (
	"bytes"
	stderrors "errors"
	"io"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
)

// settings say how objects are decoded, and what is reported of them. They are
// shared by all workers.
type settings struct {
	*schemas
	validation    decoder.FieldValidation
	ignoreMissing bool
	skipKinds     []string // kinds, or apiVersion/kind
	// checks says that findings are what is wanted, and no results: duplicates are
	// reported of objects without a schema, too, and nulls that are dropped.
	checks bool
	// all says that findings are kept that are not reported, as many as there are.
	all bool
	// explains says that values of wrong types do not keep an object from having a result.
	explains bool
	sources  bool // findings have the lines that they are in
	names    bool // objects have their names, also where nothing is found
}

// An examiner decodes objects. Each worker has one.
type examiner struct {
	*settings
	reader   reader
	decoders map[*schema.Program]*decoder.Decoder
	advice   map[adviceKey]adviceText
	formats  map[*schema.Program]*schema.Structural
	out      []byte
}

func newExaminer(s *settings) *examiner {
	return &examiner{settings: s, decoders: map[*schema.Program]*decoder.Decoder{}, advice: map[adviceKey]adviceText{}, formats: map[*schema.Program]*schema.Structural{}}
}

// An object is what came of one document, of an item of a List, or of what is
// around the items of one.
type object struct {
	verdict
	doc     document
	program *schema.Program  // it was decoded with
	decoder *decoder.Decoder // that has its findings
	result  []byte           // valid until the next object; nil where there is none
	items   []document       // of a List
	// mismatches are the values of wrong types of an object that is explained.
	mismatches errors.List
}

// input examines all documents of an input. An error of the input itself becomes a
// verdict. It ends where visit says no.
func (e *examiner) input(name string, in io.Reader, visit func(*object) bool) {
	for doc, err := range e.reader.documents(name, in) {
		if err != nil {
			o := &object{doc: doc}
			o.document, o.start = doc.number, doc.start
			e.refuse(o, err, inFile)
			if !visit(o) {
				return
			}
			continue
		}
		if !e.document(doc, true, visit) {
			return
		}
	}
}

// document examines one document, or the items of a List where it may be one.
func (e *examiner) document(doc document, mayBeList bool, visit func(*object) bool) bool {
	o := &object{doc: doc}
	o.document, o.start = doc.number, doc.start
	apiVersion, kind, err := decoder.PeekType(doc.json)
	o.apiVersion, o.kind = apiVersion, kind
	isNone := err != nil && stderrors.As(err, new(*errors.TypeError)) // no object of Kubernetes
	if (err == nil || isNone) && e.refuseSecond(o) {
		return visit(o)
	}
	if e.ignoreMissing && isNone {
		o.skipped = true
		e.decode(o, e.anything)
		return visit(o)
	}
	if err != nil {
		e.refuse(o, err, doc.locate)
		return visit(o)
	}
	if e.skips(apiVersion, kind) {
		o.skipped = true
		e.decode(o, e.anything)
		return visit(o)
	}
	program, err := e.catalog.Lookup(apiVersion, kind)
	if stderrors.As(err, new(*schema.NotFoundError)) {
		if mayBeList && strings.HasSuffix(kind, "List") {
			if items, ok := doc.items(); ok {
				return e.list(o, items, visit)
			}
		}
		e.withoutSchema(o, err)
		return visit(o)
	}
	if err != nil {
		e.refuse(o, err, doc.locate)
	} else {
		e.decode(o, program)
	}
	return visit(o)
}

// withoutSchema examines an object for which there is no schema.
func (e *examiner) withoutSchema(o *object, notFound error) {
	switch {
	case e.checks && isDefinition(o.apiVersion, o.kind):
		o.partial = isPartial(o.doc.json)
		if o.partial || o.apiVersion != "apiextensions.k8s.io/v1" {
			e.decode(o, e.anything)
		} else {
			e.decode(o, e.definition)
		}
	case e.ignoreMissing && !e.nearMiss(o.apiVersion, o.kind).known:
		o.skipped = true
		e.decode(o, e.anything)
	case e.checks:
		if e.decode(o, e.anything); o.result != nil {
			e.refuse(o, notFound, o.doc.locate)
		}
	default:
		e.refuse(o, notFound, o.doc.locate)
	}
}

// errMissingType is reported of what is no object of Kubernetes.
var errMissingType = stderrors.New("object has no apiVersion or no kind")

func (e *examiner) skips(apiVersion, kind string) bool {
	return slices.Contains(e.skipKinds, kind) || slices.Contains(e.skipKinds, apiVersion+"/"+kind)
}

// decode decodes an object and notes what is found.
func (e *examiner) decode(o *object, program *schema.Program) {
	o.program, o.decoder = program, e.decoder(program)
	var err error
	e.out, err = o.decoder.AppendJSON(e.out[:0], o.doc.json)
	switch {
	case err == nil || stderrors.As(err, new(*errors.StrictError)):
		o.result = e.out
		e.note(o, program, o.decoder.Findings(), o.decoder.Omitted())
		e.checkFormats(o)
	case e.checks && stderrors.As(err, new(*errors.TypeError)):
		o.result = []byte{}
		e.note(o, program, e.withinMismatches(o, o.decoder.Findings()), o.decoder.Omitted())
		e.checkFormats(o)
	case e.explains && stderrors.As(err, new(*errors.TypeError)):
		e.decodeAnyTypes(o, slices.Clone(o.decoder.Findings()), err)
	default:
		e.refuse(o, err, o.doc.locate)
	}
}

// decodeAnyTypes makes a result of an object with values of wrong types: as if nobody looked
// at types, and, where they are looked at in any case, with nulls in the place of the values.
func (e *examiner) decodeAnyTypes(o *object, typed errors.List, refusal error) {
	catalog, err := e.untyped()
	if err == nil {
		o.program, err = catalog.Lookup(o.apiVersion, o.kind)
	}
	if err != nil {
		e.refuse(o, err, o.doc.locate)
		return
	}
	o.decoder = e.decoder(o.program)
	e.out, err = o.decoder.AppendJSON(e.out[:0], o.doc.json)
	var mismatch *errors.TypeError
	if stderrors.As(err, &mismatch) {
		e.out, err = o.decoder.AppendJSON(e.out[:0], withNulls(o.doc.json, mismatch.Findings))
	}
	if err != nil && !stderrors.As(err, new(*errors.StrictError)) {
		e.refuse(o, refusal, o.doc.locate)
		return
	}
	o.result = e.out
	o.mismatches = slices.DeleteFunc(typed, func(f errors.Finding) bool { return f.Kind != errors.TypeMismatch })
	if mismatch == nil { // positions are those in the document
		e.note(o, o.program, o.decoder.Findings(), o.decoder.Omitted())
	}
}

// withNulls returns a JSON text with nulls in the place of the values that are of wrong types.
func withNulls(js []byte, wrong errors.List) []byte {
	var out []byte
	from := 0
	for i := range wrong {
		at := int(wrong[i].Position.Offset)
		if at < from {
			continue // it is within the one before
		}
		d := jsonv2.NewDecoder(bytes.NewReader(js[at:]), jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
		if d.SkipValue() != nil {
			continue
		}
		out = append(append(out, js[from:at]...), "null"...)
		from = at + int(d.InputOffset())
	}
	return append(out, js[from:]...)
}

// withinMismatches returns what is found in an object with values of wrong types: pruning
// does not look at types.
func (e *examiner) withinMismatches(o *object, typed errors.List) errors.List {
	catalog, err := e.untyped()
	if err != nil {
		return typed
	}
	program, err := catalog.Lookup(o.apiVersion, o.kind)
	if err != nil {
		return typed
	}
	d := e.decoder(program)
	if _, err := d.AppendJSON(nil, o.doc.json); err != nil && !stderrors.As(err, new(*errors.StrictError)) {
		return typed
	}
	all := slices.DeleteFunc(slices.Clone(typed), func(f errors.Finding) bool { return f.Kind != errors.TypeMismatch })
	wrong := map[errors.Path]bool{}
	for i := range all {
		wrong[all[i].Path] = true
	}
	for _, f := range d.Findings() {
		// What a value of the wrong type holds is not declared, and no mistake of its own.
		if f.Kind != errors.UnknownField || len(wrong) == 0 || !isBelow(f.Path, wrong) {
			all = append(all, f)
		}
	}
	return all
}

// isBelow reports whether a path leads into one of others.
func isBelow(path errors.Path, others map[errors.Path]bool) bool {
	var at errors.Path
	for s := range path.Segments() {
		if s.Gap > 0 {
			return false
		}
		if at = below(at, s); others[at] && at != path {
			return true
		}
	}
	return false
}

// list examines what is around the items of a List, and then these. That the whole
// is JSON is known.
func (e *examiner) list(o *object, items []document, visit func(*object) bool) bool {
	o.isList, o.items = true, items
	// Of the List itself, and not of its items, which are looked at one by one.
	o.decoder = e.decoder(e.envelope)
	if _, err := o.decoder.AppendJSON(nil, o.doc.json); err != nil && !stderrors.As(err, new(*errors.StrictError)) {
		e.refuse(o, err, o.doc.locate)
		return visit(o)
	}
	found := slices.DeleteFunc(slices.Clone(o.decoder.Findings()), func(f errors.Finding) bool {
		return f.Path.IsWithin(errors.Path{}.Child("items"))
	})
	e.note(o, e.envelope, found, 0)
	if !visit(o) {
		return false
	}
	for _, item := range items {
		if !e.document(item, false, visit) {
			return false
		}
	}
	return true
}

func (e *examiner) decoder(program *schema.Program) *decoder.Decoder {
	d := e.decoders[program]
	if d == nil {
		validation, limits := e.validation, decoder.Limits{}
		if e.all {
			// What is found is what is removed, whether it is reported or not.
			limits.Findings, limits.FindingBytes = maxRemoved, maxRemovedBytes
			if validation == decoder.Ignore {
				validation = decoder.Warn
			}
		}
		d = decoder.New(program, validation, limits, decoder.Compact(!e.checks), decoder.ReportDroppedNulls(e.checks))
		e.decoders[program] = d
	}
	return d
}
