// Package steps counts, under the build tag of its name, the work that is not plainly one turn
// of a loop for each byte: comparisons of names, probes of tables, segments of paths, bytes that
// are looked at again or copied, turns between the machines. Tests assert that there are no more
// than a constant for each byte of input and output. Without the tag nothing of it is left.
//
// The machines themselves are not counted: each of their labels takes a byte of the window or ends,
// and each run of one is a step.
package steps
