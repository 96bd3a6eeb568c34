// Package kernel has the loops over the bytes of JSON that are worth assembly: the rest of
// a long string, and the tokens of a text, with its scalars and names. It is a leaf. README.md explains how they work.
//
// Kernels only look ahead for those who can do without. Each says how far all is plain:
// what is not, or is wrong, or may go on behind the slice, is left to its caller's portable
// code, which judges it. So they have no errors, and there is no portable version of
// them: where Available is false they must not be called.
//
// They are written for AVX-512 with VBMI2, of Ice Lake, Zen 4 and later, by the program in
// the folder generate.
package kernel

//go:generate go -C generate run . -out ../kernel_amd64.s

// MaxBytes is how many bytes [Tokens.Find] looks at.
const MaxBytes = 2048

// InVain is how many bytes ScanString looks at behind the last end of 64 bytes that is between characters. Its
// caller goes on there, so that without a limit texts in which there are no such ends would be looked at again and again.
const InVain = 1024

// Tokens are the first tokens of a text: brackets, colons, commas, strings, and what else
// stands between blanks and those, which are numbers and literals in valid JSON.
type Tokens struct {
	pos   [MaxBytes + 64]uint16
	first [MaxBytes + 192]byte // the first byte of each token, which is scratch
	words [MaxBytes/64 + 1]Word
	// scalars has the numbers and literals, with a comma behind each, in size bytes; or
	// size is less than 0.
	scalars [MaxBytes + 128]byte
	size    int
	names   [maxNames]Name
	// Where the names start, and where their colons are, which is scratch.
	from, colons [maxNames]uint16
}

// A Word says which of 64 tokens in a row, from its lowest bit on, are what. Those that are
// nothing of that are numbers and literals.
type Word struct {
	OpenObject, CloseObject, OpenArray, CloseArray, Colon, Comma, String uint64
}

// Pos returns where token i starts.
//
//espalier:inline
func (t *Tokens) Pos(i int) int { return int(t.pos[i]) }

// Word returns what the tokens from 64 i on are. Of those behind the last one nothing is known.
//
//espalier:inline
func (t *Tokens) Word(i int) *Word { return &t.words[i] }

// maxNames is how many names a text of MaxBytes has at most, of three bytes each, and what a store may
// write behind.
const maxNames = MaxBytes/3 + 64

// A Name is a string that is followed by a colon: where its text starts, how many bytes that has, and
// a hash of these; or 0, where that was not looked at.
type Name uint64

// Split returns what a name is made of.
//
//espalier:inline
func (n Name) Split() (from, size int, tag uint32) {
	return int(n & 0xffff), int(n >> 16 & 0xffff), uint32(n >> 32)
}
