package kube_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/kube"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// potCRD defines Pot, whose values have rules.
const potCRD = `
spec:
  group: garden.example.com
  names: {kind: Pot}
  scope: Namespaced
  versions:
  - name: v1
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.litres, statusReplicasPath: .status.litres, labelSelectorPath: .status.selector}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [plant]
            properties:
              plant: {type: string, maxLength: 5, default: fern}
              litres: {type: integer, minimum: 1, maximum: 9}
              ratio: {type: number, maximum: 0.5}
              light: {type: string, enum: [sun, shade]}
              names: {type: array, maxItems: 2, x-kubernetes-list-type: set, items: {type: string, default: x}}
              below: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
              map: {type: object, maxProperties: 1, additionalProperties: {type: object, properties: {a: {type: integer, default: 1}}}}
          status:
            type: object
            properties:
              litres: {type: integer, minimum: 1}
              selector: {type: string}
  - name: v2
  - name: v3
    schema: {openAPIV3Schema: {type: object, properties: {a: {type: string}}}}
`

func pots(tb testing.TB) *apiextensionsv1.CustomResourceDefinition {
	crd := new(apiextensionsv1.CustomResourceDefinition)
	require.NoError(tb, yaml.UnmarshalStrict([]byte(potCRD), crd))
	return crd
}

func potValidator(tb testing.TB, opts ...kube.Option) *kube.Validator {
	v, err := kube.NewValidator(pots(tb), "v1", opts...)
	require.NoError(tb, err)
	return v
}

// pot returns a pot with a spec.
func pot(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "garden.example.com/v1", "kind": "Pot", "metadata": map[string]any{"name": "a", "namespace": "b"}, "spec": spec,
	}}
}

// TestValidator has errors as the server has them.
func TestValidator(t *testing.T) {
	v := potValidator(t)
	assert.Empty(t, v.Validate(context.Background(), pot(map[string]any{
		"plant": "fern", "litres": int64(9), "ratio": 0.5, "light": "sun", "names": []any{}, "map": map[string]any{}, "\"": nil, "ä\xff": true,
	})))
	spec := map[string]any{
		"plant": "orchid", "litres": int64(10), "ratio": float64(1), "light": "moon", "names": []any{"a", "b", "b"},
		"below": map[string]any{"apiVersion": "v1", "metadata": map[string]any{"labels": map[string]any{"a b": ""}}}, "map": map[string]any{"a": map[string]any{"a": "\\"}, "b": nil},
	}
	for range 10 { // the order is always the same
		assert.Equal(t, field.ErrorList{
			{Type: field.ErrorTypeRequired, Field: "spec.below.kind", BadValue: ""},
			{Type: field.ErrorTypeInvalid, Field: "spec.below.metadata.labels", BadValue: "a b", Detail: "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
				"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
			{Type: field.ErrorTypeNotSupported, Field: "spec.light", BadValue: "moon", Detail: `supported values: "sun", "shade"`},
			{Type: field.ErrorTypeInvalid, Field: "spec.litres", BadValue: int64(10), Detail: "spec.litres in body should be less than or equal to 9"},
			{Type: field.ErrorTypeTooMany, Field: "spec.map", BadValue: 2, Detail: "must have at most 1 item"},
			{Type: field.ErrorTypeTypeInvalid, Field: "spec.map.a.a", BadValue: "string", Detail: `spec.map.a.a in body must be of type integer: "string"`},
			{Type: field.ErrorTypeTypeInvalid, Field: "spec.map.b", BadValue: "null", Detail: `spec.map.b in body must be of type object: "null"`},
			{Type: field.ErrorTypeTooMany, Field: "spec.names", BadValue: 3, Detail: "must have at most 2 items"},
			{Type: field.ErrorTypeDuplicate, Field: "spec.names[2]", BadValue: "b"},
			{Type: field.ErrorTypeTooLong, Field: "spec.plant", BadValue: "<value omitted>", Detail: "may not be more than 5 bytes"},
			{Type: field.ErrorTypeInvalid, Field: "spec.ratio", BadValue: float64(1), Detail: "spec.ratio in body should be less than or equal to 0.5"},
		}, v.Validate(context.Background(), pot(spec)))
	}
}

func inTextOrder(list field.ErrorList) field.ErrorList {
	slices.SortStableFunc(list, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return list
}

// TestValidatorOfStatus holds that a creation does not look at the status, and a status update does
// not look at the rest.
func TestValidatorOfStatus(t *testing.T) {
	v := potValidator(t)
	u := pot(map[string]any{"litres": int64(10), "names": []any{"a", "a"}})
	u.SetResourceVersion("1")
	u.Object["status"] = map[string]any{"litres": int64(-1)}
	assert.Equal(t, field.ErrorList{
		{Type: field.ErrorTypeInvalid, Field: "spec.litres", BadValue: int64(10), Detail: "spec.litres in body should be less than or equal to 9"},
		{Type: field.ErrorTypeDuplicate, Field: "spec.names[1]", BadValue: "a"},
		{Type: field.ErrorTypeRequired, Field: "spec.plant", BadValue: ""},
	}, inTextOrder(v.Validate(context.Background(), u)))
	assert.Equal(t, field.ErrorList{
		{Type: field.ErrorTypeInvalid, Field: ".status.litres", BadValue: int64(-1), Detail: "should be a non-negative integer"},
		{Type: field.ErrorTypeDuplicate, Field: "spec.names[1]", BadValue: "a"},
		{Type: field.ErrorTypeInvalid, Field: "status.litres", BadValue: int64(-1), Detail: "litres in body should be greater than or equal to 1"},
	}, inTextOrder(v.ValidateStatus(context.Background(), u)))
}

// A Pot is a pot in Go, as servers have it that are not made of custom resources.
type Pot struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Plant  string `json:"plant"`
		Litres int64  `json:"litres,omitempty"`
	} `json:"spec"`
}

