package decoder

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A record is a finding while the walk goes on: offsets instead of positions.
type record struct {
	kind      errors.FindingKind
	group     program.Group
	at, first int // offsets in the text that is walked, or in the window
	// Where these are. On a stream, at is the offset in the document once that is known.
	position, firstPosition errors.Position
	count                   int
	path, end               int // the encoded path in findings.paths
	sort, sortEnd           int // what it is sorted by, in findings.scratch
	text, textEnd           int // what messages say instead of the path, in findings.texts
	want, got               program.Types
}

// findings collects what a walk reports, within limits.
type findings struct {
	records    []record
	paths      []byte
	textBytes  int // the length of the paths as text, at most
	omitted    int
	mismatches int       // all of them, omitted ones too
	strict     int       // unknown and duplicate fields, omitted ones too
	order      []ordered // the records, as they are reported
	list       errors.List
	lastStrict *errors.StrictError
	lastList   errors.List // of lastStrict, which it is shared with and which is never changed
	scratch    []byte
	texts      []byte
	lastPaths  string
	lastTexts  string
	places     []place
	steps      []pathStep // of the last path that the frames were
	stepsAt    int        // where it starts in paths
	located    int        // records that have their positions, on a stream
	// fatal says that the first record is not a finding but what an error is made of: the
	// limits are not for it.
	fatal bool
}

func (f *findings) reset() {
	f.records, f.paths, f.located = f.records[:0], f.paths[:0], 0
	f.textBytes, f.omitted, f.mismatches, f.strict = 0, 0, 0, 0
	f.list, f.fatal, f.steps = f.list[:0], false, f.steps[:0]
}

// A pathStep is a segment of the last path that the frames were. Paths that start with the same steps lead into the
// same container.
type pathStep struct {
	cur  int // of the frame
	end  int // of the segment in that path
	text int // the bound for the text up to there
}

func (w *walker) unknown(g program.Group) record {
	return record{kind: errors.UnknownField, group: g}
}

func (w *walker) droppedNull() record { return record{kind: errors.DroppedNull} }

func (w *walker) mismatch(want, got program.Types) record {
	return record{kind: errors.TypeMismatch, want: want, got: got}
}

// here notes where in the current container the walk is, so that the frames
// are a path.
func (w *walker) here(kind uint8, cur int) {
	w.frames[w.sp].kind, w.frames[w.sp].cur = kind, cur
}

// note adds a finding about the member or element that is being read.
func (w *walker) note(at int, kind uint8, cur int, r record) {
	r.at = at
	w.here(kind, cur)
	if w.isFull(r.kind) {
		return
	}
	from := len(w.paths)
	if w.streaming {
		text := 0
		w.paths, text = fieldpath.Append(w.paths, w.sp, w.frameSegment)
		w.keep(r, from, text)
		return
	}
	w.keep(r, from, w.appendFrames())
}

// appendFrames appends the path that the frames are, and returns the bound for its text. Most
// findings are near the one before: what their paths have in common is copied.
func (w *walker) appendFrames() (text int) {
	from, same := len(w.paths), 0
	steps.Add(w.sp)
	for same < min(len(w.steps), w.sp) && w.steps[same].cur == w.frames[same+1].cur {
		same++
	}
	if same > 0 {
		last := w.steps[same-1]
		w.paths = append(w.paths, w.paths[w.stepsAt:w.stepsAt+last.end]...)
		text = last.text
	}
	w.steps, w.stepsAt = w.steps[:same], from
	for i := same; i < w.sp; i++ {
		name, index := w.frameSegment(i)
		var more int
		w.paths, more = fieldpath.AppendSegment(w.paths, name, index)
		if text += more; text > fieldpath.WholeBytes {
			w.steps = w.steps[:0]
			w.paths, text = fieldpath.Append(w.paths[:from], w.sp, w.frameSegment)
			return text
		}
		w.steps = append(w.steps, pathStep{w.frames[i+1].cur, len(w.paths) - from, text})
	}
	return text
}

