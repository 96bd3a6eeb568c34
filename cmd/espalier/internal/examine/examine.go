// Package examine decodes the documents of an input and says what is found in
// each of them. It reads inputs and changes nothing; whether a finding is an
// error, a reason to edit a file or part of an explanation is for its callers.
package examine

import (
	"bytes"
	stderrors "errors"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/builtin"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/layout"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/stored"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/suggest"
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
	// OldDefinitions are the definitions that those of the input replace, by their names.
	OldDefinitions map[string]*schema.CRD
	Old            *Old // the old state, or nil
	// Layout says what files are for, and Named which of them are arguments. Without it, each
	// document has to be a whole object.
	Layout *layout.Layout
	Named  map[string]bool
	isOld  bool // the old state is read
	// Workers is how many goroutines may examine one input.
	Workers int
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
	decoders map[decoderKey]*decoder.Decoder
	advice   map[adviceKey]adviceText
	formats  map[*schema.Program]*schema.Structural
	required map[*schema.Program]*builtin.Fields
	out      []byte // the last result
	// Of the file that is read: its name, its role and its chart, and of the object the definition
	// among those that differ.
	file, chart string
	role        layout.Role
	rival       *schemas.Rival
	text        []byte // all of the file, or nil if it is not in memory
	objects     presence
	team        *team // which helps with the input, or nil
}

// A decoderKey is what a decoder is made for.
type decoderKey struct {
	program  *schema.Program
	isUpdate bool
	isPart   bool
}

// New returns an examiner that reads with the settings.
func New(s *Settings) *Examiner {
	return &Examiner{Settings: s, decoders: map[decoderKey]*decoder.Decoder{}, advice: map[adviceKey]adviceText{}, formats: map[*schema.Program]*schema.Structural{}, required: map[*schema.Program]*builtin.Fields{}}
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
	Old        *stored.Object // that this one replaces, or nil
}

// Input examines the documents of an input until visit returns false. An error of the input is
// visited as an object without a result.
func (e *Examiner) Input(name string, in io.Reader, visit func(*Object) bool) {
	e.Documents(name, in, visit, func(input.Document) {})
}

// Documents is like Input, and calls end after the objects of each document that could be read.
// The texts of the document are valid until end returns.
func (e *Examiner) Documents(name string, in io.Reader, visit func(*Object) bool, end func(input.Document)) {
	e.start(name)
	docs, ok := iter.Seq2[input.Document, error](nil), false
	if e.Layout != nil {
		if e.text, ok = e.reader.Small(in); ok && e.isTemplate(e.text) {
			visit(&Object{Outcome: finding.Outcome{Document: 1, IsTemplate: true, Chart: e.chart}})
			return
		}
		docs = e.reader.Texts(name, e.text)
	}
	if !ok && e.isDivided() && input.IsLarge(in) {
		e.divide(e.reader.Pieces(name, in))
		return
	}
	if !ok {
		docs = e.reader.Documents(name, in)
	}
	for doc, err := range docs {
		if !e.next(doc, err, visit) {
			return
		}
		if err == nil {
			end(doc)
		}
	}
}

// next examines the next document, or the reason why there is none.
func (e *Examiner) next(doc input.Document, err error, visit func(*Object) bool) bool {
	if err == nil {
		return e.document(doc, true, visit)
	}
	o := &Object{Doc: doc}
	o.Document, o.Start = doc.Number, doc.Start
	e.unreadable(o, err, inFile)
	return visit(o)
}

// document examines one document, and if it may be a List, its items.
func (e *Examiner) document(doc input.Document, mayBeList bool, visit func(*Object) bool) bool {
	o := &Object{Doc: doc}
	o.Document, o.Start = doc.Number, doc.Start
	if doc.IsYAML {
		o.Rendered = sourceOf(doc.Text)
	}
	apiVersion, kind, err := decoder.PeekType(doc.JSON)
	o.APIVersion, o.Kind = apiVersion, kind
	e.note(apiVersion, kind)
	isNone := err != nil && stderrors.As(err, new(*errors.TypeError)) // it has no apiVersion and kind
	switch {
	case (err == nil || isNone) && e.refuseSecond(o):
	case (err == nil || isNone) && e.isNoObject(o):
		e.noObject(o)
	case err == nil && e.hasOpenType(o):
		o.IsTemplate, o.Chart = true, e.chart
		e.decode(o, e.Anything)
	case e.IgnoreMissing && isNone, err == nil && e.skips(o.APIVersion, o.Kind):
		o.Skipped = true
		e.decode(o, e.Anything)
	case err != nil:
		e.unreadable(o, err, doc.Locate)
	default:
		return e.object(o, mayBeList, visit)
	}
	return visit(o)
}

