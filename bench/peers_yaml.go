package main

import (
	goccy "github.com/goccy/go-yaml"
	yamlv3 "go.yaml.in/yaml/v3"
	yamlv4 "go.yaml.in/yaml/v4"
	"sigs.k8s.io/yaml"
)

// peersYAML read YAML without a schema.
func peersYAML() []Contender {
	bytes := func(name, less string, convert func([]byte) ([]byte, error)) Contender {
		return Contender{name, Parsed, less, func(d *Document) Run {
			return toBytes(d, func([]byte) ([]byte, error) { return convert(d.YAML) })
		}}
	}
	value := func(name string, unmarshal func([]byte, any) error) Contender {
		return Contender{name, Parsed, "a value, no JSON; no positions", func(d *Document) Run {
			return toValue(func() (any, error) {
				var v any
				err := unmarshal(d.YAML, &v)
				return v, err
			})
		}}
	}
	return []Contender{
		bytes("sigs.k8s.io/yaml YAMLToJSON", "no positions", yaml.YAMLToJSON),
		bytes("sigs.k8s.io/yaml YAMLToJSONStrict", "no positions", yaml.YAMLToJSONStrict),
		value("go.yaml.in/yaml/v3", yamlv3.Unmarshal),
		value("go.yaml.in/yaml/v4", func(src []byte, v any) error { return yamlv4.Unmarshal(src, v) }),
		bytes("goccy/go-yaml YAMLToJSON", "no positions", goccy.YAMLToJSON),
	}
}
