package decoder

// SetFirstWindow makes streams start with a window of n bytes, until undo is called.
func SetFirstWindow(n int) (undo func()) {
	was := firstWindow
	firstWindow = n
	return func() { firstWindow = was }
}

// TestSchema and RandomDocument are for tests in package decoder_test.
const TestSchema = testSchema

var RandomDocument = randomDocument
