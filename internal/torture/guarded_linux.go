package torture

import (
	"syscall"
	"testing"
)

// Guarded returns pages of memory that stay until the test ends. They are between two pages that
// must not be read, so reading one byte too many is a fault.
func Guarded(t testing.TB, pages int) []byte {
	page := syscall.Getpagesize()
	all, err := syscall.Mmap(-1, 0, (pages+2)*page,
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(all); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{all[:page], all[(pages+1)*page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return all[page : (pages+1)*page]
}

// Placed calls f with the text in guarded memory: right after the unreadable page, right before the
// other one, and at each alignment to 64 bytes, of which -short leaves out most.
func Placed(t testing.TB, memory []byte, text string, f func(b []byte)) {
	n, step := len(text), 1
	if testing.Short() {
		step = 7
	}
	for at := 0; at < 64; at += step {
		f(memory[at : at+n : at+n][:copy(memory[at:], text)])
	}
	f(memory[len(memory)-n:][:copy(memory[len(memory)-n:], text)])
}
