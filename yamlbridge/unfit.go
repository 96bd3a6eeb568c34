package yamlbridge

import "math"

// This file handles parts that JSON cannot have and the server meets late: infinity and NaN as
// values, null and integers beyond int64 as keys. The server looks for these after all names were
// read, so that a value which a later one of the same name replaces may have them. The other
// dialects refuse them where they are.
//
// They are written in a form that is not JSON and that copies and merges keep: .inf, -.inf or .nan
// for a value, and a byte that UTF-8 does not have at the start of a name. When the document is
// complete, the values that are left are searched for them. In replaced values they become JSON
// that nobody reads.

// unfitName marks a key that has no name.
const unfitName = "\xFC"

// An unfitPair has the place of the first infinity or NaN, and of the first key without a name, or
// noUnfit. The server looks for such keys before it makes names of keys, and for the values after
// that.
type unfitPair struct{ value, key int }

const noUnfit = math.MaxInt

func (p unfitPair) before(q unfitPair) unfitPair {
	return unfitPair{min(p.value, q.value), min(p.key, q.key)}
}

// An unfitObject is an object or array that is open.
type unfitObject struct {
	// Of an object, for the last values, by names and by the values of keys.
	values, keys map[string]int
	name, id     []byte    // of the key whose value is read
	rest         unfitPair // of an array, and of the keys themselves
}

// note records the contents of the current member's value, or of an element.
func (o *unfitObject) note(p unfitPair) {
	if o.values == nil {
		o.rest = o.rest.before(p)
		return
	}
	o.values[string(o.name)], o.keys[string(o.id)] = p.value, p.key
}

// left returns the contents that are not replaced.
func (o *unfitObject) left() unfitPair {
	p := o.rest
	for _, at := range o.values {
		p.value = min(p.value, at)
	}
	for _, at := range o.keys {
		p.key = min(p.key, at)
	}
	return p
}

// unfitFactor is the most bytes of maps for one byte of JSON while it is searched.
const unfitFactor = 32

// checkUnfit returns an error for the first part that is left and is not JSON, and turns the others
// into JSON.
func (r *Reader) checkUnfit() error {
	json := r.out[r.base:]
	r.chargeLoose(unfitFactor * len(json))
	if at := r.findUnfit(json); at != noUnfit {
		msg := "infinity and NaN are no JSON values"
		if json[at] == '"' {
			msg = "null is no key"
			if json[at+2] != 'u' {
				msg = "integer beyond int64 as a key"
			}
		}
		here := r.main.at(at)
		r.out = r.out[:r.base+at] // the path is read from it
		return r.fail(here, msg)
	}
	for i := 0; i < len(json); {
		c := json[i]
		if c == ':' || is(c, isFlowIndicator) {
			i++
			continue
		}
		end := skipJSON(json, i)
		switch {
		case c == '"' && json[i+1] == unfitName[0]:
			json[i+1] = firstOfUnfit(json[i+1:])
		case c == '-' && json[i+1] == '.':
			copy(json[i:], "false")
		case c == '.':
			copy(json[i:], "null")
		}
		i = end
	}
	return nil
}

// findUnfit returns the place of the first such part that is left, or noUnfit.
func (r *Reader) findUnfit(json []byte) int {
	tracer := newTracer(r)
	none := unfitPair{noUnfit, noUnfit}
	stack := []unfitObject{{rest: none}}
	f := &stack[0]
	for i := 0; i < len(json); {
		switch c := json[i]; {
		case c == '{' || c == '[':
			o := unfitObject{rest: none}
			if c == '{' {
				o.values, o.keys = make(map[string]int), make(map[string]int)
			}
			stack = append(stack, o)
			f = &stack[len(stack)-1]
			i++
		case c == '}' || c == ']':
			left := f.left()
			stack = stack[:len(stack)-1]
			f = &stack[len(stack)-1]
			f.note(left)
			i++
		case c == ',':
			i++
		default:
			end := skipJSON(json, i)
			switch {
			case end < len(json) && json[end] == ':':
				f.name = append(f.name[:0], json[i+1:end-1]...)
				f.id = appendKeyID(f.id[:0], f.name, r.typedKey(i, &tracer), i)
				if _, isZero := zeroName(string(f.name)); isZero {
					f.name = append(f.name[:0], plusZero...) // 0.0 and -0.0 are one key
				}
				if json[i+1] == unfitName[0] {
					f.rest.key = min(f.rest.key, i)
				}
				end++
			case isInfinite(json[i:]):
				f.note(unfitPair{i, noUnfit})
			default:
				f.note(none)
			}
			i = end
		}
	}
	return min(stack[0].rest.value, stack[0].rest.key)
}

// appendUnfitName appends the name of a key without one: null, or an integer beyond int64.
func appendUnfitName(dst []byte, v *value) []byte {
	start := len(dst)
	dst, _ = v.appendJSON(dst)
	dst[start] = unfitName[0]
	return dst
}

// firstOfUnfit returns the byte that the mark of such a name replaces.
func firstOfUnfit(name []byte) byte {
	switch {
	case name[1] == 'u':
		return 'n'
	case name[len("9223372036854775808")] == '"':
		return '9'
	}
	return '1'
}
