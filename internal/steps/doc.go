// Package steps counts the work that is not plainly one iteration of a loop for each byte:
// comparisons of names, probes of tables, segments of paths, bytes that are looked at again or
// copied, hand-overs between the machines. Tests assert that the number of steps is at most a
// constant for each byte of input and output. The package counts under the build tag steps, and is
// empty without it.
//
// The work of the machines themselves is not counted. Each of their labels takes a byte of the
// window or ends the run, and each run is one step.
package steps
