// A program that prunes an object as the README shows it.
package main

import (
	"fmt"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

func main() {
	s, err := schema.Parse([]byte(`{type: object, properties: {spec: {type: object, properties: {replicas: {type: integer, default: 1}}}}}`))
	if err != nil {
		panic(err)
	}
	program, err := schema.Compile(s)
	if err != nil {
		panic(err)
	}
	d := decoder.New(program)
	pruned, err := d.AppendJSON(nil, []byte(`{"spec":{"replcas":3}}`))
	for _, f := range d.Findings() {
		fmt.Println(f.Detail())
	}
	fmt.Println(string(pruned), err)
}
