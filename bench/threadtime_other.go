//go:build !linux

package main

import "time"

var started = time.Now()

// threadTime returns the time of the clock.
func threadTime() time.Duration { return time.Since(started) }

// processTime returns the time of the clock.
func processTime() time.Duration { return time.Since(started) }
