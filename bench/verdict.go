package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A Definition is a version of a custom resource definition. It has what the verdict on a resource
// depends on beside the decoding by its schema.
type Definition struct {
	*schema.CRD
	Version   string
	HasStatus bool // as a subresource
	Scale     *apiextensionsv1.CustomResourceSubresourceScale
	Schema    json.RawMessage // openAPIV3Schema
	Program   *schema.Program // with value validation
}

// APIVersion returns that of the resources.
func (d *Definition) APIVersion() string { return d.Group + "/" + d.Version }

// name returns the apiVersion and the kind of the resources.
func (d *Definition) name() string { return d.APIVersion() + " " + d.Kind }

// withValues is shared by all definitions, as in a catalog: they have patterns and formats in
// common.
var withValues = validation.Values()

// NewDefinitions reads the definitions of apiextensions.k8s.io/v1 in a document, and returns the
// schemas of the versions whose resources are wanted, by apiVersion and kind.
func NewDefinitions(manifest []byte, wanted func(name string) bool) (list []*Schema, err error) {
	crds, err := schema.ParseCRD(manifest)
	if err != nil {
		return nil, err
	}
	for _, crd := range crds {
		for i, version := range crd.Versions {
			d := &Definition{CRD: crd, Version: version.Name, HasStatus: version.HasStatus}
			if !wanted(d.name()) {
				continue
			}
			var theirs apiextensionsv1.CustomResourceDefinition
			if err := yaml.Unmarshal(manifest, &theirs); err != nil {
				return nil, err
			}
			if theirs.APIVersion != apiextensionsv1.SchemeGroupVersion.String() || theirs.Spec.Names.Kind != crd.Kind || theirs.Spec.Versions[i].Schema == nil {
				continue // of v1beta1, in a list, or without a schema
			}
			if sub := theirs.Spec.Versions[i].Subresources; sub != nil {
				d.Scale = sub.Scale
			}
			s, err := d.compile(theirs.Spec.Versions[i].Schema.OpenAPIV3Schema)
			if err != nil {
				return nil, err
			}
			list = append(list, s)
		}
	}
	return list, nil
}

// compile makes the schema of the definition.
func (d *Definition) compile(openAPIV3Schema *apiextensionsv1.JSONSchemaProps) (s *Schema, err error) {
	if d.Schema, err = json.Marshal(openAPIV3Schema); err != nil {
		return nil, err
	}
	if d.Program, err = d.CRD.Program(d.Version, withValues); err != nil {
		return nil, err
	}
	if s, err = NewSchema(d.Schema); err != nil {
		return nil, err
	}
	s.Definition = d
	s.Program, err = d.CRD.Program(d.Version)
	return s, err
}

// inARow is how many times a resource is judged before the next one is.
const inARow = 10

// Verdicts returns the workloads for the whole verdict. "valid" has the resources of the
// third-party data that a server takes under Strict, as its packages say without CEL, each some
// times in a row; "mixed" has them in turns. "invalid" has those that the server refuses, and each
// of the valid ones with a mistake. "ruled" has the valid ones whose kinds have rules in CEL, and that
// keep these. Without that data there are no workloads.
func Verdicts() []*Workload {
	tb := outsideTests{}
	if !corpus.IsThere(tb) {
		return nil
	}
	valid := &Workload{Name: "valid", Verdict: true, Repeat: inARow}
	invalid := &Workload{Name: "invalid", Verdict: true, Invalid: true, Repeat: inARow}
	ruled := &Workload{Name: "ruled", Verdict: true, Rules: true, Repeat: inARow}
	random := rand.New(rand.NewPCG(1, 22))
	for _, d := range definedResources(tb) {
		if serverOf(d.Schema).verdict(d.Src) != nil {
			invalid.Docs = append(invalid.Docs, d)
			continue
		}
		valid.Docs = append(valid.Docs, d)
		if c := serverOf(d.Schema); c.rules != nil && c.verdictWithRules(d.Src) == nil {
			ruled.Docs = append(ruled.Docs, d)
		}
		if wrong := withMistake(d, random); wrong != nil {
			invalid.Docs = append(invalid.Docs, wrong)
		}
	}
	valid.forget()
	valid.What = fmt.Sprintf("%d real resources of %d kinds that a server takes, mean %d bytes, each %d times in a row", len(valid.Docs), kinds(valid.Docs), valid.Size(false)/len(valid.Docs), inARow)
	invalid.What = fmt.Sprintf("%d resources that a server refuses, most of them valid ones with a mistake, each %d times in a row", len(invalid.Docs), inARow)
	mixed := &Workload{Name: "mixed", What: "the valid ones in turns", Docs: valid.Docs, Verdict: true}
	ruled.What = fmt.Sprintf("%d of the valid ones, of %d kinds with rules in CEL, mean %d bytes, each %d times in a row", len(ruled.Docs), kinds(ruled.Docs), ruled.Size(false)/len(ruled.Docs), inARow)
	return []*Workload{valid, mixed, invalid, ruled}
}

