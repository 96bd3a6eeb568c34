package decoder

import "testing"

// Fewer is how many of n random cases a test takes: with -short a fifth. It is what other builds than
// the usual one run, after make test has run all.
func Fewer(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// SetFirstWindow makes streams start with a window of n bytes, until undo is called.
func SetFirstWindow(n int) (undo func()) {
	was := firstWindow
	firstWindow = n
	return func() { firstWindow = was }
}

// SetBatchBytes makes batches of n bytes, until undo is called.
func SetBatchBytes(n int) (undo func()) {
	was := batchBytes
	batchBytes = n
	return func() { batchBytes = was }
}

// TestSchema and RandomDocument are for tests in package decoder_test.
const TestSchema = testSchema

var RandomDocument = randomDocument

// WalksLeft returns how many small documents d will walk before it tries to take one without a walk.
// It is 0 after one that was taken.
func WalksLeft(d *Decoder) int { return d.walksLeft }
