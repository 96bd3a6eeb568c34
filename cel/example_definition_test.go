package cel_test

import (
	"fmt"
	"strings"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/schema"
)

// The server refuses a definition whose rules do not compile, or could cost too much.
func ExampleDefinition() {
	s, err := schema.Parse([]byte(`
type: object
properties:
  height: {type: integer}
  hinges:
    type: array
    items:
      type: string
      x-kubernetes-validations: [{rule: "self.matches('^[a-z]+$')"}]
x-kubernetes-validations:
- rule: self.heigth > 0
`))
	if err != nil {
		panic(err)
	}
	crd := &schema.CRD{Group: "garden.example.com", Kind: "Gate", Versions: []schema.Version{{Name: "v1", Schema: s}}}
	for _, e := range cel.Definition(crd, nil) {
		what, _, _ := strings.Cut(e.Msg, " (")
		what, _, _ = strings.Cut(what, "\n")
		fmt.Printf("%s: %s\n", e.Kind, what)
		if e.Line > 0 {
			fmt.Printf("- line %d, column %d of the expression\n", e.Line, e.Column)
		}
		for _, limit := range e.Limits {
			_, limit, _ = strings.Cut(limit, "openAPIV3Schema.")
			fmt.Println("- there is no", limit)
		}
	}
	// Output:
	// Forbidden: estimated rule cost exceeds budget by factor of more than 100x
	// - there is no properties[hinges].maxItems
	// - there is no properties[hinges].items.maxLength
	// Invalid value: compilation failed: ERROR: <input>:1:5: undefined field 'heigth'
	// - line 1, column 5 of the expression
	// Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema
	// - there is no properties[hinges].maxItems
	// - there is no properties[hinges].items.maxLength
	// Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x
}
