//go:build race

package caddyespalier

// raceEnabled says that tests run under the race detector, with which memory is another.
const raceEnabled = true
