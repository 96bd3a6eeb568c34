// A program that evaluates a rule.
package main

import (
	"fmt"
	"log"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

func main() {
	s, err := schema.Parse([]byte(`{properties: {spec: {type: string, x-kubernetes-validations: [{rule: self == 'b'}]}}, type: object}`))
	if err != nil {
		log.Fatal(err)
	}
	rules := cel.Rules().CompileRules(s, true)
	for _, e := range rules.Evaluate(&validation.RuleRequest{Object: map[string]any{"spec": "a"}}) {
		fmt.Printf("%s: %s: %s: %s\n", e.Field, e.Kind, e.Value, e.Msg)
	}
}
