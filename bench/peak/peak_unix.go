//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakBytes returns the largest resident set of a process that has ended.
func peakBytes(p *os.ProcessState) float64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return float64(usage.Maxrss) // in bytes there, in KiB elsewhere
	}
	return float64(usage.Maxrss) * 1024
}
