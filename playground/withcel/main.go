//go:build js && wasm

// Command withcel is the playground that evaluates rules in CEL. It is loaded where a definition has some.
package main

import (
	"github.com/espalier-dev/espalier/playground/bridge"
	"github.com/espalier-dev/espalier/playground/judge"
	"github.com/espalier-dev/espalier/playground/rules"
)

func main() { bridge.Serve(judge.New(rules.CEL())) }
