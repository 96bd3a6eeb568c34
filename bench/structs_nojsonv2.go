//go:build !goexperiment.jsonv2

package main

// standardToStruct is empty where Go has no encoding/json/v2.
func standardToStruct(string) []Contender { return nil }