// frameSegment returns the segments of the path that the frames are.
func (w *walker) frameSegment(i int) (name []byte, index int) {
	f := &w.frames[i+1]
	if f.kind == inArray {
		return nil, f.cur
	}
	b, at := w.b, f.cur+1
	if f.cur < 0 {
		b, at = w.opened, ^f.cur+1
	}
	end, escaped, _ := jsonwire.ScanString(b, at)
	steps.Add(end - at)
	if escaped {
		return w.unescape(b[at:end]), 0
	}
	return b[at:end], 0
}

// unescape returns the text of a name, until the next call. It is not nil, which is an index.
func (w *walker) unescape(raw []byte) []byte {
	if w.scratch == nil {
		w.scratch = make([]byte, 0, 64)
	}
	w.scratch = jsonwire.AppendUnescaped(w.scratch[:0], raw)
	return w.scratch
}

// add adds a finding at another path.
func (w *walker) add(r record, depth int, segment func(i int) ([]byte, int)) {
	if w.isFull(r.kind) {
		return
	}
	from, text := len(w.paths), 0
	w.paths, text = fieldpath.Append(w.paths, depth, segment)
	steps.Add(len(w.paths) - from)
	w.keep(r, from, text)
}

// isFull counts a finding, and reports whether that is all that becomes of it, as there are enough.
func (w *walker) isFull(kind errors.FindingKind) bool {
	switch kind {
	case errors.TypeMismatch:
		w.mismatches++
	case errors.UnknownField, errors.DuplicateField:
		w.strict++
	}
	full := len(w.records) >= w.limits.Findings || w.textBytes >= w.limits.FindingBytes
	if w.fatal {
		full = len(w.records) > 0
	}
	if full {
		w.omitted++
	}
	return full
}

// keep keeps a finding whose path starts at from in paths, if there is room for its text.
func (w *walker) keep(r record, from, text int) {
	if w.textBytes += text; w.textBytes > w.limits.FindingBytes && !w.fatal {
		w.paths, w.steps = w.paths[:from], w.steps[:0]
		w.omitted++
		return
	}
	r.path, r.end = from, len(w.paths)
	w.records = append(w.records, r)
}

// A place is an offset to which a position is wanted.
type place struct {
	at  int
	pos *errors.Position
}

// finish turns the records into findings with positions, in the order of the
// API server.
func (d *Decoder) finish() {
	w := &d.walker
	w.list = w.list[:0]
	if len(w.records) == 0 {
		return
	}
	// Senders repeat themselves: the paths of the last call often serve again.
	if string(w.paths) != w.lastPaths {
		w.lastPaths = string(w.paths)
	}
	if !w.streaming {
		d.locateRecords()
	}
	w.sort()
	if string(w.texts) != w.lastTexts {
		w.lastTexts = string(w.texts)
	}
	w.mergeDuplicates()
	w.list = slices.Grow(w.list, len(w.order))[:len(w.order)]
	for i := range w.order {
		r, f := &w.records[w.order[i].at], &w.list[i]
		*f = errors.Finding{Kind: r.kind, Path: w.pathOf(r), Position: r.position, First: r.firstPosition, Count: r.count}
		if r.text < r.textEnd {
			errors.Spell(f, fieldpath.Spelled(w.lastTexts[r.text:r.textEnd]))
		}
		if r.kind == errors.TypeMismatch {
			f.Want, f.Got = r.want.String(), r.got.String()
		}
	}
}

// locateRecords finds the positions of the records.
func (d *Decoder) locateRecords() {
	w := &d.walker
	w.places = w.places[:0]
	for i := range w.records {
		r := &w.records[i]
		w.places = append(w.places, place{r.at, &r.position})
		if r.kind == errors.DuplicateField {
			w.places = append(w.places, place{r.first, &r.firstPosition})
		}
	}
	d.locate()
}

