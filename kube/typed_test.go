package kube

import (
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"

	ferrors "github.com/espalier-dev/espalier/errors"
)

// A Trellis is the Go type for v1, and the type that the server uses.
type Trellis struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TrellisSpec `json:"spec,omitempty"`
}

type TrellisSpec struct {
	Height float64 `json:"height,omitempty"`
	Rows   int32   `json:"rows,omitempty"`
	Note   *string `json:"note,omitempty"`
	// Wires is not in the schema of v1.
	Wires  int32   `json:"wires,omitempty"`
	Plants []Plant `json:"plants,omitempty"`
	// Grown is set by the defaults of the Go type, and is not in any schema either.
	Grown bool `json:"-"`
}

type Plant struct {
	Name  string          `json:"name,omitempty"`
	Water *map[string]int `json:"water,omitempty"`
}

func (t *Trellis) DeepCopyObject() runtime.Object {
	c := *t
	c.ObjectMeta = *t.ObjectMeta.DeepCopy()
	return &c
}

func trellisScheme(t testing.TB) *runtime.Scheme {
	scheme := runtime.NewScheme()
	gv := trellisV1.GroupVersion()
	scheme.AddKnownTypes(gv, &Trellis{})
	scheme.AddKnownTypes(runtimeschema.GroupVersion{Group: gv.Group, Version: runtime.APIVersionInternal}, &Trellis{})
	scheme.AddTypeDefaultingFunc(&Trellis{}, func(obj any) { obj.(*Trellis).Spec.Grown = true })
	metav1.AddToGroupVersion(scheme, runtimeschema.GroupVersion{Version: "v1"})
	require.NoError(t, scheme.SetVersionPriority(gv))
	return scheme
}

func TestDecodeTyped(t *testing.T) {
	scheme := trellisScheme(t)
	for _, yaml := range []bool{false, true} {
		s, err := NewSerializer(scheme, scheme, json.SerializerOptions{Strict: true, Yaml: yaml}, trellis(t))
		require.NoError(t, err)
		const doc = `{"kind":"Trellis","apiVersion":"garden.example.com/v1","metadata":{"name":"a"},"spec":{"wires":3,"note":null,"plants":[{"name":"pear"}]}}`
		want := &Trellis{
			TypeMeta: metav1.TypeMeta{Kind: "Trellis", APIVersion: "garden.example.com/v1"}, ObjectMeta: metav1.ObjectMeta{Name: "a"},
			Spec: TrellisSpec{Height: 1.5, Rows: 2, Plants: []Plant{{Name: "pear", Water: &map[string]int{"litres": 1}}}},
		}
		for _, into := range []runtime.Object{nil, new(Trellis)} {
			obj, gvk, err := s.Decode([]byte(doc), nil, into)
			assert.EqualError(t, err, `strict decoding error: unknown field "spec.wires"`)
			assert.Equal(t, want, obj)
			assert.Equal(t, trellisV1, *gvk)
			if into != nil {
				assert.Same(t, into, obj)
			}
		}

		// Missing fields come from the defaults, which handlers pass.
		obj, gvk, err := s.Decode([]byte(`{"spec":{"rows":1}}`), &trellisV1, new(Trellis))
		require.NoError(t, err)
		assert.Equal(t, trellisV1, *gvk)
		assert.Equal(t, TrellisSpec{Height: 1.5, Rows: 1}, obj.(*Trellis).Spec)

		// The delegate decodes types that have no resource.
		options := new(metav1.DeleteOptions)
		_, _, err = s.Decode([]byte(`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5,"x":1}`), nil, options)
		assert.EqualError(t, err, `strict decoding error: unknown field "x"`)
		assert.Equal(t, int64(5), *options.GracePeriodSeconds)
	}
}

