package main

import (
	"encoding/json"
	"errors"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

var tracking = structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}

// A Stage says how far the pipeline of Kubernetes goes.
type stage int

const (
	stageParse stage = iota
	stagePrune
	stageNulls
	stageDefault
)

// decodePlain makes a map of a document as a server does, but does not treat metadata.
func decodePlain(src []byte, s *structural.Structural, last stage) (map[string]any, error) {
	var m map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(src, &m); err != nil {
		return nil, err
	}
	finish(m, s, last)
	return m, nil
}

// finish does the steps after parsing.
func finish(m map[string]any, s *structural.Structural, last stage) {
	if last >= stagePrune {
		pruning.Prune(m, s, true)
	}
	if last >= stageNulls {
		defaulting.PruneNonNullableNullsWithoutDefaults(m, s)
	}
	if last >= stageDefault {
		defaulting.Default(m, s)
	}
}

// decodeStrict is decodePlain under Strict.
func decodeStrict(src []byte, s *structural.Structural) (map[string]any, []string, error) {
	var m map[string]any
	strict, err := kjson.UnmarshalStrict(src, &m)
	if err != nil {
		return nil, nil, err
	}
	var findings []string
	for _, err := range strict {
		findings = append(findings, err.Error())
	}
	for _, path := range pruning.PruneWithOptions(m, s, true, tracking) {
		findings = append(findings, `unknown field "`+path+`"`)
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(m, s)
	defaulting.Default(m, s)
	return m, findings, nil
}

// decodeServer does everything that the server does between the body and admission: it first looks
// for kind and apiVersion, and it reads metadata through ObjectMeta. Findings are those of a strict
// decoder.
func decodeServer(src []byte, s *structural.Structural, strict bool) (map[string]any, []string, error) {
	if _, err := serializer.DefaultMetaFactory.Interpret(src); err != nil {
		return nil, nil, err
	}
	m := map[string]any{}
	var findings []string
	if strict {
		duplicates, err := kjson.UnmarshalStrict(src, &m)
		if err != nil {
			return nil, nil, err
		}
		for _, err := range duplicates {
			findings = append(findings, err.Error())
		}
	} else if err := kjson.UnmarshalCaseSensitivePreserveInts(src, &m); err != nil {
		return nil, nil, err
	}
	meta, found, unknown, err := objectmeta.GetObjectMetaWithOptions(m, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: strict})
	if err != nil {
		return nil, nil, err
	}
	unknown = append(unknown, pruning.PruneWithOptions(m, s, true, structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: strict})...)
	defaulting.PruneNonNullableNullsWithoutDefaults(m, s)
	malformed, embedded := objectmeta.CoerceWithOptions(nil, m, s, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: strict})
	if malformed != nil {
		return nil, nil, malformed
	}
	for _, path := range append(unknown, embedded...) {
		findings = append(findings, `unknown field "`+path+`"`)
	}
	u := unstructured.Unstructured{Object: m}
	if u.GetKind() == "" {
		return nil, nil, errors.New("no kind")
	}
	if found {
		if err := objectmeta.SetObjectMeta(m, meta); err != nil {
			return nil, nil, err
		}
	}
	defaulting.Default(m, s)
	return m, findings, nil
}

func kubernetesBytes() []Contender {
	return []Contender{
		{"Kubernetes", Decoded, "no metadata round trip", func(d *Document) Run {
			return toBytes(d, func([]byte) ([]byte, error) {
				m, err := decodePlain(d.Src, d.Structural, stageDefault)
				if err != nil {
					return nil, err
				}
				return json.Marshal(m)
			})
		}},
		server("Kubernetes, as its server", false),
	}
}

func server(name string, strict bool) Contender {
	return Contender{name, Decoded, "", func(d *Document) Run {
		return toBytes(d, func([]byte) ([]byte, error) {
			m, _, err := decodeServer(d.Src, d.Structural, strict)
			if err != nil {
				return nil, err
			}
			return json.Marshal(m)
		})
	}}
}

func kubernetesStrict() []Contender {
	return []Contender{
		{"Kubernetes strict", Decoded, "no metadata round trip", func(d *Document) Run {
			var findings []string
			r := toBytes(d, func([]byte) (_ []byte, err error) {
				var m map[string]any
				if m, findings, err = decodeStrict(d.Src, d.Structural); err != nil {
					return nil, err
				}
				return json.Marshal(m)
			})
			r.Findings = func() []string { return findings }
			return r
		}},
		server("Kubernetes strict, as its server", true),
	}
}

// kubernetesMap is the pipeline to a map, and its stages.
func kubernetesMap() []Contender {
	upTo := func(name string, last stage, output Output, less string) Contender {
		return Contender{name, output, less, func(d *Document) Run {
			return toValue(func() (any, error) { return decodePlain(d.Src, d.Structural, last) })
		}}
	}
	return []Contender{
		upTo("Kubernetes", stageDefault, Decoded, "no metadata round trip"),
		upTo("Kubernetes: sigs.k8s.io/json", stageParse, Parsed, "prunes nothing, no defaults"),
		upTo("Kubernetes: + Prune", stagePrune, Partial, "keeps nulls, no defaults"),
		upTo("Kubernetes: + null prune", stageNulls, Partial, "no defaults"),
	}
}

// kubernetesYAML decodes a body in YAML under Strict as a server does. It reads the YAML twice:
// leniently for the object, and strictly for the error.
func kubernetesYAML() []Contender {
	return []Contender{{"Kubernetes strict", Decoded, "no metadata round trip", func(d *Document) Run {
		return toBytes(d, func([]byte) ([]byte, error) {
			js, err := yaml.YAMLToJSON(d.YAML)
			if err != nil {
				return nil, err
			}
			_, _ = yaml.YAMLToJSONStrict(d.YAML)
			m, _, err := decodeStrict(js, d.Structural)
			if err != nil {
				return nil, err
			}
			return json.Marshal(m)
		})
	}}}
}
