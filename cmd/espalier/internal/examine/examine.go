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

// Settings say how objects are decoded, and which findings are reported. All workers share
// them.
type Settings struct {
	*schemas.Loaded
	Validation    decoder.FieldValidation
	Values        bool // values are validated, by programs that were compiled for it
	IgnoreMissing bool
	SkipKinds     []string // kinds, or apiVersion/kind, that are not decoded by a schema
	// Check asks for findings and not for results. Then duplicates in objects without a schema
	// are reported as well, and nulls that are dropped.
	Check bool
	// KeepAll keeps findings that are not reported, up to MaxKept of them.
	KeepAll bool
	// Explain makes results of objects with values of wrong types as well.
	Explain bool
	Sources bool // findings have their lines of source
	Names   bool // objects without findings have their names, too
}

// How many findings of one object KeepAll keeps, and how much memory they may take.
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
	out      []byte // the last result
}

// New returns an examiner that reads with the settings.
func New(s *Settings) *Examiner {
	return &Examiner{Settings: s, decoders: map[*schema.Program]*decoder.Decoder{}, advice: map[adviceKey]adviceText{}, formats: map[*schema.Program]*schema.Structural{}}
}

// An Object is a document that was examined, an item of a List, or a List without its items.
type Object struct {
	finding.Outcome
	Doc     input.Document
	Program *schema.Program  // that decoded it
	Decoder *decoder.Decoder // with its findings
	Result  []byte           // valid until the next object; nil if it cannot be decoded
	Items   []input.Document // of a List
	// Mismatches are the values of wrong types, under Explain.
	Mismatches errors.List
}

// Input examines the documents of an input until visit returns false. An error of the input is
// visited as an object without a result.
func (e *Examiner) Input(name string, in io.Reader, visit func(*Object) bool) {
	for doc, err := range e.reader.Documents(name, in) {
		if err != nil {
			o := &Object{Doc: doc}
			o.Document, o.Start = doc.Number, doc.Start
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

// document examines one document, and if it may be a List, its items.
func (e *Examiner) document(doc input.Document, mayBeList bool, visit func(*Object) bool) bool {
	o := &Object{Doc: doc}
	o.Document, o.Start = doc.Number, doc.Start
	apiVersion, kind, err := decoder.PeekType(doc.JSON)
	o.APIVersion, o.Kind = apiVersion, kind
	isNone := err != nil && stderrors.As(err, new(*errors.TypeError)) // it has no apiVersion and kind
	if (err == nil || isNone) && e.refuseSecond(o) {
		return visit(o)
	}
	if e.IgnoreMissing && isNone {
		o.Skipped = true
		e.decode(o, e.Anything)
		return visit(o)
	}
	if err != nil {
		e.refuse(o, err, doc.Locate)
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
		e.refuse(o, err, doc.Locate)
	} else {
		e.decode(o, program)
	}
	return visit(o)
}

// withoutSchema examines an object for whose kind there is no schema.
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
			e.refuse(o, notFound, o.Doc.Locate)
		}
	default:
		e.refuse(o, notFound, o.Doc.Locate)
	}
}

// errMissingType is the error for a document that is not an object of Kubernetes.
var errMissingType = stderrors.New("object has no apiVersion or no kind")

func (e *Examiner) skips(apiVersion, kind string) bool {
	return slices.Contains(e.SkipKinds, kind) || slices.Contains(e.SkipKinds, apiVersion+"/"+kind)
}

// decode decodes an object and adds its findings.
func (e *Examiner) decode(o *Object, program *schema.Program) {
	o.Program, o.Decoder = program, e.decoder(o, program)
	var err error
	e.out, err = o.Decoder.AppendJSON(e.out[:0], o.Doc.JSON)
	switch {
	case isComplete(err):
		o.Result = e.out
		e.addFindings(o, program, o.Decoder.Findings(), o.Decoder.Omitted(), isInvalid(err))
		e.checkFormats(o)
		e.warn(o)
	case e.Check && stderrors.As(err, new(*errors.TypeError)):
		o.Result = []byte{}
		e.addFindings(o, program, e.withinMismatches(o, o.Decoder.Findings()), o.Decoder.Omitted(), false)
		e.checkFormats(o)
	case e.Explain && stderrors.As(err, new(*errors.TypeError)):
		e.decodeAnyTypes(o, slices.Clone(o.Decoder.Findings()), err)
	default:
		e.refuse(o, err, o.Doc.Locate)
	}
}

// decodeAnyTypes makes a result of an object with values of wrong types, by programs that do
// not check types. Where types are always checked, as in metadata, nulls replace the values.
func (e *Examiner) decodeAnyTypes(o *Object, typed errors.List, refusal error) {
	catalog, err := e.Untyped()
	if err == nil {
		o.Program, err = catalog.Lookup(o.APIVersion, o.Kind)
	}
	if err != nil {
		e.refuse(o, err, o.Doc.Locate)
		return
	}
	o.Decoder = e.decoder(o, o.Program)
	e.out, err = o.Decoder.AppendJSON(e.out[:0], o.Doc.JSON)
	var mismatch *errors.TypeError
	if stderrors.As(err, &mismatch) {
		e.out, err = o.Decoder.AppendJSON(e.out[:0], withNulls(o.Doc.JSON, mismatch.Findings))
	}
	if !isComplete(err) {
		e.refuse(o, refusal, o.Doc.Locate)
		return
	}
	o.Result = e.out
	o.Mismatches = slices.DeleteFunc(typed, func(f errors.Finding) bool { return f.Kind != errors.TypeMismatch })
	if mismatch == nil { // else positions are those in the text with nulls
		e.addFindings(o, o.Program, outsideOf(o.Mismatches, o.Decoder.Findings()), o.Decoder.Omitted(), isInvalid(err))
	}
}