func (p *Pot) DeepCopyObject() runtime.Object { c := *p; return &c }

// TestValidatorOfGoTypes has objects that are no maps.
func TestValidatorOfGoTypes(t *testing.T) {
	v := potValidator(t)
	p := new(Pot)
	p.Name, p.Namespace, p.Spec.Plant = "a", "b", "fern"
	assert.Empty(t, v.Validate(context.Background(), p), "decoding clears the type")
	p.Spec.Litres = 10
	p.Kind, p.APIVersion = "Pan", "garden.example.com/v1"
	assert.Equal(t, field.ErrorList{field.Invalid(field.NewPath("kind"), "Pan", "must be Pot")}, v.Validate(context.Background(), p))
	p.Kind, p.Finalizers = "Pot", []string{"b", "a.b", "orphan", "b", "a.b/c", "_"}
	errs := v.Validate(context.Background(), p)
	assert.Equal(t, field.Invalid(field.NewPath("spec", "litres"), int64(10), "spec.litres in body should be less than or equal to 9"), errs[len(errs)-1])
	const noConflicts = "to avoid accidental conflicts with other finalizer writers"
	warnings := v.WarningsOnCreate(context.Background(), p)
	require.Len(t, warnings, 4)
	assert.Contains(t, warnings[0], `metadata.finalizers: "_": name part must consist of`)
	assert.Equal(t, []string{
		`metadata.finalizers: "_": prefer a domain-qualified finalizer name ` + noConflicts,
		`metadata.finalizers: "a.b": prefer a domain-qualified finalizer name including a path (/) ` + noConflicts,
		`metadata.finalizers: "b": prefer a domain-qualified finalizer name ` + noConflicts,
	}, warnings[1:])
	assert.Empty(t, v.WarningsOnCreate(context.Background(), new(metav1.Status)))
	assert.Equal(t, field.ErrorTypeInternal, v.Validate(context.Background(), unconvertible{})[0].Type)
}

// unconvertible is no pointer to a struct.
type unconvertible struct{ runtime.Object }

// TestValidatorValues has errors whose values are not in the object as they are.
func TestValidatorValues(t *testing.T) {
	v := potValidator(t)
	u := pot(map[string]any{"plant": "fern", "litres": "x"})
	owner := func(uid string) any {
		return map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "b", "uid": uid, "controller": true}
	}
	u.Object["metadata"].(map[string]any)["ownerReferences"] = []any{owner("c"), owner("d")}
	errs := inTextOrder(v.Validate(context.Background(), u))
	assert.Equal(t, int64(0), errs[0].BadValue)
	require.Len(t, errs, 3)
	assert.Equal(t, `.spec.litres: Invalid value: 0: .spec.litres accessor error: x is of the type string, expected int64`, errs[0].Error())
	assert.Regexp(t, `^metadata.ownerReferences: Invalid value: \[\{"apiVersion":"v1","kind":"Pod".*\}\]: Only one reference can have Controller set to true`, errs[1].Error())
}

// TestValidatorOrder holds that errors in the object's metadata come first, as in the server.
func TestValidatorOrder(t *testing.T) {
	v, err := kube.NewValidator(pots(t), "v3")
	require.NoError(t, err)
	errs := v.Validate(context.Background(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "garden.example.com/v3", "kind": "Pot", "a": int64(5),
		"metadata": map[string]any{"name": "a", "namespace": "b", "labels": map[string]any{"b": "x y"}},
	}})
	require.Len(t, errs, 2)
	assert.Equal(t, "metadata.labels", errs[0].Field)
	assert.Equal(t, "a", errs[1].Field)
}

