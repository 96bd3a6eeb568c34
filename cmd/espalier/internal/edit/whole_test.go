package edit

import "bytes"

// Unified returns the diff of edits in a text that is in memory.
func Unified(oldName, newName string, text []byte, edits []Edit) []byte {
	diff, err := Diff(oldName, newName, bytes.NewReader(text), edits)
	if err != nil {
		panic(err)
	}
	return diff
}
