//go:build js && wasm

// Command plain is the playground without CEL, which is a quarter of the other one.
package main

import (
	"github.com/espalier-dev/espalier/playground/bridge"
	"github.com/espalier-dev/espalier/playground/judge"
)

func main() { bridge.Serve(judge.New(nil)) }
