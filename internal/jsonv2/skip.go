//go:build !goexperiment.jsonv2 || go1.27

package jsonv2

import "errors"

// ErrSkip is what a function for WithMarshalers or WithUnmarshalers returns to leave a value to the next one. It is this
// in github.com/go-json-experiment/json, and since Go 1.27 in encoding/json/v2, which that becomes.
var ErrSkip = errors.ErrUnsupported
