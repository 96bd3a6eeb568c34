package yamlbridge

import (
	"fmt"
	"math"
	"sort"
	"strconv"

	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// A typedKey is a key that is not a string, or not UTF-8. In JSON all names are strings, but the
// API server looks for duplicates before it converts keys to strings.
type typedKey struct {
	at    int // in the text
	value value
}

// ServerDuplicates returns what the API server's strict reading reports for the
// last document: `line 3: key "a" already set in map`, in the server's order
// and with its choice of lines (those of the values). json is the JSON that was
// appended for the document. It is for readers of the dialect [Server]. Memory
// and time are linear in the length of json.
//
// The server's own message starts with "yaml: unmarshal errors:" and separates
// the entries by a line break and two spaces, which also precede the first
// entry.
func (r *Reader) ServerDuplicates(json []byte) []string {
	type open struct {
		keys map[string]bool // of a mapping
		key  int             // where the name of the current member starts
		// Of the current member, once its value is read: those of nested ones come first.
		report string
	}
	var (
		list   []string
		stack  []open
		f      = &open{}
		breaks = appendLineFeeds(nil, r.text)
		tracer = newTracer(r)

		name, id []byte
	)
	for i := 0; i < len(json); {
		switch json[i] {
		case '{':
			stack = append(stack, open{keys: make(map[string]bool), key: i + 1})
			i++
		case '[':
			stack = append(stack, open{})
			i++
		case ',', '}', ']':
			if f.report != "" {
				list = append(list, f.report)
				f.report = ""
			}
			if json[i] != ',' {
				stack = stack[:len(stack)-1]
			}
			i++
			f.key = i
		default:
			end := skipJSON(json, i)
			if f.keys != nil && f.key == i {
				name = jsonwire.AppendUnescaped(name[:0], json[i+1:end-1])
				v := r.typedKey(i, &tracer)
				id = appendKeyID(id[:0], name, v, i)
				end++ // with the colon
				if f.keys[string(id)] {
					at, _ := tracer.lead(end)
					line := 1 + sort.SearchInts(breaks, at) + max(r.Origin.Line-1, 0)
					f.report = fmt.Sprintf("line %d: key %s already set in map",
						line, shownKey(name, v))
				} else {
					f.keys[string(id)] = true
				}
			}
			i = end
		}
		if len(stack) > 0 {
			f = &stack[len(stack)-1]
		}
	}
	return list
}

// typedKey returns the value of the key whose name is at an offset of the JSON, or nil if that is a
// string.
func (r *Reader) typedKey(offset int, t *tracer) *value {
	if len(r.typed) == 0 {
		return nil
	}
	here, there := t.lead(offset)
	if v := r.typedAt(here); v != nil { // an alias is recorded at its own place
		return v
	}
	return r.typedAt(there)
}

// appendKeyID appends what distinguishes a key from others: its name, or its value v.
func appendKeyID(id, name []byte, v *value, offset int) []byte {
	switch {
	case v == nil:
		return append(append(id, 's'), name...)
	case v.kind == bytesValue: // the same as the name that the server makes of it, but not before
		return append(append(id, 's'), v.text...)
	case v.kind == floatValue:
		if v.f != v.f {
			return strconv.AppendInt(append(id, 'f'), int64(offset), 10) // equal to nothing
		}
		if v.f == 0 {
			return append(id, "f0"...) // 0.0 and -0.0 are equal
		}
		return strconv.AppendFloat(append(id, 'f'), v.f, 'x', -1, 64)
	}
	return append(append(id, 't'), name...)
}

// shownKey returns a key as the server shows it.
func shownKey(name []byte, v *value) string {
	switch {
	case v == nil:
		return strconv.Quote(string(name))
	case v.kind == nullValue:
		return "<nil>"
	case v.kind == bigValue:
		return fmt.Sprintf("%#v", v.u)
	case v.kind == bytesValue:
		return strconv.Quote(string(v.text))
	case v.kind == floatValue:
		return fmt.Sprintf("%#v", v.f) // NaN is equal to nothing, and not shown
	}
	return string(name)
}

// A tracer finds the place in the text of ascending offsets of the JSON, as definition does for
// one. It keeps the copies that the last offset was in. Finding them again for each offset, in
// copies of copies of copies, would take quadratic time.
type tracer struct {
	r      *Reader
	levels []level
}

// A level is a copy that contains an offset of the JSON, within the copy of the level before, or
// the JSON itself.
type level struct {
	end    int // in the JSON
	shift  int // from an offset of the JSON to the one it was copied from
	inSide bool
}

func newTracer(r *Reader) tracer {
	return tracer{r, []level{{end: math.MaxInt}}}
}

// lead returns in there the offset in the text where the JSON at an offset was written. here is the
// same, but at the start of a copy it is the place of the copy: of the outermost one, if several
// start there.
func (t *tracer) lead(offset int) (here, there int) {
	for offset >= t.levels[len(t.levels)-1].end {
		t.levels = t.levels[:len(t.levels)-1]
	}
	here = -1
	for {
		l := t.levels[len(t.levels)-1]
		trail := t.r.trail(l.inSide)
		at := offset + l.shift
		c, ok := trail.copyAt(at)
		if !ok {
			there = trail.at(at)
			break
		}
		if here < 0 && c.start == at {
			here = trail.at(at)
		}
		end := min(l.end, c.end-l.shift)
		t.levels = append(t.levels, level{end, l.shift + c.from - c.start, c.inSide})
	}
	if here < 0 {
		here = there
	}
	return here, there
}

// typedAt returns the value of the key at an offset of the text, or nil if that is a string.
func (r *Reader) typedAt(at int) *value {
	i := sort.Search(len(r.typed), func(i int) bool { return r.typed[i].at >= at })
	if i == len(r.typed) || r.typed[i].at != at {
		return nil
	}
	return &r.typed[i].value
}

// appendLineFeeds appends the offsets of the line feeds in text. Line breaks of the server are line
// feeds there.
func appendLineFeeds(list []int, text []byte) []int {
	for i, c := range text {
		if c == '\n' {
			list = append(list, i)
		}
	}
	return list
}
