//go:build goexperiment.jsonv2 && !go1.27

package jsonv2

import "encoding/json/v2"

// ErrSkip is what encoding/json/v2 wants of Go 1.25 and 1.26, whose experiment github.com/go-json-experiment/json
// stands for: another error than later.
var ErrSkip = json.SkipFunc
