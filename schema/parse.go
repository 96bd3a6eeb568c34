package schema

import (
	"github.com/go-json-experiment/json"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// Parse reads the schema of one version of a custom resource: the value of
// openAPIV3Schema, in JSON or YAML. It says nothing about whether the schema is
// structural: [Structural.Validate] does.
func Parse(openAPIV3Schema []byte) (*Structural, error) {
	js, err := yamlbridge.AppendJSON(nil, openAPIV3Schema, nil)
	if err != nil {
		return nil, err
	}
	s := new(Structural)
	if err := json.Unmarshal(js, s); err != nil {
		return nil, err
	}
	return s, nil
}