// TestValidatorFailsClosed has objects that no request leaves.
func TestValidatorFailsClosed(t *testing.T) {
	v := potValidator(t)
	valid := map[string]any{"plant": "fern"}
	for name, change := range map[string]func(object map[string]any){
		"kind: Invalid value: \"\": must be Pot":                                             func(o map[string]any) { o["kind"] = 1 },
		"apiVersion: Invalid value: \"\": must be garden.example.com/v1":                     func(o map[string]any) { o["apiVersion"] = nil },
		"metadata: Invalid value: \"a\": field \"metadata\" must be an object, not a string": func(o map[string]any) { o["metadata"] = "a" },
		"<nil>: Internal error: json: unsupported value: NaN":                                func(o map[string]any) { o["a"] = math.NaN() },
		"<nil>: Internal error: json: unsupported value: +Inf":                               func(o map[string]any) { o["a"] = []any{math.Inf(1)} },
		"spec.below.kind: Invalid value: 1: field \"spec.below.kind\" must be a string, not a number": func(o map[string]any) {
			o["spec"] = map[string]any{"plant": "x", "below": map[string]any{"kind": int64(1)}}
		},
	} {
		u := pot(valid)
		change(u.Object)
		errs := v.Validate(context.Background(), u)
		require.NotEmpty(t, errs, name)
		assert.Equal(t, name, errs[0].Error())
	}
}

// TestValidatorHasLimits holds that errors beyond a limit are counted.
func TestValidatorHasLimits(t *testing.T) {
	v := potValidator(t, kube.Limits(decoder.Limits{Findings: 1}))
	errs := v.Validate(context.Background(), pot(map[string]any{"litres": int64(10), "light": "moon"}))
	require.Len(t, errs, 2)
	assert.EqualError(t, errs[1], `<nil>: Invalid value: "": and 2 more`)
}

// TestNewValidator has versions without a schema, and what is refused.
func TestNewValidator(t *testing.T) {
	v, err := kube.NewValidator(pots(t), "v2")
	require.NoError(t, err)
	u := pot(nil)
	u.SetAPIVersion("garden.example.com/v2")
	assert.Empty(t, v.Validate(context.Background(), u))
	u.SetName("")
	assert.Len(t, v.Validate(context.Background(), u), 1)

	for version, fault := range map[string]string{
		"v0": "kube: the definition of kind Pot has no version v0",
		"v3": "version v3: marshalling the schema",
	} {
		crd := pots(t)
		crd.Spec.Versions[2].Schema.OpenAPIV3Schema.Enum = []apiextensionsv1.JSON{{Raw: []byte("{")}}
		_, err := kube.NewValidator(crd, version)
		require.ErrorContains(t, err, fault)
	}
	_, err = kube.NewValidator(nil, "v1")
	require.EqualError(t, err, "kube: the CustomResourceDefinition is nil")
	_, err = kube.NewValidator(pots(t), "v1", nil)
	require.EqualError(t, err, "kube: option 1 of 1 is nil")
	// The definition is as it was: a validator has no defaults.
	crd := pots(t)
	_, err = kube.NewValidator(crd, "v1")
	require.NoError(t, err)
	assert.Equal(t, pots(t), crd)
}

