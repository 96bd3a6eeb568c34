// Package kernel has the loops over the bytes of JSON that are worth assembly: the rest of
// a long string, and the tokens of a text. It is a leaf. README.md explains how they work.
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

// Tokens are the first tokens of a text: brackets, colons, commas, strings, and what else
// stands between blanks and those, which are numbers and literals in valid JSON.
type Tokens struct {
	pos   [MaxBytes + 64]uint16
	first [MaxBytes + 192]byte // the first byte of each token, which is scratch
	words [MaxBytes/64 + 1]Word
}

// A Word says which of 64 tokens in a row, from its lowest bit on, are what. Those that are
// nothing of that are numbers and literals.
type Word struct {
	OpenObject, CloseObject, OpenArray, CloseArray, Colon, Comma, String uint64
}

// Pos returns where token i starts.
func (t *Tokens) Pos(i int) int { return int(t.pos[i]) }

// Word returns what the tokens from 64 i on are. Of those behind the last one nothing is known.
func (t *Tokens) Word(i int) *Word { return &t.words[i] }