// object examines an object, and if it may be a List, its items.
func (e *Examiner) object(o *Object, mayBeList bool, visit func(*Object) bool) bool {
	e.setPart(o)
	if rivals := e.Rivals(o.APIVersion, o.Kind); rivals != nil && !e.isOld {
		e.byRivals(o, rivals)
		return visit(o)
	}
	e.rival = nil
	program, err := e.catalog().Lookup(o.APIVersion, o.Kind)
	switch {
	case stderrors.As(err, new(*schema.NotFoundError)):
		if mayBeList && strings.HasSuffix(o.Kind, "List") {
			if items, ok := o.Doc.Items(); ok {
				return e.list(o, items, visit)
			}
		}
		e.withoutSchema(o, err)
	case err != nil:
		e.refuse(o, err, o.Doc.Locate)
	default:
		e.decode(o, program)
	}
	return visit(o)
}

// byRivals examines an object by definitions of its kind that differ. What counts is the one by
// which it has the fewest errors, and of several the first: the others may be of another channel or
// release.
func (e *Examiner) byRivals(o *Object, rivals *schemas.Rivals) {
	plain, least := *o, -1
	var by, refuses *schemas.Rival
	tried, more := rivals.For(e.file)
	for _, r := range tried {
		one := plain
		e.rival = r
		program, err := r.Lookup(o.APIVersion, o.Kind)
		switch {
		case stderrors.As(err, new(*schema.NotFoundError)):
			e.withoutSchema(&one, err)
		case err != nil:
			e.refuse(&one, err, one.Doc.Locate)
		default:
			e.decode(&one, program)
		}
		n := one.Errors()
		if refuses == nil && n > 0 {
			refuses = r
		}
		if least < 0 || n < least {
			*o, least, by = one, n, r
			e.out = nil // which has the result
		}
	}
	e.rival = by
	if len(rivals.All) == 1 {
		return
	}
	o.Choice = &finding.Choice{By: by.Place(), Untried: more}
	if least == 0 && refuses != nil {
		o.Choice.Refuses = refuses.Place()
	}
}

// hasOpenType reports whether a variable stands for the type of an object, which has no schema before
// it is replaced.
func (e *Examiner) hasOpenType(o *Object) bool {
	return e.Check && e.Layout != nil && (variable.MatchString(o.APIVersion) || variable.MatchString(o.Kind))
}

