package yamlbridge

import (
	"bytes"
	"math"
	"slices"
	"sort"
)

// This file names keys that are the floats 0.0 and -0.0. The API server takes them for one key,
// because they are equal, and its name is that of the last one in its mapping: "0" or "-0". The
// integer 0 is another key, whose name is "0".
//
// Such a key is first written as a placeholder that is no other name. Copies and merges keep the
// placeholder. When the document is complete, the name replaces it.

// Placeholders are bytes that UTF-8 does not have.
const (
	plusZero  = "\xFF"
	minusZero = "\xFE"
)

func isMinusZero(v *value) bool { return v.kind == floatValue && v.f == 0 && math.Signbit(v.f) }

// zeroKey returns the placeholder for a key, or "".
func (r *Reader) zeroKey(v *value) string {
	switch {
	case v.kind != floatValue || v.f != 0 || r.Dialect == Core:
		return ""
	case isMinusZero(v):
		return minusZero
	}
	return plusZero
}

// zeroName returns the name that a placeholder is for, if name is one.
func zeroName(name string) (string, bool) {
	switch name {
	case plusZero:
		return "0", true
	case minusZero:
		return "-0", true
	}
	return name, false
}

// nameZeros replaces the placeholders in the output by names.
func (r *Reader) nameZeros() {
	keys := bytes.Count(r.out[r.base:], []byte(plusZero)) +
		bytes.Count(r.out[r.base:], []byte(minusZero))
	r.chargeLoose(zeroBytes*keys + 64*MaxDepth)
	r.roomOut(keys)
	json := r.out[r.base:]
	longer := zeroNames(json, keys)
	size := len(json)
	r.out = append(r.out, make([]byte, len(longer))...)
	json = r.out[r.base:]
	for i, at := range slices.Backward(longer) {
		copy(json[at+i+1:], json[at:size])
		json[at+i] = '-'
		size = at
	}
	moved := func(off int) int { return off + sort.SearchInts(longer, off) }
	for i := range r.main.marks {
		m := &r.main.marks[i]
		m.json = uint32(moved(int(m.json)))
	}
	for i := range r.main.copies {
		c := &r.main.copies[i]
		c.start, c.end = moved(c.start), moved(c.end)
	}
	for _, t := range []*trail{&r.main, &r.aside} {
		for i := range t.copies {
			if c := &t.copies[i]; !c.inSide {
				c.from = moved(c.from)
			}
		}
	}
}

// zeroBytes is how much memory naming takes for each of them.
const zeroBytes = 64

// zeroNames writes 0 for all placeholders in JSON, of which there are so many, and returns the places
// before which a minus sign belongs.
func zeroNames(json []byte, keys int) (longer []int) {
	type zero struct{ at, mapping int }
	var (
		zeros = make([]zero, 0, keys)
		minus []bool // for each mapping with zeros, whether the last is -0.0
		open  []int  // for each open collection, its index in minus, or -1
	)
	for i := 0; i < len(json); i++ {
		switch json[i] {
		case '{', '[':
			open = append(open, -1)
		case '}', ']':
			open = open[:len(open)-1]
		case '"':
			start := i + 1
			for i = start; json[i] != '"'; i++ {
				if json[i] == '\\' {
					i++
				}
			}
			isMinus := string(json[start:i]) == minusZero
			if !isMinus && string(json[start:i]) != plusZero {
				continue
			}
			m := &open[len(open)-1]
			if *m < 0 {
				*m = len(minus)
				minus = append(minus, false)
			}
			minus[*m] = isMinus
			zeros = append(zeros, zero{start, *m})
		}
	}
	longer = make([]int, 0, keys)
	for _, z := range zeros {
		json[z.at] = '0'
		if minus[z.mapping] {
			longer = append(longer, z.at)
		}
	}
	return longer
}
