//go:build !unix

package main

import "os"

// peakBytes returns 0, as the peak is not known here.
func peakBytes(*os.ProcessState) float64 { return 0 }
