// Package examine decodes the documents of an input and says what is found in
// each of them. It reads inputs and changes nothing; whether a finding is an
// error, a reason to edit a file or part of an explanation is for its callers.
package examine

import (
	"bytes"
	stderrors "errors"
	"io"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
)

// Settings say how objects are decoded, and what is reported of them. They are
// shared by all workers.
type Settings struct {
	*schemas.Loaded
	Validation    decoder.FieldValidation
	IgnoreMissing bool
	SkipKinds     []string // kinds, or apiVersion/kind
	// Check says that findings are what is wanted, and no results: duplicates are
	// reported of objects without a schema, too, and nulls that are dropped.
	Check bool
	// KeepAll says that findings are kept that are not reported, as many as there are.
	KeepAll bool
	// Explain says that values of wrong types do not keep an object from having a result.
	Explain bool
	Sources bool // findings have the lines that they are in
	Names   bool // objects have their names, also where nothing is found
}

// How many findings of one object are kept under KeepAll, and how much memory they may take.
const (
	MaxKept      = 10_000
	maxKeptBytes = 16 << 20
)

// An Examiner decodes objects. Each worker has one.
type Examiner struct {
	*Settings
	reader   input.Reader
	decoders map[*schema.Program]*decoder.Decoder
	advice   map[adviceKey]adviceText
	formats  map[*schema.Program]*schema.Structural
	Out      []byte
}

func New(s *Settings) *Examiner {
	return &Examiner{Settings: s, decoders: map[*schema.Program]*decoder.Decoder{}, advice: map[adviceKey]adviceText{}, formats: map[*schema.Program]*schema.Structural{}}
}

// An Object is what came of one document, of an item of a List, or of what is
// around the items of one.
type Object struct {
	finding.Outcome
	Doc     input.Document
	Program *schema.Program  // it was decoded with
	Decoder *decoder.Decoder // that has its findings
	Result  []byte           // valid until the next object; nil where there is none
	Items   []input.Document // of a List
	// Mismatches are the values of wrong types of an object that is explained.
	Mismatches errors.List
}

