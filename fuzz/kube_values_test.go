package fuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/kube"
)

// A validatorPair is the validator of package kube and the server's strategy, for one version.
type validatorPair struct {
	ours   *kube.Validator
	server *Strategy
	seen   *validatorSeen
}

// validatorSeen counts what was compared.
type validatorSeen struct{ objects, invalid, values, foreign int }

func newValidatorPair(
	k *validate.Kind, js json.RawMessage, server *Strategy, seen *validatorSeen, options ...kube.Option,
) (*validatorPair, error) {
	gv, err := k8sschema.ParseGroupVersion(k.APIVersion)
	if err != nil {
		return nil, err
	}
	crd := new(apiextensionsv1.CustomResourceDefinition)
	crd.Spec.Group, crd.Spec.Names.Kind, crd.Spec.Scope = gv.Group, k.Kind, apiextensionsv1.ClusterScoped
	if k.Namespaced {
		crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	}
	v := apiextensionsv1.CustomResourceDefinitionVersion{Name: gv.Version, Subresources: new(apiextensionsv1.CustomResourceSubresources)}
	if k.HasStatus {
		v.Subresources.Status = new(apiextensionsv1.CustomResourceSubresourceStatus)
	}
	if s := k.Scale; s != nil {
		v.Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{
			SpecReplicasPath: s.SpecReplicasPath, StatusReplicasPath: s.StatusReplicasPath, LabelSelectorPath: s.LabelSelectorPath,
		}
	}
	props := new(apiextensionsv1.JSONSchemaProps)
	if err := json.Unmarshal(js, props); err != nil {
		return nil, err
	}
	v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{v}
	options = append(options, kube.Limits(decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30}))
	ours, err := kube.NewValidator(crd, gv.Version, options...)
	return &validatorPair{ours, server, seen}, err
}

// compare compares the errors for an object as it is after admission: it need not be pruned.
func (p *validatorPair) compare(t *testing.T, name string, object map[string]any) {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	// The strategy validates what the store has prepared.
	if base := u.GetGenerateName(); base != "" && u.GetName() == "" {
		u.SetName(validate.GeneratedName(base))
	}
	stored := u.DeepCopy()
	stored.SetResourceVersion("1")
	p.server.create.PrepareForCreate(context.Background(), u)
	before := marshal(u.Object)
	explain := func() string { return fmt.Sprintf("%s\n%s", name, before) }
	theirs, warnings := p.server.Create(u.Object)
	warnings = aboutFinalizers(warnings)
	p.compareErrors(t, explain, theirs, p.ours.Validate(context.Background(), u))
	p.compareErrors(t, explain, p.server.StatusUpdate(stored.Object), p.ours.ValidateStatus(context.Background(), stored))
	if ours := p.ours.WarningsOnCreate(context.Background(), u); !slices.Equal(warnings, ours) {
		require.Equal(t, warnings, ours, explain())
	}
	require.Equal(t, string(before), string(marshal(u.Object)), "the object was changed")
	p.seen.objects++
	p.seen.invalid += min(len(theirs), 1)
}

func (p *validatorPair) compareErrors(t *testing.T, explain func() string, theirs, ours field.ErrorList) {
	key := func(e *field.Error) string { return fmt.Sprintf("%s %s", e.Type, e) }
	inOrder := func(list field.ErrorList) (keys []string) {
		slices.SortStableFunc(list, func(a, b *field.Error) int {
			if key(a) < key(b) {
				return -1
			}
			return 1
		})
		for _, e := range list {
			keys = append(keys, key(e))
		}
		return keys
	}
	want, got := inOrder(theirs), inOrder(ours)
	if !slices.Equal(want, got) {
		require.Equal(t, want, got, explain())
	}
	for i := range theirs {
		if reflect.DeepEqual(theirs[i].BadValue, ours[i].BadValue) {
			p.seen.values++
			continue
		}
		// The texts are equal. Some values are of Go types in metadata, and here what these are in
		// JSON. An integer may be a float64 where the server compares it with a fraction.
		switch theirs[i].BadValue.(type) {
		case string, int64, bool, int, nil:
			require.Equal(t, theirs[i].BadValue, ours[i].BadValue, "%s: %s", want[i], explain())
		}
		p.seen.foreign++
	}
}

