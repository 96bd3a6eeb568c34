package fieldpath

// MaxBytes bounds the text of a path that [Append] encodes. The middle of a longer path is left
// out.
const MaxBytes = 1024

// gap is the longest text of an elided segment.
const gap = len("[... 10000 more ...]")

// WholeBytes is the longest text of a path whose middle is not elided.
const WholeBytes = MaxBytes - gap

// Encode returns a path of depth segments. segment returns the i-th segment: a name, or an index if
// name is nil. If the segments do not fit into [MaxBytes], Encode calls segment only for those that
// do.
func Encode(depth int, segment func(i int) (name []byte, index int)) Encoded {
	encoded, _ := Append(nil, depth, segment)
	return Encoded{string(encoded)}
}

// Append is [Encode] for many paths: it appends the encoded form of one to dst. It also returns a
// bound for the length of its text.
func Append(
	dst []byte, depth int, segment func(i int) (name []byte, index int),
) (encoded []byte, text int) {
	start := len(dst)
	for i := range depth {
		var more int
		name, index := segment(i)
		dst, more = AppendSegment(dst, name, index)
		if text += more; text > WholeBytes {
			return appendElided(dst[:start], depth, segment)
		}
	}
	return dst, text
}

// AppendSegment appends the encoded form of one segment, as returned by segment(i) of [Append], and
// returns a bound for the length of its text. The encoded segments of a path, one after the other,
// are what Append appends, if the sum of their bounds is at most [WholeBytes].
func AppendSegment(dst, name []byte, index int) (encoded []byte, text int) {
	if name == nil {
		return AppendIndex(dst, index), textLen(name, index)
	}
	return AppendName(dst, name), textLen(name, index)
}

// textLen returns a bound for the length of a segment's text.
func textLen(name []byte, index int) int {
	if name == nil {
		return len("[]") + digits(index)
	}
	kept := len(name)
	if head, tail := shorten(name); head < tail {
		kept += head + len("...") - tail
	}
	if isPlain(name) {
		return len(".") + kept
	}
	return len(`[""]`) + 6*kept
}

// appendElided is Append for a path that is too long to be kept whole.
func appendElided(
	dst []byte, depth int, segment func(i int) (name []byte, index int),
) (encoded []byte, text int) {
	cost := func(i int) int { return textLen(segment(i)) }
	// The leaf says the most: half of the room is for the end of the path. The start gets the other
	// half, and the room that the end does not need.
	room := WholeBytes
	half := room / 2
	tail := depth
	for tail > 0 {
		c := cost(tail - 1)
		if c > room-half {
			break
		}
		room -= c
		tail--
	}
	head := 0
	for head < tail {
		c := cost(head)
		if c > room {
			break
		}
		room -= c
		head++
	}
	for i := range depth {
		if i == head && i < tail {
			dst = appendTagged(dst, tagElide, tail-head)
		}
		if i >= head && i < tail {
			continue
		}
		name, index := segment(i)
		dst, _ = AppendSegment(dst, name, index)
	}
	return dst, MaxBytes - room
}

func digits(n int) int {
	d := 1
	for n >= 10 {
		n /= 10
		d++
	}
	return d
}
