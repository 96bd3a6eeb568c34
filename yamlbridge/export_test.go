package yamlbridge

// SetMaxJSONBytes sets how long the JSON of a document may be, and returns a function that restores
// the old value.
func SetMaxJSONBytes(n int) (restore func()) {
	was := maxJSONBytes
	maxJSONBytes = n
	return func() { maxJSONBytes = was }
}

// SetMaxSourceBytes does the same for the document.
func SetMaxSourceBytes(n int) (restore func()) {
	was := maxSourceBytes
	maxSourceBytes = n
	return func() { maxSourceBytes = was }
}

// NamesKept returns how many names are in the set that finds those of merge keys.
func (r *Reader) NamesKept() (n int) {
	for _, slot := range r.names.slots {
		if slot != 0 {
			n++
		}
	}
	return n
}
