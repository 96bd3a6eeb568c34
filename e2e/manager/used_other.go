//go:build !linux

package main

import (
	"errors"
	"time"
)

func used() (cpu time.Duration, peak int64, err error) {
	return 0, 0, errors.New("it measures on Linux only")
}
