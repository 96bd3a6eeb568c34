package main

import "slices"

// compare returns the blocks that are neither covered nor listed, and those that are listed without
// need.
func compare(missing []string, listed map[string]int) (unlisted, stale []string) {
	left := make(map[string]int)
	for key, n := range listed {
		left[key] = n
	}
	for _, key := range missing {
		if left[key]--; left[key] < 0 {
			unlisted = append(unlisted, key)
		}
	}
	for key, n := range left {
		for range n {
			stale = append(stale, key)
		}
	}
	slices.Sort(stale)
	return unlisted, stale
}
