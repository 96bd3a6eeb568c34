package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"

	"k8s.io/apiextensions-apiserver/test/integration/fixtures"
)

// TestEspalierServe runs a server for a client in another process, if ESPALIER_SERVE is set. It says where the
// server is, and at each line of the input what it has used so far. It ends with the input.
func TestEspalierServe(t *testing.T) {
	if os.Getenv("ESPALIER_SERVE") == "" {
		t.Skip("there is no client")
	}
	tearDown, config, _, err := fixtures.StartDefaultServer(t)
	if err != nil {
		t.Fatal(err)
	}
	defer tearDown()
	say(t, map[string]any{"host": config.Host, "token": config.BearerToken})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		say(t, map[string]any{
			"cpu": used.Utime.Nano() + used.Stime.Nano(), "heap": m.HeapAlloc, "allocated": m.TotalAlloc,
		})
	}
}

// say writes a line for the client.
func say(t *testing.T, what any) {
	text, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("\nESPALIER %s\n", text)
}
