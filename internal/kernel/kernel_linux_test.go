package kernel

import (
	"bytes"
	"testing"

	"github.com/espalier-dev/espalier/internal/torture"
)

// TestGuarded has texts of all lengths right after and right before memory that must not be read:
// reading one byte too many is a fault.
func TestGuarded(t *testing.T) {
	needStrings(t)
	memory := torture.Guarded(t, 2)
	var tokens Tokens
	for _, fill := range []string{"a", `\n`, "é", `{"a":1},`, `{"some-name":true,`, " "} {
		copy(memory, bytes.Repeat([]byte(fill), len(memory)/len(fill)))
		for n := range 5*64 + 1 {
			for _, b := range [][]byte{memory[:n:n], memory[len(memory)-n:]} {
				checkString(t, b)
				checkPrintable(t, b)
				checkLines(t, b)
				if Available {
					tokens.Find(b, 1)
					checkTokens(t, b)
				}
			}
		}
		if Available {
			tokens.Find(memory[len(memory)-MaxBytes:], 1<<20)
		}
	}
}
