package yamlbridge

// SetMaxJSONBytes sets how long the JSON of a document may be, and returns what
// sets it back.
func SetMaxJSONBytes(n int) (restore func()) {
	was := maxJSONBytes
	maxJSONBytes = n
	return func() { maxJSONBytes = was }
}