// TestTypedByAnyCase asserts that no spelling of kind and apiVersion makes an object bypass its
// schema: the server takes the type from any spelling.
func TestTypedByAnyCase(t *testing.T) {
	scheme := trellisScheme(t)
	for _, yaml := range []bool{false, true} {
		s, err := NewSerializer(scheme, scheme, json.SerializerOptions{Yaml: yaml}, trellis(t))
		require.NoError(t, err)
		for _, members := range []string{
			`"Kind":"Trellis","apiVersion":"garden.example.com/v1"`,
			`"kind":"Trellis","APIVERSION":"garden.example.com/v1"`,
			`"kind":"DeleteOptions","apiVersion":"v1","kinD":"Trellis","apiversion":"garden.example.com/v1"`,
			`"kind":"DeleteOptions","kind":"Trellis","apiVersion":"v1","apiVersion":"garden.example.com/v1"`,
		} {
			for _, defaults := range []*runtimeschema.GroupVersionKind{nil, &trellisV1} {
				for _, into := range []runtime.Object{nil, new(Trellis)} {
					obj, gvk, err := s.Decode([]byte(`{`+members+`,"spec":{"wires":3}}`), defaults, into)
					if err != nil {
						// In YAML two spellings have no order.
						require.True(t, yaml, "%s: %v", members, err)
						continue
					}
					require.Equal(t, trellisV1, *gvk, members)
					assert.Equal(t, TrellisSpec{Height: 1.5, Rows: 2}, obj.(*Trellis).Spec, members)
				}
			}
		}
	}
}

func TestTypedErrors(t *testing.T) {
	scheme := trellisScheme(t)
	for _, yaml := range []bool{false, true} {
		options := json.SerializerOptions{Yaml: yaml}
		ours, err := NewSerializer(scheme, scheme, options, trellis(t))
		require.NoError(t, err)
		theirs := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, options)
		for _, doc := range []string{
			``, `{`, `[]`, `{"spec":{}}`, `{"kind":"Trellis","apiVersion":"garden.example.com/v3"}`,
			`{"kind":"Trellis","apiVersion":"garden.example.com/v1","spec":{"rows":"x"}}`,
			`{"kind":"Trellis","apiVersion":"garden.example.com/v1","spec":{"rows":1.5}}`,
			`{"kind":"Trellis","apiVersion":"garden.example.com/v1","metadata":{"labels":{"a":5}}}`,
			`{"kind":"Trellis","apiVersion":"garden.example.com/v1","metadata":5}`,
		} {
			_, gvk, want := theirs.Decode([]byte(doc), nil, nil)
			require.Error(t, want)
			obj, got, err := ours.Decode([]byte(doc), nil, nil)
			assert.Nil(t, obj)
			assert.EqualError(t, err, want.Error())
			assert.Equal(t, gvk, got, doc)
			assert.Equal(t, runtime.IsMissingKind(want), runtime.IsMissingKind(err))
			assert.Equal(t, runtime.IsNotRegisteredError(want), runtime.IsNotRegisteredError(err))
			assertOneOfOurs(t, err, want)
		}
	}
}

// assertOneOfOurs asserts that an error is one of those that Decode documents: the server's if
// callers distinguish it by its type, or an Error in which errors.As finds the server's and ours.
func assertOneOfOurs(t *testing.T, err, server error) {
	t.Helper()
	if runtime.IsMissingKind(server) || runtime.IsMissingVersion(server) || runtime.IsNotRegisteredError(server) {
		assert.IsType(t, server, err)
		return
	}
	var e *Error
	if !assert.ErrorAs(t, err, &e, "%T: %v", err, err) {
		return
	}
	assert.Equal(t, server.Error(), e.Text)
	assert.Error(t, e.Err)
	assert.ErrorIs(t, e, e.server)
	as := reflect.New(reflect.TypeOf(server))
	assert.True(t, errors.As(err, as.Interface()), "as %T", server)
}

