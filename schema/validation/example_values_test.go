package validation_test

import (
	"fmt"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// A program with validations serves decoders that validate values, and others.
func ExampleValues() {
	s, err := schema.Parse([]byte(`
type: object
properties:
  mode: {type: string, enum: [Active, Standby]}
  replicas: {type: integer, minimum: 1}
`))
	if err != nil {
		panic(err)
	}
	program, err := schema.Compile(s, validation.Values(), schema.ResourceRoot(false))
	if err != nil {
		panic(err)
	}
	d := decoder.New(program, decoder.ValidateCreate)
	_, _ = d.AppendJSON(nil, []byte(`{"mode":"active","replicas":0}`))
	for _, f := range d.Findings() {
		fmt.Println(f.Position, f.Invalid.Rule, f.Invalid)
	}
	// Output:
	// 1:9 enum mode: Unsupported value: "active": supported values: "Active", "Standby"
	// 1:29 minimum replicas: Invalid value: 0: replicas in body should be greater than or equal to 1
}
