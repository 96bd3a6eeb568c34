package yamlbridge

// SetMaxJSONBytes sets how long the JSON of a document may be, and returns what
// sets it back.
func SetMaxJSONBytes(n int) (restore func()) {
	was := maxJSONBytes
	maxJSONBytes = n
	return func() { maxJSONBytes = was }
}

// SetMaxSourceBytes is the same for the document.
func SetMaxSourceBytes(n int) (restore func()) {
	was := maxSourceBytes
	maxSourceBytes = n
	return func() { maxSourceBytes = was }
}