// locate finds the positions of the places.
func (d *Decoder) locate() {
	slices.SortFunc(d.walker.places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	for _, p := range d.walker.places {
		*p.pos = d.position(p.at)
	}
	d.walker.places = d.walker.places[:0]
}

// strictError returns the error for what was found. Senders repeat themselves: if the last one says the
// same, it serves again, as nobody can change it.
func (d *Decoder) strictError() error {
	w := &d.walker
	if w.lastStrict != nil && w.lastStrict.Omitted() == w.omitted && w.foundAgain() {
		return w.lastStrict
	}
	w.lastList = make(errors.List, 0, len(w.list))
	for i := range w.list {
		if f := &w.list[i]; isStrict(f) {
			w.lastList = append(w.lastList, *f)
		}
	}
	w.lastStrict = errors.NewStrictError(w.lastList, w.omitted)
	return w.lastStrict
}

// foundAgain reports whether what strict validation refuses now is what the last error has.
func (f *findings) foundAgain() bool {
	n := 0
	for i := range f.list {
		if f, last := &f.list[i], f.lastList; isStrict(f) {
			if n == len(last) || *f != last[n] {
				return false
			}
			n++
		}
	}
	return n == len(f.lastList)
}

func isStrict(f *errors.Finding) bool {
	return f.Kind == errors.UnknownField || f.Kind == errors.DuplicateField
}

// mergeDuplicates makes one finding of duplicates with the same path, as the API
// server does it: an object that is repeated may hold the same repetitions. The
// duplicates come first in the order.
func (f *findings) mergeDuplicates() {
	count := 0
	for count < len(f.order) && f.order[count].rank == rankDuplicate {
		count++
	}
	if count < 2 {
		return
	}
	var byPath map[string]int32
	if count > 4*maxPairwise {
		byPath = make(map[string]int32, count)
	}
	kept := f.order[:0]
	for _, e := range f.order[:count] {
		r := &f.records[e.at]
		path := f.encoded(r)
		first, known := byPath[path]
		if byPath == nil {
			same := slices.IndexFunc(kept, func(kept ordered) bool {
				return f.encoded(&f.records[kept.at]) == path
			})
			if known = same >= 0; known {
				first = kept[same].at
			}
		}
		if known {
			f.records[first].count += r.count
			continue
		}
		if byPath != nil {
			byPath[path] = e.at
		}
		kept = append(kept, e)
	}
	f.order = append(kept, f.order[count:]...)
}

func (f *findings) pathOf(r *record) errors.Path { return errors.PathOf(fieldpath.Of(f.encoded(r))) }

// encoded returns the path of a record as package fieldpath encodes it.
func (f *findings) encoded(r *record) string { return f.lastPaths[r.path:r.end] }

// rank is the place of a finding among the groups in which the API server
// reports. What it does not report comes last.
func (r *record) rank() rank {
	switch {
	case r.kind == errors.DuplicateField:
		return rankDuplicate
	case r.kind != errors.UnknownField:
		return rankOther
	case r.group == program.RootMetadata:
		return rankRootMetadata
	case r.group == program.Pruned:
		return rankPruned
	}
	return rankEmbedded
}

type rank uint8

const (
	rankDuplicate    rank = iota // in the order of the document
	rankRootMetadata             // in the order of a walk with sorted names
	rankPruned                   // by the server's spelling of the path
	rankEmbedded                 // by another spelling of it
	rankOther                    // in the order of the document
)

// sort puts the records into the order in which the API server reports them.
func (w *walker) sort() {
	w.scratch, w.texts = w.scratch[:0], w.texts[:0]
	for i := range w.records {
		r := &w.records[i]
		r.sort, r.text = len(w.scratch), len(w.texts)
		switch r.rank() {
		case rankPruned:
			w.spell(r, nil)
		case rankEmbedded:
			w.spell(r, w.program.Root)
		}
		r.sortEnd, r.textEnd = len(w.scratch), len(w.texts)
	}
	common := w.commonStart()
	w.order = w.order[:0]
	for i := range w.records {
		r := &w.records[i]
		e := ordered{at: int32(i), rank: r.rank(), key: uint64(r.at)}
		switch e.rank {
		case rankRootMetadata:
			e.key = 0
		case rankPruned, rankEmbedded:
			e.key = firstBytes(w.scratch[r.sort+common : r.sortEnd])
		}
		w.order = append(w.order, e)
	}
	slices.SortFunc(w.order, func(x, y ordered) int {
		switch {
		case x.rank != y.rank:
			return int(x.rank) - int(y.rank)
		case x.key != y.key:
			return cmp.Compare(x.key, y.key)
		}
		return w.compare(x.rank, &w.records[x.at], &w.records[y.at])
	})
}

// An ordered is the index of a record with what most records are put in order by.
type ordered struct {
	key  uint64
	at   int32
	rank rank
}

// firstBytes returns the first eight bytes of a text as a number that sorts like it.
func firstBytes(text []byte) uint64 {
	var b [8]byte
	copy(b[:], text)
	return binary.BigEndian.Uint64(b[:])
}

// commonStart returns how many bytes all texts that records are sorted by have in common. The first of them is where
// scratch starts.
func (w *walker) commonStart() int {
	common := len(w.scratch)
	for i := range w.records {
		r := &w.records[i]
		if rank := r.rank(); rank != rankPruned && rank != rankEmbedded {
			continue
		}
		text, n := w.scratch[r.sort:r.sortEnd], 0
		for n < min(common, len(text)) && w.scratch[n] == text[n] {
			n++
		}
		common = n
	}
	return common
}

// compare says in which order two records of a rank are reported. No two are equal.
func (w *walker) compare(rank rank, a, b *record) int {
	by := 0
	switch rank {
	case rankRootMetadata:
		by = fieldpath.Compare(w.encoded(a), w.encoded(b))
	case rankPruned, rankEmbedded:
		by = bytes.Compare(w.scratch[a.sort:a.sortEnd], w.scratch[b.sort:b.sortEnd])
	}
	return cmp.Or(by, cmp.Compare(a.at, b.at), cmp.Compare(a.path, b.path))
}

// spell appends to scratch what the API server sorts the record by: the path, with
// names as they are. Where n is the root, the path leads to the metadata of an
// embedded resource: then keys of maps are in brackets up to there, and if there
// are any, what ServerRequests puts into messages goes to texts.
func (w *walker) spell(r *record, n *program.Node) {
	first, hasKey := true, false
	for s := range fieldpath.Segments(w.encoded(r)) {
		isKey := false
		var next *program.Node
		if n != nil && n.Group == program.Pruned {
			next, isKey = w.follow(n, s)
		}
		switch {
		case !s.IsName:
			w.scratch = fieldpath.AppendStep(w.scratch, s, first, false)
		case isKey || next != nil && s.Name == "":
			w.scratch = append(append(append(w.scratch, '['), s.Name...), ']')
		default:
			if !first {
				w.scratch = append(w.scratch, '.')
			}
			w.scratch = append(w.scratch, s.Name...)
		}
		if w.asServer {
			w.texts = fieldpath.AppendStep(w.texts, s, false, isKey)
		}
		n, first, hasKey = next, false, hasKey || isKey
	}
	if !hasKey {
		w.texts = w.texts[:r.text]
	}
}

// follow returns the node that a step leads to, or nil where it is not known, as
// the step is not whole; and whether it is the key of a map.
func (w *walker) follow(n *program.Node, s fieldpath.Segment) (next *program.Node, isKey bool) {
	switch {
	case s.Gap > 0:
		return nil, false
	case !s.IsName:
		return n.Elements.Node, false
	}
	at := len(w.scratch)
	name := append(w.scratch, s.Name...)
	w.scratch = name[:at]
	if f := n.Find(name[at:]); f != nil {
		return f.Node, false
	}
	if n.Unknown != nil {
		return n.Unknown.Node, true
	}
	return nil, false
}
