// Package rules gives a judge what it needs for rules in CEL. It links most of what is large in the
// playground.
package rules

import (
	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/playground/judge"
	"github.com/espalier-dev/espalier/schema"
)

// CEL returns what evaluates the rules of objects and judges those of definitions.
func CEL() *judge.CEL {
	return &judge.CEL{Rules: cel.Rules(), Faults: func(crd *schema.CRD) (faults errors.SchemaErrors) {
		for _, fault := range cel.Definition(crd, nil) {
			faults = append(faults, &fault.SchemaError)
		}
		return faults
	}}
}
