// Package kernel has the loops that are worth assembly. For JSON, one reads the rest of a long string, and
// others find the tokens of a text, its scalars and its names, and pair its brackets. For YAML, one finds
// printable bytes. For positions, one counts lines and characters. It imports no other package of the
// module. README.md explains how the kernels work.
//
// Kernels only look ahead. A kernel says how far the text is simple. Its caller's portable code
// takes over at a byte that is unusual or wrong, or where the text may go on after the slice, and
// judges it. So kernels have no errors, and have no portable versions: if Available is false, they
// must not be called.
//
// Most are written for AVX-512 with VBMI2, of Ice Lake, Zen 4 and later. The program in the folder
// generate writes them.
package kernel

//go:generate go -C generate run . -out ../kernel_amd64.s

// MaxBytes is how many bytes [Tokens.Find] looks at.
const MaxBytes = 2048

// inVain is how many bytes ScanString scans after the last block of 64 bytes that ended between
// characters. Its caller goes on after that block. Without the limit, texts without such blocks
// would be scanned again and again.
const inVain = 1024

// Tokens are the first tokens of a text: brackets, colons, commas, strings, and the runs of other
// bytes between these and blanks. In valid JSON those runs are numbers and literals.
type Tokens struct {
	pos   [MaxBytes + 64]uint16
	first [MaxBytes + 192]byte // scratch: the first byte of each token
	words [MaxBytes/64 + 1]Word
	// scalars has the numbers and literals, each followed by a comma, in size bytes. It is invalid
	// if size is less than 0.
	scalars [MaxBytes + 128]byte
	size    int
	names   [maxNames]Name
	// The offsets of the names, and, as scratch, of their colons.
	from, colons [maxNames]uint16
}

// A Word has masks for 64 tokens in a row, from its lowest bit. Tokens in none of them are numbers
// and literals.
type Word struct {
	OpenObject, CloseObject, OpenArray, CloseArray, Colon, Comma, String uint64
}

// Pos returns the offset of token i.
//
//espalier:inline
func (t *Tokens) Pos(i int) int { return int(t.pos[i]) }

// Word returns the masks for the tokens from 64*i. Bits after the last token are undefined.
//
//espalier:inline
func (t *Tokens) Word(i int) *Word { return &t.words[i] }

// maxNames is the largest number of names in a text of MaxBytes, each of at least three bytes, plus
// the room that a store may overwrite.
const maxNames = MaxBytes/3 + 64

// A Name is a string that is followed by a colon: the offset of its text, the length of that in
// bytes, and a hash of it. It is 0 if the kernel did not read the text.
type Name uint64

// Split returns the offset, the length and the hash of a name.
//
//espalier:inline
func (n Name) Split() (from, size int, tag uint32) {
	return int(n & 0xffff), int(n >> 16 & 0xffff), uint32(n >> 32)
}
