package decoder

import (
	"math"
	"reflect"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/screen"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/values"
	"github.com/espalier-dev/espalier/internal/walk"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A Decoder decodes documents against one program, one after the other. It
// keeps its buffers from call to call, so that decoding allocates nothing once
// they have grown. A Decoder must not be used by several goroutines at the same
// time; its program can be.
type Decoder struct {
	walker walk.Walker
	options
	*programState
	inUse      bool               // see begin
	repaired   apiserver.Repaired // the text that is walked, if isRepaired
	isRepaired bool
	original   []byte // the document before its repair
	old        []byte // the stored object that documents replace, or nil
	scratch    []byte
	screen     screen.Machine // for the values of results
	parts      parts          // for the values of streams

	origin errors.Position  // where the document starts in a larger text
	lines  position.Counter // for positions in the text that is walked
	json   []byte           // the JSON form of a YAML document
	stream []byte           // the window of a stream
	output []byte           // output of a stream that was not taken yet
	uses   uint64           // how many documents were begun: see stream.checkUse
	yaml   yamlbridge.Reader
	// yamlHeld is how many bytes yaml has kept since its last use.
	yamlHeld int
	// result is the JSON that Unmarshal makes Go values from.
	result     []byte
	values     values.Maker
	isTaking   bool           // see takes
	walksLeft  int            // see take
	typed      reflect.Type   // of the last pointer for which jsonv2 was used
	interfaces jsonv2.Options // how jsonv2 makes interface values in it, or nil if it has none

	// duplicates is the result of YAMLDuplicates, and duplicatesBytes its size.
	duplicates      []string
	duplicatesBytes int
	fromYAML        bool // the text that is walked is the JSON form of a YAML document
	idleCalls       int  // calls in a row that needed no large buffers

	account memory.Account
}

// New returns a decoder for documents of the program's schema.
//
// A decoder allocates eight bytes for each field of the schema, and keeps for a
// while the buffers that its largest documents needed.
//
// New panics if p is nil or the zero Program, and if an option is invalid: see
// [Option].
func New(p *schema.Program, opts ...Option) *Decoder {
	o := optionsOf(opts)
	compiled := programOf(p)
	o.refuseProgram(compiled)
	d := newDecoder(compiled, o)
	d.SetBudget(o.budget)
	return d
}

// SetOrigin sets where the following documents start, for documents that are
// embedded in a larger text: all positions then refer to that text. The zero
// Position, which is the default, makes positions refer to the document itself.
func (d *Decoder) SetOrigin(origin errors.Position) { d.origin, d.yaml.Origin = origin, origin }

// programOf returns the compiled form of a program. It panics if there is none.
func programOf(p *schema.Program) *program.Program {
	if p == nil || program.Of(p).Root == nil {
		panic("decoder: the program is nil, or was not made by schema.Compile")
	}
	return program.Of(p)
}

// newDecoder returns a decoder without a budget.
func newDecoder(p *program.Program, o options) *Decoder {
	d := &Decoder{options: o}
	d.walker.Init(&d.account)
	d.screen.Account = &d.account
	d.setLimits(o.limits.withDefaults())
	d.setProgram(newProgramState(p, o.server != Standalone))
	d.yaml.Dialect, d.yaml.AliasFactor = o.dialect, d.limits.AliasFactor
	return d
}

// setLimits sets the limits. None of them may be zero.
func (d *Decoder) setLimits(l Limits) {
	d.limits = l
	w := &d.walker
	w.SetBounds(l.bounds())
	w.DefaultBytes = l.DefaultBytes
	w.Found.Most, w.Found.MostBytes = l.Findings, l.FindingBytes
	d.isTaking = d.takes()
}

// AppendJSON appends the JSON document src to dst, pruned and defaulted by the
// schema, and returns the extended slice.
//
// Members that are kept are copied unchanged: their order, their white space
// (unless [Compact] is set), and the text of their strings and numbers.
// Defaults are appended to their objects, sorted by name. No object of the
// result has the same name twice: the last value wins, in the place where it
// occurred.
//
// Where findings fail the document under [Strict], the error is an
// [*errors.StrictError] and the result is complete. All other errors are fatal
// and return dst unchanged: [*errors.SyntaxError], [*errors.LimitError],
// [*errors.TypeError], with [ExpectType] or a [ServerMode] also
// [*errors.ObjectError], and with a [Budget] also [errors.ErrBudget].
// Everything is validated, including what is dropped: the grammar (RFC 8259),
// UTF-8, surrogate pairs, and the range of numbers (that of float64).
//
// AppendJSON does not change src and keeps no reference to it. Where src
// overlaps with the free capacity of dst, src is copied first, and the result
// then overwrites the original.
//
// AppendJSON panics if the decoder is already at work: in a method of a value
// that Unmarshal calls or, as far as the decoder notices, in another goroutine.
func (d *Decoder) AppendJSON(dst, src []byte) ([]byte, error) {
	d.begin()
	out, err := d.appendJSON(dst, withoutOverlap(dst, src))
	d.end() // is not deferred: a decoder that has panicked must not be used again
	return out, err
}

// appendJSON is AppendJSON between begin and end.
func (d *Decoder) appendJSON(dst, src []byte) ([]byte, error) {
	if d.account.Budget() != nil {
		return d.decodeWithinBudget(dst, src, false)
	}
	return d.decodeJSON(dst, src)
}

// decodeJSON decodes a JSON document. It panics if the budget has no room, and
// decodeWithinBudget recovers.
func (d *Decoder) decodeJSON(dst, src []byte) ([]byte, error) {
	d.fromYAML = false
	d.isRepaired = false
	d.duplicates, d.duplicatesBytes = nil, 0
	out, err := d.walk(dst, src)
	_, isMalformed := err.(*errors.SyntaxError)
	if isMalformed && d.server != Standalone && d.repaired.Repair(src, &d.account) {
		d.isRepaired = true
		d.original = src
		out, err = d.walk(dst, d.repaired.Text)
		d.original = nil
	}
	d.releaseIdle(len(src))
	return out, err
}

// AppendYAML appends the single YAML document in src to dst as JSON, pruned and
// defaulted by the schema, and returns the extended slice. It does what
// AppendJSON does for the JSON form of the document, which is compact. Package
// yamlbridge has the rules of that form, and [YAMLDialect] selects among them.
// Positions in findings and errors are those of the YAML.
func (d *Decoder) AppendYAML(dst, src []byte) ([]byte, error) {
	d.begin()
	out, err := d.appendYAML(dst, withoutOverlap(dst, src))
	d.end()
	return out, err
}

// appendYAML is AppendYAML between begin and end.
func (d *Decoder) appendYAML(dst, src []byte) ([]byte, error) {
	if d.account.Budget() != nil {
		return d.decodeWithinBudget(dst, src, true)
	}
	return d.decodeYAML(dst, src)
}

// decodeYAML decodes a YAML document. It panics as decodeJSON does.
func (d *Decoder) decodeYAML(dst, src []byte) ([]byte, error) {
	d.walker.Found.Reset()
	d.duplicates, d.duplicatesBytes = nil, 0
	d.uses++
	err := d.bridgeYAML(src)
	out := dst
	if err == nil {
		d.fromYAML, d.isRepaired = true, false
		out, err = d.walk(dst, d.json)
		if d.server != Standalone && d.hasDuplicates() {
			d.findServerDuplicates(src)
		}
	}
	d.yaml.Forget()
	d.yamlHeld = d.yaml.Cap() // what has grown for positions is not charged yet
	d.releaseIdle(len(src))
	return out, err
}

// Findings returns the findings of the last call: unknown and duplicate fields
// under [Warn] and [Strict], mismatched types where these are errors, and
// dropped nulls under [ReportDroppedNulls]. They are in the order of the API
// server; [errors.List.SortByPosition] puts them into the order of the
// document. The list is valid until the next call. The paths in it stay valid.
func (d *Decoder) Findings() errors.List { return d.walker.Found.List }

// YAMLDuplicates returns what the API server reports about repeated names in
// the YAML document of the last call: `line 3: key "a" already set in map` for
// each, with the line of the value. In the server's strict error a single entry
// that starts with "yaml: unmarshal errors:" holds all of them, in place of the
// entries for duplicate fields. There are as many of them as the server
// reports, and they are as long. Names that are equal only as strings (1 and
// "1") are not reported; the server keeps the value of either. The list is
// empty unless the decoder was made with a [ServerMode] other than
// [Standalone], under [Warn] or [Strict].
func (d *Decoder) YAMLDuplicates() []string { return d.duplicates }

// ListedByServer reports whether the API server, too, has an entry for a
// finding of the last call, in its strict error or its warnings. It has none
// for the duplicate fields of a YAML document, in a [ServerMode] other than
// [Standalone]: the lines of YAMLDuplicates take their place, except for names
// that are equal only as strings. Every other finding is listed.
func (d *Decoder) ListedByServer(f *errors.Finding) bool {
	isYAML := d.fromYAML && !d.walker.Streaming
	return f.Kind != errors.DuplicateField || !isYAML || d.server == Standalone
}

// hasDuplicates reports whether a duplicate was found. Omitted findings may be duplicates.
func (d *Decoder) hasDuplicates() bool {
	list := d.Findings()
	for i := range list {
		if list[i].Kind == errors.DuplicateField {
			return true
		}
	}
	return d.Omitted() > 0
}

// Omitted returns how many findings of the last call were beyond the limits.
// They were counted, but not kept.
func (d *Decoder) Omitted() int { return d.walker.Found.Omitted }

// walk walks over a whole document and returns its result.
func (d *Decoder) walk(dst, src []byte) ([]byte, error) {
	w := &d.walker
	d.prepare()
	d.lines.Text = src
	if d.isRepaired {
		d.lines.Text = d.original
	}
	defer func() { d.lines.Text = nil }()
	d.startLines(d.isRepaired)
	if !d.compact && d.server == Standalone {
		w.MostOut = len(dst) + min(d.limits.OutputBytes, math.MaxInt-len(dst))
	}
	st := w.Walk(dst, src)
	out := w.Out
	w.Forget()
	if st != skip.Done {
		w.Found.Reset()
		return dst, d.fatal(src, st)
	}
	w.Found.Locate((*locator)(d))
	d.finish()
	return d.checked(dst, out, src)
}

// checked makes the result of a document from out, in which the walk has appended to dst. It
// returns dst and an error if the document is refused.
func (d *Decoder) checked(dst, out, src []byte) ([]byte, error) {
	w := &d.walker
	if w.Found.Mismatches > 0 {
		return dst, w.Found.TypeError()
	}
	if d.expected != (objectType{}) {
		if err := d.checkExpected(src); err != nil {
			return dst, err
		}
	}
	if d.server != Standalone {
		var err error
		if out, err = d.asServer(out, len(dst), src); err != nil {
			return dst, err
		}
	}
	if d.validateValues != AcceptValues && !w.TooLarge {
		if err := d.checkValues(out[len(dst):], src); err != nil {
			return dst, err
		}
	}
	if d.server != Standalone {
		out = d.numbersAsServer(out, len(dst))
	}
	if d.compact {
		out = compact(out, len(dst))
	}
	if w.TooLarge || len(out)-len(dst) > d.limits.OutputBytes {
		w.Found.Reset()
		return dst, d.limitError(src, errors.LimitOutputBytes, len(src))
	}
	return out, d.verdict()
}

// verdict returns the error that comes with a complete result, or nil.
func (d *Decoder) verdict() error {
	found := &d.walker.Found
	switch {
	case d.validation == Strict && found.Strict > 0:
		return found.StrictError()
	case found.Invalid > 0:
		return found.InvalidError()
	}
	return nil
}

// prepare makes the walker ready for another document.
func (d *Decoder) prepare() {
	w := &d.walker
	d.uses++
	d.poison()
	w.Report = d.validation != Ignore
	w.ReportNulls = d.reportNulls && w.Report
	w.NoteType = d.server != Standalone || d.expected != (objectType{})
	w.AsServer, w.FromStorage = d.server != Standalone, d.server.isStored()
	w.WithoutDefaults = d.server == ServerConversions
	w.MostOut = math.MaxInt
	w.Streaming = false
	w.Judge = nil
}

// finish makes the list of findings from what the walk has recorded.
func (d *Decoder) finish() {
	d.walker.Found.Finish(d.program.Root, d.server != Standalone)
}

// A locator is a Decoder as package findings sees it: with an exported method.
type locator Decoder

// Position returns the position of an offset in the text that is walked.
func (l *locator) Position(at int) errors.Position { return (*Decoder)(l).position(at) }

// position returns the position of an offset in the text that is walked. It is cheap for
// offsets that ascend. In a stream they must ascend.
func (d *Decoder) position(at int) errors.Position {
	if d.walker.Streaming {
		return d.lines.At(at)
	}
	if d.fromYAML {
		return d.yaml.Position(at)
	}
	if d.isRepaired {
		at = d.repaired.Original(at)
	}
	if !d.lines.Reaches(at) {
		d.startLines(d.isRepaired)
	}
	return d.lines.At(at)
}

// startLines makes d.lines count from the start of the text. notUTF8 is the field of
// position.Counter.
func (d *Decoder) startLines(notUTF8 bool) {
	d.lines = position.From(d.lines.Text, d.origin)
	d.lines.NotUTF8 = notUTF8
}

// A decoder that holds more than largeBuffer lets go of its buffers after at most maxIdleCalls
// calls in a row for documents of less than a quarter of that.
const (
	largeBuffer  = 1 << 20
	maxIdleCalls = 16
)

// heldBytes returns how many bytes there are in the decoder's buffers.
func (d *Decoder) heldBytes() int {
	return cap(d.json) + cap(d.stream) + cap(d.output) + cap(d.result) + d.values.Held() +
		d.walker.Held() + d.screen.Held() + d.parts.held() + cap(d.scratch) + cap(d.repaired.Text) + d.yamlHeld
}

// releaseIdle lets go of buffers that a few large documents have grown. It is called after
// each document, with its length. What is held is summed up in one of maxIdleCalls calls only,
// as there are many buffers.
func (d *Decoder) releaseIdle(used int) {
	if d.idleCalls++; used >= largeBuffer/4 {
		d.idleCalls = 0
	}
	if d.idleCalls < maxIdleCalls {
		return
	}
	d.idleCalls = 0
	if d.heldBytes() > largeBuffer {
		d.dropBuffers()
	}
}