// TestErrorsByType asserts that documents are refused with the same errors, whatever they are
// decoded into.
func TestErrorsByType(t *testing.T) {
	scheme := trellisScheme(t)
	for _, into := range []runtime.Object{nil, new(Trellis), new(unstructured.Unstructured), new(unstructured.UnstructuredList)} {
		s, err := NewSerializer(scheme, scheme, json.SerializerOptions{}, trellis(t))
		require.NoError(t, err)
		if into == nil {
			s = newSerializer(t, json.SerializerOptions{}, trellis(t))
		}
		_, _, err = s.Decode([]byte("{\n\"kind\":"), nil, into)
		var e *Error
		require.ErrorAs(t, err, &e, "%T: %T", into, err)
		assert.Equal(t, "couldn't get version/kind; json parse error: unexpected end of JSON input", e.Text)
		var syntax *ferrors.SyntaxError
		require.ErrorAs(t, err, &syntax, "%T", into)
		assert.Equal(t, "2:8", syntax.Position.String())
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
}

func TestNegotiatedSerializer(t *testing.T) {
	scheme := trellisScheme(t)
	codecs := serializer.NewCodecFactory(scheme)
	n, err := NewNegotiatedSerializer(codecs, scheme, scheme, trellis(t))
	require.NoError(t, err)
	assert.Len(t, n.SupportedMediaTypes(), len(codecs.SupportedMediaTypes()))
	hub := runtimeschema.GroupVersion{Group: trellisV1.Group, Version: runtime.APIVersionInternal}
	for _, mediaType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML} {
		info, ok := runtime.SerializerInfoForMediaType(n.SupportedMediaTypes(), mediaType)
		require.True(t, ok)
		strict := n.DecoderToVersion(info.StrictSerializer, hub)
		obj, gvk, err := strict.Decode([]byte(`{"kind":"Trellis","apiVersion":"garden.example.com/v1","spec":{"q":1}}`), nil, nil)
		assert.EqualError(t, err, `strict decoding error: unknown field "spec.q"`)
		assert.Equal(t, trellisV1, *gvk)
		assert.Equal(t, TrellisSpec{Height: 1.5, Rows: 2, Grown: true}, obj.(*Trellis).Spec, "defaults of the schema, then those of Go")
		assert.Empty(t, obj.(*Trellis).Kind, "it was converted")

		encoded, err := runtime.Encode(n.EncoderForVersion(info.Serializer, trellisV1.GroupVersion()), obj)
		require.NoError(t, err)
		back, _, err := n.DecoderToVersion(info.Serializer, trellisV1.GroupVersion()).Decode(encoded, nil, new(Trellis))
		require.NoError(t, err)
		assert.Equal(t, "garden.example.com/v1", back.(*Trellis).APIVersion)

		_, _, err = strict.Decode([]byte(`{"kind":"Trellis"`+"\x00"), nil, nil)
		assert.Error(t, err)
		u := new(unstructured.Unstructured)
		u.SetGroupVersionKind(trellisV1)
		_, _, err = strict.Decode([]byte(`{"kind":"Trellis","apiVersion":"garden.example.com/v2","spec":{}}`), nil, u)
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"wires": int64(3)}, u.Object["spec"])
	}
	info, _ := runtime.SerializerInfoForMediaType(n.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	assert.NotNil(t, n.DecoderToVersion(info.Serializer, hub), "other media types stay")

	_, err = NewNegotiatedSerializer(codecs, scheme, scheme)
	assert.Error(t, err)
}

// A forgetful serializer has decoders that drop all strict errors except those of the serializer of
// k8s.io/apimachinery, as the decoders of the handler of custom resources do.
type forgetful struct{ runtime.NegotiatedSerializer }

func (f forgetful) DecoderToVersion(d runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	s, ok := d.(*json.Serializer)
	return dropping{f.NegotiatedSerializer.DecoderToVersion(d, gv), !ok || !s.IsStrict()}
}