// TestValidatorOfUpdates has objects that replace others: what has not changed is excused, and metadata
// is compared.
func TestValidatorOfUpdates(t *testing.T) {
	v := potValidator(t)
	ctx := context.Background()
	old := pot(map[string]any{"litres": int64(10), "light": "moon", "plant": "fern"})
	old.SetUID("u")
	old.SetResourceVersion("1")
	old.SetFinalizers([]string{"a"})
	old.Object["status"] = map[string]any{"litres": int64(-1)}
	u := old.DeepCopy()
	const scale = ".status.litres: Invalid value: -1: should be a non-negative integer"
	assert.EqualError(t, v.ValidateUpdate(ctx, u, old).ToAggregate(), scale, "scaling is not excused")
	old.Object["status"] = map[string]any{"litres": int64(0)}
	u = old.DeepCopy()
	assert.Empty(t, v.ValidateUpdate(ctx, u, old))
	u.Object["status"] = map[string]any{"litres": "x"}
	assert.Empty(t, v.ValidateUpdate(ctx, u, old), "the stored status is kept")
	u.Object["spec"] = map[string]any{"litres": int64(11), "light": "moon", "plant": "fern"}
	u.SetName("b")
	u.SetFinalizers([]string{"b", "a"})
	assert.Equal(t, field.ErrorList{
		{Type: field.ErrorTypeInvalid, Field: "metadata.name", BadValue: "b", Detail: "field is immutable"},
		{Type: field.ErrorTypeInvalid, Field: "spec.litres", BadValue: int64(11), Detail: "spec.litres in body should be less than or equal to 9"},
	}, inTextOrder(v.ValidateUpdate(ctx, u, old)))
	assert.Equal(t, v.WarningsOnCreate(ctx, u)[1:], v.WarningsOnUpdate(ctx, u, old))
	assert.Contains(t, v.WarningsOnUpdate(ctx, u, old)[0], `metadata.finalizers: "b"`)
	assert.Empty(t, v.WarningsOnUpdate(ctx, u, new(metav1.Status)))

	u.Object["status"] = map[string]any{"litres": int64(-2), "selector": "a"}
	assert.Equal(t, field.ErrorList{
		{Type: field.ErrorTypeInvalid, Field: ".status.litres", BadValue: int64(-2), Detail: "should be a non-negative integer"},
		{Type: field.ErrorTypeInvalid, Field: "status.litres", BadValue: int64(-2), Detail: "litres in body should be greater than or equal to 1"},
	}, inTextOrder(v.ValidateStatusUpdate(ctx, u, old)), "all but the status is that of the stored object")
	for _, errs := range []field.ErrorList{v.ValidateUpdate(ctx, u, nil), v.ValidateStatusUpdate(ctx, u, nil)} {
		require.Len(t, errs, 1)
		assert.Equal(t, "<nil>: Internal error: kube: the stored object is nil", errs[0].Error())
	}
	errs := v.ValidateUpdate(ctx, u, unconvertible{})
	require.Len(t, errs, 1)
	assert.Equal(t, field.ErrorTypeInternal, errs[0].Type)
	assert.Contains(t, errs[0].Detail, "the stored object: ")
}

// A noSeven is a compiler for rules, and its rules: a pot has not seven litres, and an update does not
// change them.
type noSeven struct{}

func (noSeven) CompileRules(*schema.Structural, bool) validation.Rules { return noSeven{} }

func (noSeven) Selections() (self, oldSelf *validation.Selection) {
	litres := &validation.Selection{Members: map[string]*validation.Selection{
		"spec": {Members: map[string]*validation.Selection{"litres": {}}},
	}}
	return litres, litres
}

func (noSeven) Evaluate(r *validation.RuleRequest) (list []validation.RuleError) {
	litres := func(x any) any {
		object, _ := x.(map[string]any)
		spec, _ := object["spec"].(map[string]any)
		return spec["litres"]
	}
	refuse := func(kind ferrors.SchemaErrorKind, msg string) {
		list = append(list, validation.RuleError{
			Path: []ferrors.Segment{{Name: "spec", IsName: true}}, Depth: 1, Kind: kind, Field: "spec", Msg: msg,
		})
	}
	switch litres(r.Object) {
	case int64(7):
		refuse(ferrors.SchemaInvalid, "not seven")
	case int64(8):
		refuse(ferrors.SchemaDuplicate, "")
	case int64(9):
		refuse(ferrors.SchemaInternal, "too long")
	}
	if r.Old != nil && litres(r.Old) != litres(r.Object) {
		refuse(ferrors.SchemaInvalid, "no change")
	}
	return list
}

// TestValidatorOfRules has a compiler for rules.
func TestValidatorOfRules(t *testing.T) {
	v := potValidator(t, kube.Rules(noSeven{}))
	ctx := context.Background()
	old, u := pot(map[string]any{"plant": "fern", "litres": int64(6)}), pot(map[string]any{"plant": "fern", "litres": int64(7)})
	assert.Empty(t, v.Validate(ctx, old))
	assert.EqualError(t, v.Validate(ctx, u).ToAggregate(), `spec: Invalid value: not seven`)
	assert.EqualError(t, v.ValidateUpdate(ctx, u, old).ToAggregate(),
		`[spec: Invalid value: not seven, spec: Invalid value: no change]`)
	u.Object["spec"].(map[string]any)["litres"] = int64(8)
	assert.Equal(t, field.ErrorList{{Type: field.ErrorTypeDuplicate, Field: "spec", BadValue: field.OmitValueType{}}}, v.Validate(ctx, u))
	u.Object["spec"].(map[string]any)["litres"] = int64(9)
	assert.Equal(t, field.ErrorList{{Type: field.ErrorTypeInternal, Field: "spec", Detail: "too long"}}, v.Validate(ctx, u))
	_, err := kube.NewValidator(pots(t), "v1", kube.Rules(nil))
	require.EqualError(t, err, "kube: the compiler for rules is nil")
}
