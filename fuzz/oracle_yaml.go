package fuzz

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// DecodeYAML is Decode for a body in YAML: Decode of the JSON serializer, with its option for YAML.
// The object comes from a lenient reading. The strict reading only gives the error.
func (s *Server) DecodeYAML(body []byte) (a *Answer, err error) {
	defer func() {
		if r := recover(); r != nil { // the reader has defects
			a, err = nil, &StageError{Panic, fmt.Errorf("%v", r)}
		}
	}()
	js, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil, &StageError{YAML, err}
	}
	if a, err = s.decode(js, body); err != nil {
		return nil, err
	}
	if _, err := yaml.YAMLToJSONStrict(body); err != nil {
		a.YAML = err.Error()
	}
	return a, nil
}
