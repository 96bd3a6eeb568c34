package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	servercel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	fielderrors "k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// A Creator judges resources as a server does that is asked to create them, with CEL or without. It
// calls the packages that package customresource calls. The strategy there always evaluates CEL, and
// its module has some fifty requirements more.
type Creator struct {
	*Schema
	values validation.SchemaValidator
	rules  *servercel.Validator // nil if there are none
}

func serverOf(s *Schema) *Creator {
	return made(s, "server", func() *Creator {
		values, _, err := validation.NewSchemaValidator(s.Internal)
		if err != nil {
			panic(err) // the schema is structural
		}
		return &Creator{s, values, servercel.NewValidator(s.Structural, true, celconfig.PerCallLimit)}
	})
}

// verdict decodes a document under Strict, and returns what a server would refuse it for.
func (c *Creator) verdict(src []byte) error {
	u, err := c.prepared(src)
	if err != nil {
		return err
	}
	return c.validate(u).ToAggregate()
}

// verdictWithRules is verdict with CEL.
func (c *Creator) verdictWithRules(src []byte) error {
	u, err := c.prepared(src)
	if err != nil {
		return err
	}
	if errs := c.validate(u); len(errs) > 0 || c.rules == nil {
		return errs.ToAggregate()
	}
	errs, _ := c.rules.Validate(context.Background(), nil, c.Structural, u.Object, nil, celconfig.RuntimeCELCostBudget)
	return errs.ToAggregate()
}

// prepared decodes a document under Strict to the resource that a server validates.
func (c *Creator) prepared(src []byte) (*unstructured.Unstructured, error) {
	m, findings, err := decodeServer(src, c.Structural, true)
	if err != nil {
		return nil, err
	}
	if len(findings) > 0 {
		return nil, fmt.Errorf("strict decoding error: %q", findings)
	}
	u := &unstructured.Unstructured{Object: m}
	c.prepare(u)
	return u, nil
}

// prepare does as rest.BeforeCreate and the strategy do before they validate. The request is for
// the namespace default, unless the resource has one.
func (c *Creator) prepare(u *unstructured.Unstructured) {
	if u.GetName() == "" && u.GetGenerateName() != "" {
		u.SetName(u.GetGenerateName() + "x7k2p")
	}
	switch {
	case !c.isNamespaced():
		u.SetNamespace("")
	case u.GetNamespace() == "":
		u.SetNamespace(metav1.NamespaceDefault)
	}
	if c.Definition.HasStatus {
		delete(u.Object, "status")
	}
	u.SetGeneration(1)
}

func (c *Creator) isNamespaced() bool { return c.Definition.Scope == "Namespaced" }

// validate returns the errors that customResourceStrategy.Validate finds, and those that
// rest.ValidateCreate finds if there are none.
func (c *Creator) validate(u *unstructured.Unstructured) (errs fielderrors.ErrorList) {
	ctx := context.Background()
	if u.GetKind() != c.Definition.Kind || u.GetAPIVersion() != c.Definition.APIVersion() {
		errs = append(errs, fielderrors.Invalid(fielderrors.NewPath("kind"), u.GetKind(), "must be "+c.Definition.Kind))
	} else {
		errs = append(errs, c.validateMetadata(ctx, u)...)
		errs = append(errs, validation.ValidateCustomResource(nil, u.Object, c.values)...)
		errs = append(errs, c.validateScale(u)...)
	}
	errs = append(errs, objectmeta.Validate(ctx, nil, u.Object, c.Structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, c.Structural, u.Object)...)
	if len(errs) == 0 {
		errs = metavalidation.ValidateObjectMetaAccessor(u, c.isNamespaced(), isPathSegment, fielderrors.NewPath("metadata"))
	}
	return errs
}

func (c *Creator) validateMetadata(ctx context.Context, u *unstructured.Unstructured) fielderrors.ErrorList {
	at := fielderrors.NewPath("metadata")
	var m metav1.ObjectMeta
	if metadata, ok := u.Object["metadata"].(map[string]any); ok {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(metadata, &m); err != nil {
			return fielderrors.ErrorList{fielderrors.Invalid(at, metadata, err.Error())}
		}
	}
	return metavalidation.ValidateObjectMetaDeclaratively(ctx, operation.Create, &m, nil, c.isNamespaced(), metavalidation.NameIsDNSSubdomain, at, true)
}

func isPathSegment(name string, prefix bool) []string {
	if prefix {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

func (c *Creator) validateScale(u *unstructured.Unstructured) (errs fielderrors.ErrorList) {
	scale := c.Definition.Scale
	if scale == nil {
		return nil
	}
	refuse := func(path string, v any, msg string) {
		errs = append(errs, fielderrors.Invalid(fielderrors.NewPath(path), v, msg))
	}
	for _, path := range []string{scale.SpecReplicasPath, scale.StatusReplicasPath} {
		n, _, err := unstructured.NestedInt64(u.Object, strings.Split(strings.TrimPrefix(path, "."), ".")...)
		switch {
		case err != nil:
			refuse(path, n, err.Error())
		case n < 0:
			refuse(path, n, "should be a non-negative integer")
		case n > math.MaxInt32:
			refuse(path, n, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32))
		}
	}
	if path := scale.LabelSelectorPath; path != nil {
		if selector, _, err := unstructured.NestedString(u.Object, strings.Split(strings.TrimPrefix(*path, "."), ".")...); err != nil {
			refuse(*path, selector, err.Error())
		}
	}
	return errs
}

func kubernetesVerdict() []Contender {
	stages := func(name, less string, do func(c *Creator, src []byte) error) Contender {
		return Contender{name, Partial, less, func(d *Document) Run {
			c := serverOf(d.Schema)
			return verdict(func() error { return do(c, d.Src) })
		}}
	}
	return []Contender{
		{"Kubernetes", Valid, "", func(d *Document) Run {
			c := serverOf(d.Schema)
			return verdict(func() error { return c.verdict(d.Src) })
		}},
		stages("Kubernetes: decode, prune, drop nulls, default", "validates nothing", func(c *Creator, src []byte) error {
			_, _, err := decodeServer(src, c.Structural, true)
			return err
		}),
		stages("Kubernetes: + ValidateCustomResource", "neither metadata nor list types", func(c *Creator, src []byte) error {
			m, _, err := decodeServer(src, c.Structural, true)
			if err != nil {
				return err
			}
			return validation.ValidateCustomResource(nil, m, c.values).ToAggregate()
		}),
	}
}

func kubernetesRules() []Contender {
	return []Contender{
		{"Kubernetes", Valid, "", func(d *Document) Run {
			c := serverOf(d.Schema)
			return verdict(func() error { return c.verdictWithRules(d.Src) })
		}},
		{"Kubernetes, without CEL", Partial, "evaluates no rules", func(d *Document) Run {
			c := serverOf(d.Schema)
			return verdict(func() error { return c.verdict(d.Src) })
		}},
	}
}

// kubernetesVerdictYAML reads the YAML twice, as kubernetesYAML does.
func kubernetesVerdictYAML() []Contender {
	return []Contender{{"Kubernetes", Valid, "", func(d *Document) Run {
		c := serverOf(d.Schema)
		return verdict(func() error {
			js, err := yaml.YAMLToJSON(d.YAML)
			if err != nil {
				return err
			}
			if _, err := yaml.YAMLToJSONStrict(d.YAML); err != nil {
				return err
			}
			return c.verdict(js)
		})
	}}}
}
