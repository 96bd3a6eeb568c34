package rewrite

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestColorDiff(t *testing.T) {
	diff := []byte("--- a\n+++ b\n@@ -1,2 +1,2 @@\n a\n-b\r\n+c\n\\ No newline at end of file\n")
	assert.Equal(t, diff, ColorDiff(diff, false))
	assert.Equal(t, "\x1b[1m--- a\x1b[m\n\x1b[1m+++ b\x1b[m\n\x1b[36m@@ -1,2 +1,2 @@\x1b[m\n a\n\x1b[31m-b\x1b[m\r\n\x1b[32m+c\x1b[m\n\\ No newline at end of file\n",
		string(ColorDiff(diff, true)))
}
