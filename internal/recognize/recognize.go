// Package recognize has functions that recognize valid text, without allocating and in linear time.
// They say true only if the exact check says true. False means that the exact check must decide,
// which is slow: almost all text that is valid in practice is recognized.
//
// The package imports nothing that decoding could do without. Package compile below it makes
// functions of patterns and formats.
package recognize

// A State of a [Matcher] is the index of its row in the table, or one of the constants.
type State = uint16

// The states without a row. They end a run.
const (
	Doubt State = iota // the text may match or not
	Sure               // the text matches, however it goes on
	First              // the least index of a row
)

// A Matcher is a deterministic automaton that reads a text byte by byte. It is immutable.
type Matcher struct {
	class [256]uint8 // the column of each byte
	next  []State    // a row for each state, in which each class has a column
	start State
	final State // the text matches if it ends in this state, or in one with a greater index
}

// NewMatcher returns the automaton of a table, which it keeps. The first row has index First.
func NewMatcher(class [256]uint8, next []State, start, final State) *Matcher {
	return &Matcher{class, next, start, final}
}

// Match reports whether a text surely matches.
func (m *Matcher) Match(text []byte) bool {
	at := m.start
	if at < First {
		return at == Sure
	}
	for _, c := range text {
		at = m.next[int(at)+int(m.class[c])]
		if at < First {
			return at == Sure
		}
	}
	return at >= m.final
}

// Size returns the number of bytes of the tables.
func (m *Matcher) Size() int { return len(m.class) + 2*len(m.next) }