type dropping struct {
	runtime.Decoder
	strict bool
}

func (d dropping) Decode(data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	obj, gvk, err := d.Decoder.Decode(data, defaults, into)
	if obj != nil && d.strict && runtime.IsStrictDecodingError(err) {
		err = nil
	}
	return obj, gvk, err
}

// TestStrictErrorsOfTypedObjects asserts that no decoder around the serializer drops its findings.
func TestStrictErrorsOfTypedObjects(t *testing.T) {
	scheme := trellisScheme(t)
	codecs := forgetful{serializer.NewCodecFactory(scheme)}
	n, err := NewNegotiatedSerializer(codecs, scheme, scheme, trellis(t))
	require.NoError(t, err)
	hub := runtimeschema.GroupVersion{Version: "v1"}
	for at, info := range n.SupportedMediaTypes()[:2] {
		theirs := codecs.SupportedMediaTypes()[at]
		for _, into := range []func() runtime.Object{func() runtime.Object { return nil }, func() runtime.Object { return new(metav1.DeleteOptions) }} {
			doc := []byte(`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5,"bogus":1}`)
			want, gvk, refusal := codecs.DecoderToVersion(theirs.StrictSerializer, hub).Decode(doc, nil, into())
			require.EqualError(t, refusal, `strict decoding error: unknown field "bogus"`)
			obj, got, err := n.DecoderToVersion(info.StrictSerializer, hub).Decode(doc, nil, into())
			assert.EqualError(t, err, refusal.Error())
			assert.True(t, runtime.IsStrictDecodingError(err))
			assert.Equal(t, want, obj)
			assert.Equal(t, gvk, got)

			_, _, err = n.DecoderToVersion(info.Serializer, hub).Decode(doc, nil, into())
			assert.NoError(t, err)
		}
	}
	one, two := errors.New("1"), errors.New("2")
	assert.EqualError(t, joinStrict([]error{one}, nil), "strict decoding error: 1")
	assert.EqualError(t, joinStrict([]error{one}, runtime.NewStrictDecodingError([]error{two})), "strict decoding error: 1, 2")
	assert.Same(t, two, joinStrict([]error{one}, two))
}

// A rereading serializer has decoders that prune objects and convert them, as those of the handler of custom
// resources do.
type rereading struct {
	runtime.NegotiatedSerializer
	resource *Resource
}

func (r rereading) DecoderToVersion(d runtime.Decoder, gv runtime.GroupVersioner) runtime.Decoder {
	return r.NegotiatedSerializer.DecoderToVersion(rereader{d, r.resource}, gv)
}

func (r rereading) SupportedMediaTypes() (infos []runtime.SerializerInfo) {
	creater, typer := unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper()
	for _, info := range r.NegotiatedSerializer.SupportedMediaTypes()[:2] {
		options := json.SerializerOptions{Yaml: info.MediaType == runtime.ContentTypeYAML}
		info.Serializer = json.NewSerializerWithOptions(json.DefaultMetaFactory, creater, typer, options)
		options.Strict = true
		info.StrictSerializer = json.NewSerializerWithOptions(json.DefaultMetaFactory, creater, typer, options)
		infos = append(infos, info)
	}
	return infos
}

type rereader struct {
	runtime.Decoder
	resource *Resource
}

func (p rereader) Decode(data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	obj, gvk, err := p.Decoder.Decode(data, defaults, into)
	if u, ok := obj.(*unstructured.Unstructured); ok && (err == nil || runtime.IsStrictDecodingError(err)) {
		if _, err := p.resource.Prune(u); err != nil {
			return nil, gvk, err
		}
	}
	return obj, gvk, err
}