// Input examines all documents of an input. An error of the input itself becomes a
// verdict. It ends where visit says no.
func (e *Examiner) Input(name string, in io.Reader, visit func(*Object) bool) {
	for doc, err := range e.reader.Documents(name, in) {
		if err != nil {
			o := &Object{Doc: doc}
			o.Document, o.Start = doc.Number, doc.Start
			e.Refuse(o, err, inFile)
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
func (e *Examiner) document(doc input.Document, mayBeList bool, visit func(*Object) bool) bool {
	o := &Object{Doc: doc}
	o.Document, o.Start = doc.Number, doc.Start
	apiVersion, kind, err := decoder.PeekType(doc.JSON)
	o.APIVersion, o.Kind = apiVersion, kind
	isNone := err != nil && stderrors.As(err, new(*errors.TypeError)) // no object of Kubernetes
	if (err == nil || isNone) && e.refuseSecond(o) {
		return visit(o)
	}
	if e.IgnoreMissing && isNone {
		o.Skipped = true
		e.decode(o, e.Anything)
		return visit(o)
	}
	if err != nil {
		e.Refuse(o, err, doc.Locate)
		return visit(o)
	}
	if e.skips(apiVersion, kind) {
		o.Skipped = true
		e.decode(o, e.Anything)
		return visit(o)
	}
	program, err := e.Catalog.Lookup(apiVersion, kind)
	if stderrors.As(err, new(*schema.NotFoundError)) {
		if mayBeList && strings.HasSuffix(kind, "List") {
			if items, ok := doc.Items(); ok {
				return e.list(o, items, visit)
			}
		}
		e.withoutSchema(o, err)
		return visit(o)
	}
	if err != nil {
		e.Refuse(o, err, doc.Locate)
	} else {
		e.decode(o, program)
	}
	return visit(o)
}

// withoutSchema examines an object for which there is no schema.
func (e *Examiner) withoutSchema(o *Object, notFound error) {
	switch {
	case e.Check && isDefinition(o.APIVersion, o.Kind):
		o.Partial = isPartial(o.Doc.JSON)
		if o.Partial || o.APIVersion != "apiextensions.k8s.io/v1" {
			e.decode(o, e.Anything)
		} else {
			e.decode(o, e.Definition)
		}
	case e.IgnoreMissing && !e.NearMiss(o.APIVersion, o.Kind).Known:
		o.Skipped = true
		e.decode(o, e.Anything)
	case e.Check:
		if e.decode(o, e.Anything); o.Result != nil {
			e.Refuse(o, notFound, o.Doc.Locate)
		}
	default:
		e.Refuse(o, notFound, o.Doc.Locate)
	}
}

// errMissingType is reported of what is no object of Kubernetes.
var errMissingType = stderrors.New("object has no apiVersion or no kind")

func (e *Examiner) skips(apiVersion, kind string) bool {
	return slices.Contains(e.SkipKinds, kind) || slices.Contains(e.SkipKinds, apiVersion+"/"+kind)
}

// decode decodes an object and notes what is found.
func (e *Examiner) decode(o *Object, program *schema.Program) {
	o.Program, o.Decoder = program, e.Decoder(program)
	var err error
	e.Out, err = o.Decoder.AppendJSON(e.Out[:0], o.Doc.JSON)
	switch {
	case err == nil || stderrors.As(err, new(*errors.StrictError)):
		o.Result = e.Out
		e.addFindings(o, program, o.Decoder.Findings(), o.Decoder.Omitted())
		e.checkFormats(o)
	case e.Check && stderrors.As(err, new(*errors.TypeError)):
		o.Result = []byte{}
		e.addFindings(o, program, e.withinMismatches(o, o.Decoder.Findings()), o.Decoder.Omitted())
		e.checkFormats(o)
	case e.Explain && stderrors.As(err, new(*errors.TypeError)):
		e.decodeAnyTypes(o, slices.Clone(o.Decoder.Findings()), err)
	default:
		e.Refuse(o, err, o.Doc.Locate)
	}
}

// decodeAnyTypes makes a result of an object with values of wrong types: as if nobody looked
// at types, and, where they are looked at in any case, with nulls in the place of the values.
func (e *Examiner) decodeAnyTypes(o *Object, typed errors.List, refusal error) {
	catalog, err := e.Untyped()
	if err == nil {
		o.Program, err = catalog.Lookup(o.APIVersion, o.Kind)
	}
	if err != nil {
		e.Refuse(o, err, o.Doc.Locate)
		return
	}
	o.Decoder = e.Decoder(o.Program)
	e.Out, err = o.Decoder.AppendJSON(e.Out[:0], o.Doc.JSON)
	var mismatch *errors.TypeError
	if stderrors.As(err, &mismatch) {
		e.Out, err = o.Decoder.AppendJSON(e.Out[:0], withNulls(o.Doc.JSON, mismatch.Findings))
	}
	if err != nil && !stderrors.As(err, new(*errors.StrictError)) {
		e.Refuse(o, refusal, o.Doc.Locate)
		return
	}
	o.Result = e.Out
	o.Mismatches = slices.DeleteFunc(typed, func(f errors.Finding) bool { return f.Kind != errors.TypeMismatch })
	if mismatch == nil { // positions are those in the document
		e.addFindings(o, o.Program, o.Decoder.Findings(), o.Decoder.Omitted())
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
func (e *Examiner) withinMismatches(o *Object, typed errors.List) errors.List {
	catalog, err := e.Untyped()
	if err != nil {
		return typed
	}
	program, err := catalog.Lookup(o.APIVersion, o.Kind)
	if err != nil {
		return typed
	}
	d := e.Decoder(program)
	if _, err := d.AppendJSON(nil, o.Doc.JSON); err != nil && !stderrors.As(err, new(*errors.StrictError)) {
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
		if at = locate.Append(at, s); others[at] && at != path {
			return true
		}
	}
	return false
}

// list examines what is around the items of a List, and then these. That the whole
// is JSON is known.
func (e *Examiner) list(o *Object, items []input.Document, visit func(*Object) bool) bool {
	o.IsList, o.Items = true, items
	// Of the List itself, and not of its items, which are looked at one by one.
	o.Decoder = e.Decoder(e.List)
	if _, err := o.Decoder.AppendJSON(nil, o.Doc.JSON); err != nil && !stderrors.As(err, new(*errors.StrictError)) {
		e.Refuse(o, err, o.Doc.Locate)
		return visit(o)
	}
	found := slices.DeleteFunc(slices.Clone(o.Decoder.Findings()), func(f errors.Finding) bool {
		return f.Path.IsWithin(errors.Path{}.Child("items"))
	})
	e.addFindings(o, e.List, found, 0)
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

func (e *Examiner) Decoder(program *schema.Program) *decoder.Decoder {
	d := e.decoders[program]
	if d == nil {
		validation, limits := e.Validation, decoder.Limits{}
		if e.KeepAll {
			// What is found is what is removed, whether it is reported or not.
			limits.Findings, limits.FindingBytes = MaxKept, maxKeptBytes
			if validation == decoder.Ignore {
				validation = decoder.Warn
			}
		}
		d = decoder.New(program, validation, limits, decoder.Compact(!e.Check), decoder.ReportDroppedNulls(e.Check))
		e.decoders[program] = d
	}
	return d
}

// Read examines all documents of an input that is opened first.
func (e *Examiner) Read(name string, stdin io.Reader, visit func(*Object) bool) {
	in, err := input.Open(name, stdin)
	if err != nil {
		o := new(Object)
		e.Refuse(o, input.WithoutName(err), inFile)
		visit(o)
		return
	}
	defer in.Close()
	if name != "-" {
		e.Input(name, in, visit)
		return
	}
	// What was to write there has probably failed.
	piped := &input.BlankDetector{R: in}
	e.Input(name, piped, visit)
	if piped.IsBlank() {
		o := new(Object)
		e.Refuse(o, input.ErrEmptyInput, inFile)
		visit(o)
	}
}