// withNulls returns a JSON text with nulls in place of the values of wrong types.
func withNulls(js []byte, wrong errors.List) []byte {
	var out []byte
	from := 0
	for i := range wrong {
		at := int(wrong[i].Position.Offset)
		if at < from {
			continue // it is within the previous one
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

// withinMismatches returns the findings in an object with values of wrong types. They are those
// of a program that does not check types, as pruning does not.
func (e *Examiner) withinMismatches(o *Object, typed errors.List) errors.List {
	catalog, err := e.Untyped()
	if err != nil {
		return typed
	}
	program, err := catalog.Lookup(o.APIVersion, o.Kind)
	if err != nil {
		return typed
	}
	d := e.decoder(o, program)
	if _, err := d.AppendJSON(nil, o.Doc.JSON); !isComplete(err) {
		return typed
	}
	wrong := slices.DeleteFunc(slices.Clone(typed), func(f errors.Finding) bool { return f.Kind != errors.TypeMismatch })
	return append(wrong, outsideOf(wrong, d.Findings())...)
}

// outsideOf returns the findings that are not a consequence of values of wrong types. Fields within
// such a value are undeclared, and the value may be refused for other reasons, but the type is the
// only mistake.
func outsideOf(mismatches, found errors.List) (rest errors.List) {
	wrong := map[errors.Path]bool{}
	for i := range mismatches {
		wrong[mismatches[i].Path] = true
	}
	for _, f := range found {
		follows := false
		switch f.Kind {
		case errors.UnknownField:
			follows = isBelow(f.Path, wrong)
		case errors.InvalidValue:
			follows = wrong[f.Path] || isBelow(f.Path, wrong)
		}
		if !follows {
			rest = append(rest, f)
		}
	}
	return rest
}

// isBelow reports whether a path leads into one of the others.
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

// list examines a List without its items, and then the items. The text is known to be JSON.
func (e *Examiner) list(o *Object, items []input.Document, visit func(*Object) bool) bool {
	o.IsList, o.Items = true, items
	// These are the findings in the List itself. Its items are examined one by one.
	o.Decoder = e.decoder(o, e.List)
	if _, err := o.Decoder.AppendJSON(nil, o.Doc.JSON); !isComplete(err) {
		e.refuse(o, err, o.Doc.Locate)
		return visit(o)
	}
	found := slices.DeleteFunc(slices.Clone(o.Decoder.Findings()), func(f errors.Finding) bool {
		return f.Path.IsWithin(errors.Path{}.Child("items"))
	})
	e.addFindings(o, e.List, found, 0, false)
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

// WithoutItems returns the result for a List with items that are empty. It is valid until the
// next object. It is not ok if the List cannot be decoded.
func (e *Examiner) WithoutItems(o *Object) (result []byte, ok bool) {
	var err error
	e.out, err = e.decoder(o, e.EmptyList).AppendJSON(e.out[:0], o.Doc.JSON)
	if !isComplete(err) {
		e.refuse(o, err, o.Doc.Locate)
		return nil, false
	}
	return e.out, true
}

// isComplete reports whether a complete result comes with an error.
func isComplete(err error) bool {
	return err == nil || stderrors.As(err, new(*errors.StrictError)) || isInvalid(err)
}

func isInvalid(err error) bool { return stderrors.As(err, new(*errors.InvalidError)) }

// decoder returns the examiner's decoder for a program, which is for objects like o.
func (e *Examiner) decoder(o *Object, program *schema.Program) *decoder.Decoder {
	d := e.decoders[program]
	if d == nil {
		validation, limits := e.Validation, decoder.Limits{}
		if e.KeepAll {
			// Every finding is removed from the file, whether it is reported or not.
			limits.Findings, limits.FindingBytes = MaxKept, maxKeptBytes
			if validation == decoder.Ignore {
				validation = decoder.Warn
			}
		}
		d = decoder.New(program, validation, e.valueValidation(o, program), limits,
			decoder.Compact(!e.Check), decoder.ReportDroppedNulls(e.Check))
		e.decoders[program] = d
	}
	return d
}

// Read opens an input and examines its documents.
func (e *Examiner) Read(name string, stdin io.Reader, visit func(*Object) bool) {
	in, err := input.Open(name, stdin)
	if err != nil {
		o := new(Object)
		e.refuse(o, input.WithoutName(err), inFile)
		visit(o)
		return
	}
	defer in.Close()
	if name != "-" {
		e.Input(name, in, visit)
		return
	}
	// An empty standard input probably means that the command before the pipe has failed.
	piped := &input.BlankDetector{R: in}
	e.Input(name, piped, visit)
	if piped.IsBlank() {
		o := new(Object)
		e.refuse(o, input.ErrEmptyInput, inFile)
		visit(o)
	}
}
