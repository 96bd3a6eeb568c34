package kube

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/recognizer"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A Serializer is a runtime.Serializer for JSON or YAML that prunes and
// defaults what it decodes, and finds unknown and duplicate fields, in one walk
// over the bytes. It replaces the serializer of k8s.io/apimachinery and what
// the handler of custom resources does after that.
//
// It decodes objects of any kind into *unstructured.Unstructured: objects of
// its resources by their schemas, and of other objects it prunes only the
// metadata. Items of its resources in unstructured lists are decoded as if each
// had been sent by itself. It also decodes typed objects; those of its
// resources are pruned and defaulted before they become Go values. Its
// delegate, a serializer of k8s.io/apimachinery, does everything else: lists of
// Go types, and all encoding.
type Serializer struct {
	delegate     runtime.Serializer
	yaml, strict bool
	typer        runtime.ObjectTyper
	creater      runtime.ObjectCreater
	resources    []*Resource
}

var _ recognizer.RecognizingDecoder = (*Serializer)(nil)
var _ runtime.Serializer = (*Serializer)(nil)

// NewSerializer returns a serializer for the resources, of which there must be
// at least one. creater and typer are for typed objects; a *runtime.Scheme is
// both. If both are nil, the serializer decodes unstructured objects only. If
// options.Strict is set and there are findings, Decode returns a
// runtime.NewStrictDecodingError together with the object.
func NewSerializer(
	creater runtime.ObjectCreater, typer runtime.ObjectTyper, options json.SerializerOptions,
	resources ...*Resource,
) (*Serializer, error) {
	creater, typer, err := checkArguments(creater, typer, resources)
	if err != nil {
		return nil, err
	}
	delegate := json.NewSerializerWithOptions(json.DefaultMetaFactory, creater, typer, options)
	return &Serializer{delegate, options.Yaml, options.Strict, typer, creater, resources}, nil
}

var (
	errNoResource = errors.New("kube: a serializer needs at least one resource")
	errPanicked   = errors.New("kube: the serializer of k8s.io/apimachinery panics for this document")
	errOneOfTwo   = errors.New("kube: give both creater and typer, or neither for unstructured objects only")
)

// checkArguments returns the makers of objects, and an error for arguments that would fail with the
// first document.
func checkArguments(
	creater runtime.ObjectCreater, typer runtime.ObjectTyper, resources []*Resource,
) (runtime.ObjectCreater, runtime.ObjectTyper, error) {
	if len(resources) == 0 {
		return nil, nil, errNoResource
	}
	for i, r := range resources {
		if err := r.check(); err != nil {
			return nil, nil, fmt.Errorf("%w: number %d", err, i+1)
		}
	}
	scheme, isScheme := creater.(*runtime.Scheme)
	hasCreater := creater != nil && (!isScheme || scheme != nil)
	scheme, isScheme = typer.(*runtime.Scheme)
	hasTyper := typer != nil && (!isScheme || scheme != nil)
	switch {
	case hasCreater != hasTyper:
		return nil, nil, errOneOfTwo
	case !hasCreater:
		return unstructuredscheme.NewUnstructuredCreator(), unstructuredscheme.NewUnstructuredObjectTyper(), nil
	}
	return creater, typer, nil
}

// Encode encodes obj as the delegate does.
func (s *Serializer) Encode(obj runtime.Object, w io.Writer) error { return s.delegate.Encode(obj, w) }

// Identifier returns that of the delegate, because the encoding is the same.
func (s *Serializer) Identifier() runtime.Identifier { return s.delegate.Identifier() }

// IsStrict reports whether Decode returns its findings.
func (s *Serializer) IsStrict() bool { return s.strict }

// RecognizesData does what the delegate does: it recognizes JSON, and of YAML
// it reports that the format is unknown.
func (s *Serializer) RecognizesData(data []byte) (ok, unknown bool, err error) {
	if r, ok := s.delegate.(recognizer.RecognizingDecoder); ok {
		return r.RecognizesData(data)
	}
	return false, true, nil
}

// Decode decodes an object. The rules for defaults, for into and for the
// returned type are those of the serializer of k8s.io/apimachinery.
//
// An error is an [*Error] with the server's text, an error that
// runtime.IsMissingKind, IsMissingVersion or IsNotRegisteredError recognizes,
// or an *errors.LimitError. For an item of a list, the error wraps one of these
// and names the item. With an error that runtime.IsStrictDecodingError
// recognizes, the object is complete. Its entries are *errors.Finding with
// positions; in YAML, one entry without a position has all repeated names. A
// last entry counts the findings beyond the limits. [ServerTexts] changes these
// texts.
//
// To find the text of an error, the document is parsed again as the server
// parses it.
func (s *Serializer) Decode(
	data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	if len(s.resources) == 0 {
		return nil, nil, errNoResource
	}
	switch to := into.(type) {
	case *unstructured.Unstructured:
		return s.decodeUnstructured(data, defaults, to)
	case *runtime.Unknown, runtime.Unstructured: // and lists of objects
		return s.decodeList(data, defaults, into)
	}
	return s.decodeTyped(data, defaults, into)
}

