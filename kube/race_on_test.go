//go:build race

package kube

// underRace says that the race detector is on, under which memory means nothing.
const underRace = true