// TestMetadataIsReadAgain: a time is written as that of the year 10000, which cannot be read again. The server
// reads metadata once and then misses a type, which is its error. What it accepts is refused: its object knows no
// schema.
func TestMetadataIsReadAgain(t *testing.T) {
	scheme, r := trellisScheme(t), trellis(t)
	hub := runtimeschema.GroupVersion{Version: "v1"}
	scheme.AddKnownTypes(hub, &metav1.List{})
	stock := rereading{serializer.NewCodecFactory(scheme), r}
	n, err := NewNegotiatedSerializer(stock, nil, nil, r)
	require.NoError(t, err)
	const late, cannot = `"metadata":{"deletionTimestamp":"9999-12-31T23:59:59-12:00"},"bogus":1}`, `parsing time "10000-01-01T11:59:59Z"`
	for _, c := range []struct {
		doc, want  string
		isAccepted bool // by the server
	}{
		{`{`, "Object 'Kind' is missing", false},
		{`{"apiVersion":"garden.example.com/v1",`, "Object 'Kind' is missing", false},
		{`{"kind":"Trellis",`, "Object 'apiVersion' is missing", false},
		{`{"kind":"Other","apiVersion":"v1",`, `no kind "Other" is registered`, false},
		{`{"kind":"Trellis","apiVersion":"garden.example.com/v1",`, cannot, false},
		{`{"kind":"DeleteOptions","apiVersion":"v1",`, cannot, true},
		{`{"kind":"List","apiVersion":"v1","items":[{"kind":"Trellis","apiVersion":"garden.example.com/v1","bogus":1}],`, cannot, true},
	} {
		doc := []byte(c.doc + late)
		for i, ours := range n.SupportedMediaTypes() {
			theirs := stock.SupportedMediaTypes()[i]
			for _, both := range [][2]runtime.Serializer{{theirs.Serializer, ours.Serializer}, {theirs.StrictSerializer, ours.StrictSerializer}} {
				accepted, gvk, refusal := stock.DecoderToVersion(both[0], hub).Decode(doc, nil, nil)
				obj, got, err := n.DecoderToVersion(both[1], hub).Decode(doc, nil, nil)
				assert.ErrorContains(t, err, c.want, c.doc)
				assert.Nil(t, obj, c.doc)
				assert.Equal(t, gvk, got, c.doc)
				if assert.Equal(t, c.isAccepted, accepted != nil, c.doc); !c.isAccepted {
					assert.EqualError(t, err, refusal.Error(), c.doc)
				}
			}
		}
	}

	// Neither what is decoded into nor a panic of the server comes out.
	codecs := serializer.NewCodecFactory(scheme)
	delegate := codecs.SupportedMediaTypes()[0].Serializer
	v := &versioned{codecs, &Serializer{delegate: delegate}, hub}
	into := &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{Kind: "before"}}
	refusal := errors.New("refused")
	assert.Same(t, refusal, v.serverError([]byte(`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":5}`), nil, into, refusal))
	assert.Equal(t, &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{Kind: "before"}}, into)
	v.serializer = &Serializer{delegate: broken{delegate}}
	assert.Same(t, refusal, v.serverError([]byte(`{}`), nil, nil, refusal))
}

// A broken serializer panics, as the server's reader of YAML does for a few documents.
type broken struct{ runtime.Serializer }

func (broken) Decode([]byte, *runtimeschema.GroupVersionKind, runtime.Object) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	panic("index out of range")
}

func TestPanicsOfTheDelegate(t *testing.T) {
	scheme := trellisScheme(t)
	s, err := NewSerializer(scheme, scheme, json.SerializerOptions{Yaml: true}, trellis(t))
	require.NoError(t, err)
	s.delegate = broken{s.delegate}
	for _, doc := range []string{"a: [", "kind: Trellis\napiVersion: garden.example.com/v1\nspec: {rows: x}\n"} {
		obj, _, err := s.Decode([]byte(doc), nil, nil)
		assert.Error(t, err, doc)
		assert.Nil(t, obj)
	}
	assert.True(t, guard(func() { panic(1) }))
	assert.False(t, guard(func() {}))
}