// resourceFor returns the resource of a kind.
func (s *Serializer) resourceFor(gk runtimeschema.GroupKind) *Resource {
	for _, r := range s.resources {
		if r.groupKind == gk {
			return r
		}
	}
	return nil
}

func (s *Serializer) decodeUnstructured(
	data []byte, defaults *runtimeschema.GroupVersionKind, into *unstructured.Unstructured,
) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	how := reading{yaml: s.yaml, strict: s.strict}
	r := s.resources[0]
	if defaults != nil {
		if expected := s.resourceFor(defaults.GroupKind()); expected != nil {
			r = expected
		}
	}
	object, gvk, strict, err := r.decode(data, defaults, how)
	if err == nil && gvk.GroupKind() != r.groupKind {
		if actual := s.resourceFor(gvk.GroupKind()); actual != nil {
			object, gvk, strict, err = actual.decode(data, gvk, how)
		} else {
			strict, err = s.pruneItems(object, gvk, strict)
		}
	}
	if err != nil {
		return nil, gvk, err
	}
	into.SetUnstructuredContent(object)
	if len(strict) > 0 {
		return into, gvk, runtime.NewStrictDecodingError(strict)
	}
	return into, gvk, nil
}

// decodeTyped decodes into a Go type, or into what the creater makes of the object's type.
func (s *Serializer) decodeTyped(
	data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	gvk, err := s.typeOf(data, defaults, into)
	if err != nil {
		return s.decodeByDelegate(data, defaults, into, err)
	}
	if gvk.Kind == "" || gvk.Version == "" {
		return s.decodeByDelegate(data, defaults, into, nil) // which says so
	}
	obj, err := runtime.UseOrCreateObject(s.typer, s.creater, *gvk, into)
	if err != nil {
		return s.decodeByDelegate(data, defaults, into, nil) // which returns the same error
	}
	if u, ok := obj.(*unstructured.Unstructured); ok { // into is nil, or of another type
		created, completed, err := s.decodeCreated(data, gvk, u)
		if s.strict && runtime.IsMissingKind(err) {
			return s.decodeWithoutKind(data, defaults, into)
		}
		return created, completed, err
	}
	r := s.resourceFor(gvk.GroupKind())
	if r == nil || r.versions[gvk.Version] == nil {
		return s.decodeByDelegate(data, defaults, into, nil)
	}
	strict, err := r.versions[gvk.Version].decodeTyped(data, obj, reading{yaml: s.yaml, strict: s.strict})
	if err != nil {
		return nil, gvk, s.serverError(data, defaults, into, err)
	}
	if len(strict) > 0 {
		return obj, gvk, runtime.NewStrictDecodingError(strict)
	}
	return obj, gvk, nil
}

// decodeCreated decodes into an unstructured object that the creater has made. It returns the
// completed type, as the serializer of k8s.io/apimachinery does.
func (s *Serializer) decodeCreated(
	data []byte, gvk *runtimeschema.GroupVersionKind, u *unstructured.Unstructured,
) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	completed := *gvk
	obj, read, err := s.decodeUnstructured(data, gvk, u)
	if read == nil { // it could not be read
		return nil, nil, err
	}
	return obj, &completed, err
}

// decodeWithoutKind decodes an object whose type does not come from itself. A strict serializer of
// k8s.io/apimachinery does not notice that it has no kind.
func (s *Serializer) decodeWithoutKind(
	data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	obj, gvk, err := s.decodeByDelegate(data, defaults, into, nil)
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj, gvk, err
	}
	var found []error
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		found = strict.Errors()
	}
	unknown, err := s.resources[0].coerce(u, false, true)
	if err != nil {
		return nil, gvk, err
	}
	for _, path := range unknown {
		found = append(found, unknownField(path))
	}
	if len(found) > 0 {
		return u, gvk, runtime.NewStrictDecodingError(found)
	}
	return u, gvk, nil
}

// decodeByDelegate decodes a document that is not known to be an object of a resource. refusal says
// why, or is nil.
func (s *Serializer) decodeByDelegate(
	data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object, refusal error,
) (obj runtime.Object, gvk *runtimeschema.GroupVersionKind, err error) {
	panicked := guard(func() { obj, gvk, err = s.delegate.Decode(data, defaults, into) })
	if !panicked && (err == nil || runtime.IsStrictDecodingError(err)) {
		return obj, gvk, err
	}
	if refusal == nil {
		if _, refusal = s.peek(data); refusal == nil {
			refusal = err
		}
	}
	switch {
	case !panicked:
		return nil, gvk, newError(err, refusal)
	case refusal == nil:
		refusal = errPanicked
	}
	return nil, nil, refusal
}

