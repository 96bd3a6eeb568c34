//go:build goexperiment.jsonv2

package main

import "encoding/json/v2"

// standardToStruct is the decoder that Go has since 1.27, and before that as an experiment.
func standardToStruct(less string) []Contender {
	return []Contender{parserToStruct("encoding/json/v2", less+"; rejects duplicates", func(src []byte, v any) error { return json.Unmarshal(src, v) })}
}
