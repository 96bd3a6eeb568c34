package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// tooIdle is how long a process may wait in all its threads. Tests with -test.short sleep less.
const tooIdle = 5 * time.Second

// untilIdle calls stop when a process has waited for that long, as it does in a deadlock: on Linux, where
// one sees that. A process that the machine gives no time to is ready to run, and not idle.
func untilIdle(ctx context.Context, pid int, stop func()) {
	const often = tooIdle / 20
	worked, since := -1, time.Now()
	for ctx.Err() == nil {
		ticks, waits := stateOf(pid)
		if !waits || ticks > worked+1 { // what is not a test takes little
			worked, since = ticks, time.Now()
		} else if time.Since(since) > tooIdle {
			stop()
			return
		}
		time.Sleep(often)
	}
}

// stateOf returns the time that a process has had, and whether it waits, as /proc has it.
func stateOf(pid int) (ticks int, waits bool) {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil { // it has ended
			return 0, false
		}
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) < 13 || string(fields[0]) != "S" {
			return 0, false
		}
		for _, field := range fields[11:13] { // utime and stime
			n, _ := strconv.Atoi(string(field))
			ticks += n
		}
	}
	return ticks, len(names) > 0
}
