package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime returns the processor time of this thread. On a machine with other work, less time has
// passed for the thread than for the clock.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// processTime returns the processor time of this process, its collector's included.
func processTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}
