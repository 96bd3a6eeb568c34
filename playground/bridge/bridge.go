//go:build js && wasm

// Package bridge lets a page ask a judge, in a Worker.
package bridge

import (
	"runtime/debug"
	"syscall/js"

	"github.com/espalier-dev/espalier/playground/judge"
)

// Serve sets the global function espalierJudge, which takes a request in JSON and returns the answer in
// JSON, and then calls espalierReady. It does not return. A panic ends the program; the page notices and
// starts another one.
func Serve(j *judge.Judge) {
	debug.SetGCPercent(400) // the collector has no thread of its own here, and a page has room
	js.Global().Set("espalierJudge", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(j.JSON([]byte(args[0].String())))
	}))
	js.Global().Call("espalierReady")
	select {}
}
