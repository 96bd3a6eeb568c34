// Package findings collects what a walk reports, within limits, and makes the
// list of it that a decoder returns.
//
// While the walk goes on, a finding is a Record: a kind, an offset, and a path in
// the encoding of package fieldpath. After the walk, Finish finds the order of the
// API server (order.go) and makes a List of the records. Positions are found by a
// Locator, in one pass over the document.
//
// A Collector knows neither the walk nor the window: whoever adds a record has its
// path.
package findings

import (
	"cmp"
	"math"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A Record is a finding while the walk goes on.
type Record struct {
	Kind  errors.FindingKind
	Group program.Group // of the node that does not declare the field
	// At and First are indices of the window. On a stream, At is the offset in the
	// document after LocateLeaving.
	At, First int
	// Their positions, once they are known. For a duplicate field, First is where
	// the first of the names is.
	Position, FirstPosition errors.Position
	Count                   int           // of duplicates, without the first
	Want, Got               program.Types // of a mismatch
	Back                    int           // from At to the name, for a dropped null
	Invalid                 *errors.ValueError

	size          int // what it adds to Collector.textBytes
	path, end     int // the encoded path in Collector.paths
	sort, sortEnd int // what it is sorted by, in Collector.spelled
	text, textEnd int // what messages say instead of the path, in Collector.texts
}

// Unknown returns a record for a field that a node of the group does not declare.
func Unknown(g program.Group) Record { return Record{Kind: errors.UnknownField, Group: g} }

// DroppedNull returns a record for a null that is dropped. Its name starts so many bytes before it.
func DroppedNull(back int) Record { return Record{Kind: errors.DroppedNull, Back: back} }

// Mismatch returns a record for a value of a wrong type.
func Mismatch(want, got program.Types) Record {
	return Record{Kind: errors.TypeMismatch, Want: want, Got: got}
}

// Invalid returns a record for a value at an index of the window that the server refuses.
func Invalid(at int, why *errors.ValueError) Record {
	return Record{Kind: errors.InvalidValue, At: at, Invalid: why}
}

// A Collector collects the findings of one document after the other. The zero
// Collector keeps none.
type Collector struct {
	Most      int // findings that are kept
	MostBytes int // of their paths as text, together

	// What was found.
	Omitted    int         // findings that were not kept
	Mismatches int         // with omitted ones
	Strict     int         // unknown and duplicate fields, with omitted ones
	Invalid    int         // invalid values, with omitted ones
	List       errors.List // see Finish

	records   []Record
	paths     []byte
	textBytes int  // the length of the paths as text, at most
	kept      int  // invalid values among the records
	located   int  // records that have their positions, on a stream
	single    bool // see ResetForError
	wanted    []wantedPosition

	order   []ordered // the records, as they are reported
	spelled []byte    // what they are sorted by
	texts   []byte
	// Senders repeat themselves. What was made for the last document serves again if
	// it says the same; nobody can change it.
	lastPaths  string
	lastTexts  string
	lastStrict *errors.StrictError
	lastList   errors.List // of lastStrict
}

// Reset forgets all findings.
func (c *Collector) Reset() {
	c.records, c.paths, c.located = c.records[:0], c.paths[:0], 0
	c.textBytes, c.kept, c.Omitted, c.Mismatches, c.Strict, c.Invalid = 0, 0, 0, 0, 0, 0
	c.List, c.single = c.List[:0], false
}

// ResetForError is Reset, and keeps the next record only, whatever the limits are:
// an error is made of it.
func (c *Collector) ResetForError() {
	c.Reset()
	c.single = true
}

// Add adds a finding whose path has these segments, see [fieldpath.Append].
func (c *Collector) Add(r Record, depth int, segment func(i int) (name []byte, index int)) {
	if c.Count(r.Kind) {
		return
	}
	from := len(c.paths)
	path, text := fieldpath.Append(c.paths, depth, segment)
	steps.Add(len(path) - from)
	c.Keep(r, path, text)
}

// Count counts a finding of the kind. It reports whether there are so many that no
// more are kept.
func (c *Collector) Count(kind errors.FindingKind) (full bool) {
	switch kind {
	case errors.TypeMismatch:
		c.Mismatches++
	case errors.UnknownField, errors.DuplicateField:
		c.Strict++
	case errors.InvalidValue:
		c.Invalid++
	}
	full = len(c.records) >= c.Most || c.textBytes >= c.MostBytes
	if c.single {
		full = len(c.records) > 0
	} else if full && kind != errors.InvalidValue && c.kept > 0 {
		c.omitInvalid()
		return false
	}
	if full {
		c.Omitted++
	}
	return full
}

// omitInvalid makes room for another finding: invalid values come after all others, also if a stream
// has found them before.
func (c *Collector) omitInvalid() {
	last := len(c.records) - 1
	for c.records[last].Kind != errors.InvalidValue {
		last--
	}
	r := &c.records[last]
	c.textBytes -= r.size
	if last < c.located {
		c.located--
	}
	c.records = slices.Delete(c.records, last, last+1)
	c.kept--
	c.Omitted++
}

// Paths returns the encoded paths of all records. A caller may append the path of
// another one, for Keep.
func (c *Collector) Paths() []byte { return c.paths }

// Keep adds a finding that was counted. Its path is what paths, which must start with
// those of Paths, has more; its text has at most so many bytes. Keep reports whether
// there was room for that text.
func (c *Collector) Keep(r Record, paths []byte, text int) bool {
	from := len(c.paths)
	if r.Invalid != nil {
		text += r.Invalid.Size()
	}
	if c.textBytes += text; c.textBytes > c.MostBytes && !c.single {
		c.paths = paths[:from]
		c.Omitted++
		return false
	}
	c.paths = paths
	r.path, r.end, r.size = from, len(paths), text
	c.records = append(c.records, r)
	if r.Invalid != nil {
		c.kept++
	}
	return true
}

// OmitStrict counts unknown or duplicate fields that were found and not added.
func (c *Collector) OmitStrict(n int) {
	c.Omitted += n
	c.Strict += n
}

// Retract takes back the unknown fields and dropped nulls among the records from first
// on that are superseded.
func (c *Collector) Retract(first int, superseded func(r *Record) bool) {
	kept, located := c.records[:first], min(first, c.located)
	for i := first; i < len(c.records); i++ {
		r := &c.records[i]
		switch {
		case r.Kind == errors.UnknownField && superseded(r):
			c.Strict--
			continue
		case r.Kind == errors.DroppedNull && superseded(r):
			continue
		}
		if i < c.located {
			located++
		}
		kept = append(kept, *r)
	}
	c.records, c.located = kept, located
}

// RetractInvalid takes back the invalid values among the records that are none. With those that were
// omitted there are so many of them.
func (c *Collector) RetractInvalid(n int, isNone func(e *errors.ValueError) bool) {
	before := len(c.records)
	c.records = slices.DeleteFunc(c.records, func(r Record) bool {
		gone := r.Kind == errors.InvalidValue && isNone(r.Invalid)
		if gone {
			c.textBytes -= r.size
		}
		return gone
	})
	retracted := before - len(c.records)
	c.Invalid -= n
	c.Omitted -= n - retracted
	c.kept -= retracted
	c.located = len(c.records)
}

// Records returns the records, in the order in which they were found.
func (c *Collector) Records() []Record { return c.records }

// A Locator returns positions in the document.
type Locator interface {
	// Position returns the position of an index of the window. It is cheap for
	// indices that ascend.
	Position(at int) errors.Position
}

// A wantedPosition is an index whose position is wanted.
type wantedPosition struct {
	at       int
	position *errors.Position
}

// Want asks the next call of Locate or LocateLeaving for the position of an index.
func (c *Collector) Want(at int, position *errors.Position) {
	c.wanted = append(c.wanted, wantedPosition{at, position})
}

// WantRoom makes room for n calls of Want, and charges the account for it.
func (c *Collector) WantRoom(account *memory.Account, n int) {
	c.wanted = memory.Room(account, c.wanted, n)
}

// Locate finds the positions of all records that have none, and those that are
// wanted.
func (c *Collector) Locate(l Locator) { c.locate(math.MaxInt, l) }

// locate finds the positions before an index, and those that are wanted.
func (c *Collector) locate(before int, l Locator) {
	for i := c.located; i < len(c.records); i++ {
		r := &c.records[i]
		if !r.Position.IsValid() && r.At < before {
			c.Want(r.At, &r.Position)
		}
		if r.Kind == errors.DuplicateField && !r.FirstPosition.IsValid() && r.First < before {
			c.Want(r.First, &r.FirstPosition)
		}
	}
	slices.SortFunc(c.wanted, func(a, b wantedPosition) int { return cmp.Compare(a.at, b.at) })
	for _, p := range c.wanted {
		*p.position = l.Position(p.at)
	}
	c.wanted = c.wanted[:0]
}

// LocateLeaving is Locate for the first n bytes of a window, which a stream leaves: the
// records that are there go by their offsets in the document then.
func (c *Collector) LocateLeaving(n int, l Locator) {
	c.locate(n, l)
	all := true
	for i := c.located; i < len(c.records); i++ {
		r := &c.records[i]
		if r.Position.IsValid() {
			r.At = int(r.Position.Offset)
		} else {
			r.At -= n
			all = false
		}
		if r.Kind == errors.DuplicateField && !r.FirstPosition.IsValid() {
			r.First -= n
			all = false
		}
		if all {
			c.located = i + 1
		}
	}
}

// Finish makes the List of the records, which must have their positions. The root is
// that of the program; with asServer, the findings have the texts of the API server
// for requests.
func (c *Collector) Finish(root *program.Node, asServer bool) {
	c.List = c.List[:0]
	if len(c.records) == 0 {
		return
	}
	if string(c.paths) != c.lastPaths {
		c.lastPaths = string(c.paths)
	}
	c.sort(root, asServer)
	if string(c.texts) != c.lastTexts {
		c.lastTexts = string(c.texts)
	}
	c.mergeDuplicates()
	c.List = slices.Grow(c.List, len(c.order))[:len(c.order)]
	for i := range c.order {
		r, f := &c.records[c.order[i].at], &c.List[i]
		*f = errors.Finding{
			Kind: r.Kind, Path: errors.PathOf(fieldpath.Of(c.encoded(r))),
			Position: r.Position, First: r.FirstPosition, Count: r.Count,
		}
		if r.text < r.textEnd {
			errors.Spell(f, fieldpath.Spelled(c.lastTexts[r.text:r.textEnd]))
		}
		if r.Kind == errors.TypeMismatch {
			f.Want, f.Got = r.Want.String(), r.Got.String()
		}
	}
}

// FinishInvalid adds the invalid values, which were found after Finish, to the end of the List, in
// the order of the document.
func (c *Collector) FinishInvalid() {
	if c.kept == 0 {
		return
	}
	c.lastPaths = string(c.paths)
	var invalid []Record // on a stream they are among the others
	for i := range c.records {
		if c.records[i].Kind == errors.InvalidValue {
			invalid = append(invalid, c.records[i])
		}
	}
	slices.SortStableFunc(invalid, func(a, b Record) int { return cmp.Compare(a.At, b.At) })
	for i := range invalid {
		r := &invalid[i]
		c.List = append(c.List, errors.Finding{
			Kind: r.Kind, Path: errors.PathOf(fieldpath.Of(c.encoded(r))), Position: r.Position, Invalid: r.Invalid,
		})
	}
}

// encoded returns the path of a record, as package fieldpath encodes it.
func (c *Collector) encoded(r *Record) string { return c.lastPaths[r.path:r.end] }

// DuplicateError returns the error for the single record after ResetForError: a name
// that repeats in what a stream keeps.
func (c *Collector) DuplicateError(l Locator) *errors.DuplicateError {
	r := c.records[0]
	c.lastPaths = string(c.paths)
	if !r.FirstPosition.IsValid() && r.First >= 0 {
		r.FirstPosition = l.Position(r.First)
	}
	if !r.Position.IsValid() {
		r.Position = l.Position(r.At)
	}
	return &errors.DuplicateError{
		Path: errors.PathOf(fieldpath.Of(c.encoded(&r))), First: r.FirstPosition, Position: r.Position,
	}
}

// StrictError returns the error for the unknown and duplicate fields of the List. If
// the last one says the same, it serves again.
func (c *Collector) StrictError() *errors.StrictError {
	if c.lastStrict != nil && c.lastStrict.Omitted() == c.Omitted && c.foundAgain() {
		return c.lastStrict
	}
	c.lastList = make(errors.List, 0, len(c.List))
	for i := range c.List {
		if f := &c.List[i]; isStrict(f) {
			c.lastList = append(c.lastList, *f)
		}
	}
	c.lastStrict = errors.NewStrictError(c.lastList, c.Omitted)
	return c.lastStrict
}

// InvalidError returns the error for the invalid values of the List.
func (c *Collector) InvalidError() *errors.InvalidError {
	var list errors.List
	for i := range c.List {
		if f := &c.List[i]; f.Kind == errors.InvalidValue {
			list = append(list, *f)
		}
	}
	return errors.NewInvalidError(list, c.Invalid-len(list))
}

// foundAgain reports whether the last strict error has the findings of the List.
func (c *Collector) foundAgain() bool {
	n := 0
	for i := range c.List {
		if f, last := &c.List[i], c.lastList; isStrict(f) {
			if n == len(last) || *f != last[n] {
				return false
			}
			n++
		}
	}
	return n == len(c.lastList)
}

func isStrict(f *errors.Finding) bool {
	return f.Kind == errors.UnknownField || f.Kind == errors.DuplicateField
}

// TypeError returns the error for the mismatches of the List.
func (c *Collector) TypeError() *errors.TypeError {
	e := new(errors.TypeError)
	for _, f := range c.List {
		if f.Kind == errors.TypeMismatch {
			e.Findings = append(e.Findings, f)
		}
	}
	e.Omitted = c.Mismatches - len(e.Findings)
	return e
}

// Held returns the memory of what grows with documents and is not limited by Most
// and MostBytes, in bytes.
func (c *Collector) Held() int {
	return memory.Held(c.wanted) + memory.Held(c.spelled)
}

// Cap returns the memory that the collector keeps besides Held, in bytes.
func (c *Collector) Cap() int {
	return memory.Held(c.records) + memory.Held(c.order) + memory.Held(c.List) + memory.Held(c.lastList) +
		memory.Held(c.paths) + memory.Held(c.texts) + len(c.lastPaths) + len(c.lastTexts)
}

// Drop lets go of what Held counts, and of the texts of server messages.
func (c *Collector) Drop() { c.wanted, c.spelled, c.texts = nil, nil, nil }
