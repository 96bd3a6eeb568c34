//go:build !race

package caddyespalier

const raceEnabled = false
