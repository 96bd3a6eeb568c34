package walk

import (
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/findings"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A lastPath is the path of the last finding. Paths that start with the same steps lead
// into the same container, so that the next path can copy their start.
type lastPath struct {
	segments []pathSegment
	pathAt   int // where the path starts in Found.Paths
}

// A pathSegment is a segment of the last path.
type pathSegment struct {
	cur  names.Place // of the frame
	end  int         // of the segment in the path
	text int         // the bound for the length of the text up to there
}

// resetFindings forgets all findings.
func (w *Walker) resetFindings() {
	w.Found.Reset()
	w.segments = w.segments[:0]
}

// here notes where in the current container the walk is, so that the frames are its
// path.
//
//espalier:inline
func (w *Walker) here(kind uint8, cur names.Place) {
	w.frames[w.sp].kind, w.frames[w.sp].cur = kind, cur
}

// note adds a finding at an index, about the member or element that is being read.
func (w *Walker) note(at int, kind uint8, cur names.Place, r findings.Record) {
	r.At = at
	w.here(kind, cur)
	if w.Streaming {
		w.Found.Add(r, w.sp, w.frameSegment)
		return
	}
	if w.Found.Count(r.Kind) {
		return
	}
	paths, text := w.appendPath(w.Found.Paths())
	if !w.Found.Keep(r, paths, text) {
		w.segments = w.segments[:0]
	}
}

// appendPath appends the path of the frames, and returns the bound for its text. Most
// findings are near the one before: the common start of their paths is copied.
func (w *Walker) appendPath(paths []byte) (_ []byte, text int) {
	from, same := len(paths), 0
	steps.Add(w.sp)
	for same < min(len(w.segments), w.sp) && w.segments[same].cur == w.frames[same+1].cur {
		same++
	}
	if same > 0 {
		last := w.segments[same-1]
		paths = append(paths, paths[w.pathAt:w.pathAt+last.end]...)
		text = last.text
	}
	w.segments, w.pathAt = w.segments[:same], from
	for i := same; i < w.sp; i++ {
		name, index := w.frameSegment(i)
		var more int
		paths, more = fieldpath.AppendSegment(paths, name, index)
		if text += more; text > fieldpath.WholeBytes {
			w.segments = w.segments[:0]
			return fieldpath.Append(paths[:from], w.sp, w.frameSegment)
		}
		w.segments = append(w.segments, pathSegment{w.frames[i+1].cur, len(paths) - from, text})
	}
	return paths, text
}

// frameSegment returns the segments of the path of the frames, for package fieldpath.
func (w *Walker) frameSegment(i int) (name []byte, index int) {
	f := &w.frames[i+1]
	if f.kind == inArray {
		return nil, int(f.cur)
	}
	b, at := w.b, f.cur.Index()+1
	if f.cur.IsBeside() {
		b = w.opened
	}
	end, escaped, _ := jsonwire.ScanString(b, at)
	steps.Add(end - at)
	if escaped {
		return w.unescape(b[at:end]), 0
	}
	return b[at:end], 0
}

// unescape returns the text of a name, until the next call. It is not nil, which would
// be an index.
func (w *Walker) unescape(raw []byte) []byte {
	if w.scratch == nil {
		w.scratch = make([]byte, 0, 64)
	}
	w.scratch = jsonwire.AppendUnescaped(w.scratch[:0], raw)
	return w.scratch
}
