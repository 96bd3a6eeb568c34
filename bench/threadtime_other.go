//go:build !linux

package main

import "time"

var started = time.Now()

// threadTime is the time by the clock.
func threadTime() time.Duration { return time.Since(started) }
