package yamlbridge

// ServerDuplicates returns what the strict reading of the API server reports for
// the document that was read last, in its words and order. It is for readers with
// [Reader.AsServer].
func (r *Reader) ServerDuplicates(json []byte) []string { return nil }