// definedResources returns the resources of the third-party data that have a definition there.
func definedResources(tb testing.TB) []*Document {
	schemas := make(map[string]*Schema) // nil until it is found
	names := make(map[*Document]string)
	var docs []*Document
	for file := range corpus.Samples(tb) {
		for doc := range yamlbridge.Documents(file.Data) {
			js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
			if err != nil {
				continue
			}
			apiVersion, kind, err := decoder.PeekType(js)
			if err != nil {
				continue
			}
			d := &Document{Src: js, YAML: slices.Clone(doc.Bytes)}
			docs = append(docs, d)
			names[d] = apiVersion + " " + kind
			schemas[names[d]] = nil
		}
	}
	for file := range corpus.CRDs(tb) {
		for doc := range yamlbridge.Documents(file.Data) {
			defined, err := NewDefinitions(doc.Bytes, func(name string) bool { _, ok := schemas[name]; return ok })
			if err != nil {
				continue // what is wrong with a definition is for other tests
			}
			for _, s := range defined {
				schemas[s.Definition.name()] = s
			}
		}
	}
	return slices.DeleteFunc(docs, func(d *Document) bool {
		d.Schema = schemas[names[d]]
		return d.Schema == nil
	})
}

const valuesOn = "Espalier AppendJSON, Strict, ValidateCreate"

// verdictJobs are the jobs on the workloads of Verdicts.
func verdictJobs() []*Job {
	on, unruled := oursVerdict(valuesOn, decoder.Strict, decoder.ValidateCreate), oursVerdict(valuesOn, decoder.Strict, decoder.ValidateCreate)
	unruled.Output, unruled.Less = Partial, "evaluates no rules"
	return []*Job{
		{Name: "verdict", Title: "The whole verdict on JSON, without CEL: decode, prune, drop nulls, default, validate", Verdict: true,
			Contenders: slices.Concat([]Contender{on}, kubernetesVerdict(), peersVerdict())},
		{Name: "values", Title: "The time with value validation over that without it", Verdict: true,
			Contenders: []Contender{
				oursWithoutValues("Espalier AppendJSON, Strict, a program without validation.Values", decoder.Strict),
				on,
				oursVerdict("Espalier AppendJSON, Strict, AcceptValues", decoder.Strict, decoder.AcceptValues),
			}},
		{Name: "verdictyaml", Title: "The whole verdict on YAML, without CEL", Verdict: true, InYAML: true,
			Contenders: slices.Concat([]Contender{oursVerdictYAML()}, kubernetesVerdictYAML(), peersVerdictYAML())},
		{Name: "rules", Title: "The whole verdict on JSON, with CEL", Verdict: true,
			Contenders: slices.Concat([]Contender{oursWithRules(), unruled}, kubernetesRules())},
	}
}