// withoutSchema examines an object for whose kind there is no schema.
func (e *Examiner) withoutSchema(o *Object, notFound error) {
	isDefinition := isDefinition(o.APIVersion, o.Kind)
	switch {
	case e.Check && isDefinition:
		o.Partial = isPartial(o.Doc.JSON)
		if o.Partial = o.Partial || o.Part; o.APIVersion == "apiextensions.k8s.io/v1" && !o.Partial {
			e.decode(o, e.Definition)
			break
		}
		if e.decode(o, e.Anything); e.Release != nil && !o.Partial && o.Result != nil && o.APIVersion != "apiextensions.k8s.io/v1" {
			e.refuse(o, notFound, o.Doc.Locate) // no server has v1beta1 since Kubernetes 1.22
		}
	case e.IgnoreMissing && isDefinition, e.IgnoreMissing && !e.NearMiss(o.APIVersion, o.Kind).Known:
		o.Skipped = true
		e.decode(o, e.Anything)
	case e.isOfTool(o.APIVersion, o.Kind) && e.mayPass(&o.Doc):
		e.noObject(o)
	case e.Check:
		if e.decode(o, e.Anything); o.Result == nil {
			return
		}
		hasType := o.APIVersion != "" && o.Kind != ""
		if o.Unchecked = hasType && e.Layout != nil && !e.NearMiss(o.APIVersion, o.Kind).Known; !o.Unchecked {
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
	e.findOld(o, program)
	o.Program, o.Decoder = program, e.decoder(o, program, o.Old != nil)
	var err error
	e.out, err = o.Decoder.AppendJSON(e.out[:0], o.Doc.JSON)
	switch {
	case isComplete(err):
		o.Result = e.out
		e.addFindings(o, program, o.Decoder.Findings(), o.Decoder.Omitted(), isInvalid(err))
		e.checkFormats(o)
		e.checkRequired(o)
		e.warn(o)
	case e.Check && stderrors.As(err, new(*errors.TypeError)):
		o.Result = []byte{}
		e.addFindings(o, program, e.withinMismatches(o, o.Decoder.Findings()), o.Decoder.Omitted(), false)
		e.checkFormats(o)
		e.checkRequired(o)
	case e.Explain && stderrors.As(err, new(*errors.TypeError)):
		e.decodeAnyTypes(o, slices.Clone(o.Decoder.Findings()), err)
	default:
		e.refuse(o, err, o.Doc.Locate)
	}
}

// decodeAnyTypes makes a result of an object with values of wrong types, by programs that do
// not check types. Where types are always checked, as in metadata, nulls replace the values.
func (e *Examiner) decodeAnyTypes(o *Object, typed errors.List, refusal error) {
	catalog, err := e.untyped()
	if err == nil {
		o.Program, err = catalog.Lookup(o.APIVersion, o.Kind)
	}
	if err != nil {
		e.refuse(o, err, o.Doc.Locate)
		return
	}
	o.Decoder = e.decoder(o, o.Program, false)
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
	catalog, err := e.untyped()
	if err != nil {
		return typed
	}
	program, err := catalog.Lookup(o.APIVersion, o.Kind)
	if err != nil {
		return typed
	}
	d := e.decoder(o, program, o.Old != nil)
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
		if at = suggest.Append(at, s); others[at] && at != path {
			return true
		}
	}
	return false
}

// list examines a List without its items, and then the items. The text is known to be JSON.
func (e *Examiner) list(o *Object, items []input.Document, visit func(*Object) bool) bool {
	o.IsList, o.Items = true, items
	// These are the findings in the List itself. Its items are examined one by one.
	o.Decoder = e.decoder(o, e.List, false)
	var err error
	if e.out, err = o.Decoder.AppendJSON(slices.Grow(e.out[:0], len(o.Doc.JSON)), o.Doc.JSON); !isComplete(err) {
		e.refuse(o, err, o.Doc.Locate)
		return visit(o)
	}
	isLarge := len(o.Doc.JSON) > largeDocument
	if isLarge {
		e.out = nil // so that the items have that memory
	}
	found := slices.DeleteFunc(slices.Clone(o.Decoder.Findings()), func(f errors.Finding) bool {
		return f.Path.IsWithin(errors.Path{}.Child("items"))
	})
	e.addFindings(o, e.List, found, 0, false)
	if !visit(o) {
		return false
	}
	apiVersion, kind := o.APIVersion, strings.TrimSuffix(o.Kind, "List")
	one := func(e *Examiner, item input.Document, visit func(*Object) bool) bool {
		if v, k, err := decoder.PeekType(item.JSON); e.Check && err == nil && v == "" && k == "" && kind != "" {
			item = item.WithType(apiVersion, kind) // as kubectl get --raw writes it
		}
		return e.document(item, false, visit)
	}
	if e.isDivided() && isLarge {
		return e.divideItems(items, one)
	}
	for _, item := range items {
		if !one(e, item, visit) {
			return false
		}
	}
	return true
}

// WithoutItems returns the result for a List with items that are empty. It is valid until the
// next object. It is not ok if the List cannot be decoded.
func (e *Examiner) WithoutItems(o *Object) (result []byte, ok bool) {
	var err error
	e.out, err = e.decoder(o, e.EmptyList, false).AppendJSON(e.out[:0], o.Doc.JSON)
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

// decoder returns the examiner's decoder for a program, which is for objects like o. Those that are
// updates replace the object that was found for o.
func (e *Examiner) decoder(o *Object, program *schema.Program, isUpdate bool) *decoder.Decoder {
	key := decoderKey{program, isUpdate, o.Part}
	d := e.decoders[key]
	if d == nil {
		validation, limits, values := e.Validation, decoder.Limits{}, e.valueValidation(o, program)
		if e.KeepAll {
			// Every finding is removed from the file, whether it is reported or not.
			limits.Findings, limits.FindingBytes = MaxKept, maxKeptBytes
			if validation == decoder.Ignore {
				validation = decoder.Warn
			}
		}
		if isUpdate {
			values = decoder.ValidateUpdate
		}
		d = decoder.New(program, validation, values, limits,
			decoder.Compact(!e.Check), decoder.ReportDroppedNulls(e.Check))
		e.decoders[key] = d
	}
	if isUpdate {
		d.SetOld(o.Old.JSON)
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
