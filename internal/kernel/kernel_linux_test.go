package kernel

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// guarded returns pages of memory between two that must not be read.
func guarded(t *testing.T, pages int) []byte {
	page := syscall.Getpagesize()
	all, err := syscall.Mmap(-1, 0, (pages+2)*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(all)) })
	for _, guard := range [][]byte{all[:page], all[(pages+1)*page:]} {
		require.NoError(t, syscall.Mprotect(guard, syscall.PROT_NONE))
	}
	return all[page : (pages+1)*page]
}

// TestGuarded puts texts of all lengths right behind, and right before, what must not be
// read: a byte too many would be a fault.
func TestGuarded(t *testing.T) {
	needKernels(t)
	memory := guarded(t, 2)
	var tokens Tokens
	for _, fill := range []string{"a", `\n`, "é", `{"a":1},`, " "} {
		copy(memory, bytes.Repeat([]byte(fill), len(memory)/len(fill)))
		for n := range 5*64 + 1 {
			for _, b := range [][]byte{memory[:n:n], memory[len(memory)-n:]} {
				ScanString(b)
				tokens.Find(b, 1)
				checkString(t, b)
				checkTokens(t, b)
			}
		}
		tokens.Find(memory[len(memory)-MaxBytes:], 1<<20)
	}
}
