package yamlbridge

import (
	"fmt"
	"sort"
	"strconv"

	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// A typedKey is a key that is no string, or not UTF-8. In JSON all names are strings, but the API
// server looks for duplicates before they are.
type typedKey struct {
	at    int // in the text
	value value
}

// ServerDuplicates returns what the strict reading of the API server reports for the
// document that was read last: `line 3: key "a" already set in map`, in its order
// and with its choice of lines (those of the values). json is what was appended.
// It is for readers with [Reader.AsServer]; the memory and time that it takes
// are linear in the length of json.
//
// The server puts "yaml: unmarshal errors:" and a line break with two spaces before
// the first, and such a break between them.
func (r *Reader) ServerDuplicates(json []byte) []string {
	type open struct {
		keys  map[string]bool // of a mapping
		key   int             // where the name of the current member starts
		value int             // where its value starts
	}
	var (
		list   []string
		stack  []open
		breaks = appendLineFeeds(nil, r.text)
	)
	// finish is for a member whose value has been read: nested ones come first.
	finish := func(f *open) {
		name := jsonwire.AppendUnescaped(nil, json[f.key+1:skipJSON(json, f.key)-1])
		id, shown := r.keyOf(f.key, name)
		if f.keys[id] {
			line := 1 + sort.SearchInts(breaks, r.definition(f.value, true)) + max(r.Origin.Line-1, 0)
			list = append(list, fmt.Sprintf("line %d: key %s already set in map", line, shown))
		}
		f.keys[id] = true
	}
	for i := 0; i < len(json); {
		switch json[i] {
		case '{':
			stack = append(stack, open{keys: make(map[string]bool), key: i + 1})
			i++
		case '[':
			stack = append(stack, open{})
			i++
		case '}', ']':
			if f := &stack[len(stack)-1]; f.keys != nil && f.value > 0 {
				finish(f)
			}
			stack = stack[:len(stack)-1]
			i++
		case ',':
			i++
			if f := &stack[len(stack)-1]; f.keys != nil {
				finish(f)
				f.key = i
			}
		default:
			end := skipJSON(json, i)
			if len(stack) > 0 && stack[len(stack)-1].keys != nil && stack[len(stack)-1].key == i {
				end++ // with the colon
				stack[len(stack)-1].value = end
			}
			i = end
		}
	}
	return list
}

// keyOf returns what tells the name at an offset of the JSON from others as a key,
// and how the server shows it.
func (r *Reader) keyOf(offset int, name []byte) (id, shown string) {
	v := r.typedAt(r.definition(offset, true)) // an alias is noted where it stands
	if v == nil {
		v = r.typedAt(r.definition(offset, false))
	}
	switch {
	case v == nil:
		return "s" + string(name), strconv.Quote(string(name))
	case v.kind == bytesValue: // equal as the server mangles it, but not before
		return "s" + string(v.text), strconv.Quote(string(v.text))
	case v.kind == floatValue:
		if v.f != v.f {
			return "f" + strconv.Itoa(offset), "NaN" // is equal to nothing
		}
		shown = fmt.Sprintf("%#v", v.f)
		if v.f == 0 {
			return "f0", shown // 0.0 and -0.0 are equal
		}
		return "f" + strconv.FormatFloat(v.f, 'x', -1, 64), shown
	}
	return "t" + string(name), string(name)
}

// typedAt returns what the key at an offset of the text stands for, or nil if that is
// a string.
func (r *Reader) typedAt(at int) *value {
	i := sort.Search(len(r.typed), func(i int) bool { return r.typed[i].at >= at })
	if i == len(r.typed) || r.typed[i].at != at {
		return nil
	}
	return &r.typed[i].value
}

// appendLineFeeds appends the offsets of the line feeds in text: what the server
// takes for a line break is one there.
func appendLineFeeds(list []int, text []byte) []int {
	for i, c := range text {
		if c == '\n' {
			list = append(list, i)
		}
	}
	return list
}