// TestKubeValidator compares the validator of package kube with the server's strategy: for resources
// of the corpus with mistakes in them, pruned or not, and for values of random schemas.
func TestKubeValidator(t *testing.T) {
	seen := new(validatorSeen)
	pairs := make(map[string]*validatorPair)
	for v := range realVersions(t) {
		k := validate.KindOf(v.crd, &v.version)
		server, err := NewStrategy(k, v.js, v.crd.PreserveUnknownFields)
		require.NoError(t, err)
		pairs[v.apiVersion+" "+v.crd.Kind], err = newValidatorPair(k, v.js, server, seen)
		require.NoError(t, err)
	}
	n := uint64(0)
	for o := range realObjects(t) {
		p := pairs[o.apiVersion+" "+o.kind]
		for i := range 4 {
			n++
			js := o.js
			if i > 0 {
				js = Mutate(js, rand.New(rand.NewPCG(n, 7)))
			}
			var object map[string]any
			if p == nil || kjson.UnmarshalCaseSensitivePreserveInts(js, &object) != nil || !hasObjectMeta(object) {
				continue
			}
			p.compare(t, fmt.Sprintf("%s, seed %d", o.file, n), object)
		}
	}
	generated := *strategiesFlag / 40
	if testing.Short() {
		generated = 5
	}
	for seed := range uint64(generated) {
		compareValidators(t, seed, seen)
	}
	t.Logf("%+v", *seen)
	require.Greater(t, seen.invalid, seen.objects/4)
	require.Less(t, seen.foreign, seen.values/10)
}

// aboutFinalizers returns the warnings of the strategy, without those of the handler.
func aboutFinalizers(warnings []string) (list []string) {
	for _, w := range warnings {
		if len(w) > 0 && w[0] != '.' {
			list = append(list, w)
		}
	}
	return list
}

// hasObjectMeta reports whether metadata is such as a request or a patch of admission leaves it.
func hasObjectMeta(object map[string]any) bool {
	metadata, ok := object["metadata"].(map[string]any)
	return ok && runtime.DefaultUnstructuredConverter.FromUnstructured(metadata, new(metav1.ObjectMeta)) == nil
}

// compareValidators compares values of a random schema.
func compareValidators(t *testing.T, seed uint64, seen *validatorSeen) {
	g, root := grownKind(t, seed, 23)
	strategies, js := newGrownVersion(t, root, newStrategySeen())
	server, err := NewServer(js, k8sschema.GroupVersion{Group: "a", Version: "v1"}, "K")
	require.NoError(t, err)
	pairs := make(map[int]*validatorPair)
	for i := range 20 {
		x := map[string]any{"apiVersion": "a/v1", "kind": "K", "metadata": g.metadata(true)}
		if x["metadata"] == nil {
			delete(x, "metadata")
		}
		for name, value := range g.value(root).(map[string]any) {
			x[name] = value
		}
		answer, err := server.Decode(marshal(x))
		if err != nil {
			continue // for an embedded resource that cannot be read
		}
		variant := g.IntN(variants)
		if pairs[variant] == nil {
			strategy := strategies.pair(t, variant)
			pairs[variant], err = newValidatorPair(&strategy.kind, js, strategy.server, seen)
			require.NoError(t, err)
		}
		pairs[variant].compare(t, fmt.Sprintf("seed %d, %d: %s", seed, i, js), answer.Object)
	}
}

// BenchmarkKubeValidator measures the validation of the valid resources of the corpus.
func BenchmarkKubeValidator(b *testing.B) {
	type one struct {
		pair   *validatorPair
		object *unstructured.Unstructured
	}
	var all []one
	pairs := make(map[string]*validatorPair)
	servers := make(map[string]*Server)
	for v := range realVersions(b) {
		k := validate.KindOf(v.crd, &v.version)
		name := v.apiVersion + " " + v.crd.Kind
		server, err := NewStrategy(k, v.js, v.crd.PreserveUnknownFields)
		require.NoError(b, err)
		pairs[name], err = newValidatorPair(k, v.js, server, new(validatorSeen))
		require.NoError(b, err)
		servers[name], err = NewServer(v.js, k8sschema.GroupVersion{Group: v.crd.Group, Version: v.version.Name}, v.crd.Kind)
		require.NoError(b, err)
	}
	for o := range realObjects(b) {
		p := pairs[o.apiVersion+" "+o.kind]
		if p == nil {
			continue
		}
		answer, err := servers[o.apiVersion+" "+o.kind].Decode(o.js)
		if err != nil {
			continue
		}
		u := &unstructured.Unstructured{Object: answer.Object}
		p.server.create.PrepareForCreate(b.Context(), u)
		if len(p.ours.Validate(b.Context(), u)) == 0 {
			all = append(all, one{p, u})
		}
	}
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			o := all[i%len(all)]
			o.pair.ours.Validate(b.Context(), o.object)
		}
	})
	b.Run("server", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			o := all[i%len(all)]
			o.pair.server.create.Validate(b.Context(), o.object)
		}
	})
}