// serverError returns the server's error for a document that is refused, or refusal if the server
// has none.
func (s *Serializer) serverError(
	data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object, refusal error,
) error {
	if isLimit(refusal) {
		return refusal
	}
	if err := refusalBy(s.delegate, data, defaults, into); err != nil {
		return newError(err, refusal)
	}
	return refusal
}

// refusalBy returns the error with which a decoder of the server refuses a document, or nil if it
// accepts the document or panics.
func refusalBy(
	d runtime.Decoder, data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object,
) (err error) {
	panicked := guard(func() { _, _, err = d.Decode(data, defaults, into) })
	if panicked || runtime.IsStrictDecodingError(err) {
		return nil
	}
	return err
}

// typeOf returns the type of a document for a typed object. Missing parts come from defaults and
// into.
func (s *Serializer) typeOf(
	data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object,
) (*runtimeschema.GroupVersionKind, error) {
	gvk, err := s.peek(data)
	if err != nil {
		return nil, err
	}
	complete(gvk, defaults)
	if into != nil {
		types, _, err := s.typer.ObjectKinds(into)
		if err != nil {
			return nil, err
		}
		complete(gvk, &types[0])
	}
	return gvk, nil
}

// peek reads kind and apiVersion as the API server reads them the first time, without regard to
// case.
func (s *Serializer) peek(data []byte) (gvk *runtimeschema.GroupVersionKind, err error) {
	js := data
	if s.yaml {
		reader := yamlbridge.Reader{Dialect: yamlbridge.Server}
		if js, err = reader.AppendJSON(nil, data); err != nil {
			return nil, err
		}
	}
	apiVersion, kind, refusal := decoder.PeekType(js)
	if refusal == nil && !mayFoldType(js) {
		gv, err := runtimeschema.ParseGroupVersion(apiVersion)
		if gvk := gv.WithKind(kind); err == nil && s.resourceFor(gvk.GroupKind()) != nil {
			return &gvk, nil
		}
	}
	if s.yaml { // of two spellings of a name the last one wins, in the order of the server's map
		if panicked := guard(func() { js, err = yaml.YAMLToJSON(data) }); panicked || err != nil {
			return nil, cmp.Or(err, errPanicked)
		}
	}
	gvk, err = json.DefaultMetaFactory.Interpret(js)
	if err != nil && refusal != nil {
		err = refusal // ours has the position
	}
	return gvk, err
}

// mayFoldType reports whether there may be a name that is kind or apiVersion in another case, which
// the API server takes for these where it reads the type.
func mayFoldType(js []byte) bool {
	if bytes.IndexByte(js, '\\') >= 0 || bytes.Contains(js, []byte("\u212a")) || bytes.Contains(js, []byte("\u017f")) {
		return true // an escape, or a character that folds to k or s
	}
	for _, name := range []string{"kind", "apiVersion"} {
		for i := range len(js) - len(name) {
			at := js[i : i+len(name)]
			if (at[0]^name[0])&^0x20 == 0 && string(at) != name && strings.EqualFold(string(at), name) {
				return true
			}
		}
	}
	return false
}

// complete adds the missing parts of a type: gvkWithDefaults of the JSON serializer.
func complete(gvk, defaults *runtimeschema.GroupVersionKind) {
	if defaults == nil {
		return
	}
	if gvk.Kind == "" {
		gvk.Kind = defaults.Kind
	}
	if gvk.Version == "" && gvk.Group == "" {
		gvk.Group, gvk.Version = defaults.Group, defaults.Version
	}
	if gvk.Version == "" && gvk.Group == defaults.Group {
		gvk.Version = defaults.Version
	}
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the capacity up to which a buffer is kept.
const maxBuffer = 1 << 20

func takeBuffer() *[]byte { return buffers.Get().(*[]byte) }

func giveBuffer(b *[]byte) {
	if cap(*b) <= maxBuffer {
		buffers.Put(b)
	}
}

// decodeTyped decodes a document by the schema of the version, and then into a Go type as the API
// server does.
func (v *version) decodeTyped(
	data []byte, obj runtime.Object, how reading,
) (strict []error, err error) {
	d := v.typedRequests.GetFor(how.validation())
	defer v.typedRequests.Put(d)
	buffer := takeBuffer()
	defer giveBuffer(buffer)
	if how.yaml {
		*buffer, err = d.AppendYAML((*buffer)[:0], data)
	} else {
		*buffer, err = d.AppendJSON((*buffer)[:0], data)
	}
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(*buffer, obj)
	}
	if err != nil {
		return nil, err
	}
	return strictErrors(d), nil
}
