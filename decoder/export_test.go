package decoder

// SetFirstWindow makes streams start with a window of n bytes, and returns what undoes it.
func SetFirstWindow(n int) (undo func()) {
	was := firstWindow
	firstWindow = n
	return func() { firstWindow = was }
}

// TestSchema and RandomDocument are for tests of other packages' view.
const TestSchema = testSchema

var RandomDocument = randomDocument
