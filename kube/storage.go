package kube

// NOTE: an object that is stored in the version that is asked for takes one walk. One of another
// version takes two, if the definition's strategy for conversion is None: the first by the stored
// version's schema, from the stored bytes to bytes, and the second over these, by the schema of the
// version that is asked for. Where a converter is called, it gets what the first walk makes, and the
// server's code prunes its result. Everything else is left to the server's code (staged.go): what is
// not JSON, other groups and kinds, versions that do not exist, and what is refused.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/recognizer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
)

// A StorageDecoder decodes unstructured objects that the API server has stored,
// as the server decodes them. It drops members of metadata that cannot be read
// instead of refusing them, inserts the defaults of the stored version, and
// converts objects of other versions.
//
// The server stores JSON or, with the feature CBORServingAndStorage, CBOR
// (KEP-4222). The decoder reads both, whether the feature is on or not. What is
// not JSON is decoded by the server's packages, at their speed.
type StorageDecoder struct {
	resource *Resource
	version  string
	renames  bool // conversion changes nothing but apiVersion
	// converter converts as the server does: its results are pruned. staged decodes all objects, with
	// the server's packages.
	converter runtime.ObjectConvertor
	staged    runtime.Decoder
	// last is the version in which the last object was stored.
	last atomic.Pointer[version]
}

var _ recognizer.RecognizingDecoder = (*StorageDecoder)(nil)

// StorageDecoder returns a decoder to a version of the resource. Objects that
// are stored in another group or version, or in a version that the resource
// does not have, are passed to the converter, and its result is pruned by the
// schema of its version. The API server's converter refuses other groups, and
// versions that do not exist.
//
// With the conversion strategy None (see [ConversionStrategy]) converter may be
// nil, and is not called where both versions have schemas. If the strategy is
// another one, or not known, there is an error for such objects if converter is
// nil.
//
// It panics if the resource was not made by [NewResource] or [ForCRD].
func (r *Resource) StorageDecoder(
	version string, converter runtime.ObjectConvertor,
) *StorageDecoder {
	if err := r.check(); err != nil {
		panic(err)
	}
	d := &StorageDecoder{
		resource: r, version: version, renames: r.strategy == apiextensionsv1.NoneConverter,
	}
	switch {
	case converter != nil:
	case d.renames:
		converter = renaming{r}
	default:
		converter = noConverter{}
	}
	d.converter = coercingConverter{converter, r}
	d.staged = r.stagedStorage(version, d.converter)
	expected := d.expected()
	d.last.Store(r.guess(&expected))
	return d
}

// RecognizesData recognizes data that starts like a JSON object or like CBOR as
// the API server stores it, and reports that all other data is unknown. The
// decoder can therefore be used with others in a recognizer, where it decodes
// the data that none of them recognizes.
func (d *StorageDecoder) RecognizesData(data []byte) (ok, unknown bool, err error) {
	ok = utilyaml.IsJSONBuffer(data) || isCBOR(data)
	return ok, !ok, nil
}

// expected returns the type of the objects that are decoded to.
func (d *StorageDecoder) expected() runtimeschema.GroupVersionKind {
	return d.resource.groupKind.WithVersion(d.version)
}

// Decode decodes an object and ignores the defaults. into is nil or a
// *unstructured.Unstructured, which is overwritten. If into has an apiVersion,
// the object is converted to that. If into is nil and the object has a member
// items, the result is a *unstructured.UnstructuredList, as in the server. The
// returned type is the one that was stored.
//
// Unlike the API server, it decodes objects without metadata, and converts to
// the decoder's version even if into has no apiVersion.
func (d *StorageDecoder) Decode(
	data []byte, _ *runtimeschema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	u, ok := into.(*unstructured.Unstructured)
	if !ok && into != nil {
		return nil, nil, fmt.Errorf("kube: a StorageDecoder decodes into *unstructured.Unstructured, not %T", into)
	}
	if err := d.resource.check(); err != nil {
		return nil, nil, err
	}
	target := d.expected().GroupVersion()
	if u != nil {
		if wanted := u.GroupVersionKind().GroupVersion(); !wanted.Empty() {
			target = wanted
		}
	}
	if !utilyaml.IsJSONBuffer(data) || u == nil && isList(data) {
		return d.decodeStaged(data, u, target, nil, nil)
	}
	object, gvk, by, refusal := d.decodeFast(data, target)
	if object == nil {
		return d.decodeStaged(data, u, target, by, refusal)
	}
	by.typ.detach(object)
	if gvk.GroupVersion() != target {
		var err error
		if object, err = d.convert(object, target); err != nil {
			return nil, gvk, err
		}
	}
	if u == nil {
		u = new(unstructured.Unstructured)
	}
	u.Object = object
	return u, gvk, nil
}

// convert converts an object to a version. With the strategy None it is pruned by the schema of
// that version already.
func (d *StorageDecoder) convert(
	object map[string]any, target runtimeschema.GroupVersion,
) (map[string]any, error) {
	if d.renames {
		object["apiVersion"] = d.resource.versions[target.Version].typ.apiVersion
		return object, nil
	}
	out, err := d.converter.ConvertToVersion(&unstructured.Unstructured{Object: object}, target)
	if err != nil {
		return nil, err
	}
	converted, ok := out.(*unstructured.Unstructured)
	if !ok {
		return nil, errNotAnObject(out)
	}
	return converted.Object, nil
}

// isList reports whether an object has a member items. The server then decodes it to a list, if it
// is not told otherwise.
func isList(data []byte) bool {
	if !bytes.Contains(data, []byte(`"items"`)) && bytes.IndexByte(data, '\\') < 0 {
		return false
	}
	var members struct {
		Items json.RawMessage `json:"items"`
	}
	return json.Unmarshal(data, &members) != nil || members.Items != nil
}

// decodeFast decodes an object that is stored in a version of the resource, for another or the same
// one. It converts nothing. If it returns no object, there may be a reason to refuse the document,
// with the version that has it.
func (d *StorageDecoder) decodeFast(
	data []byte, target runtimeschema.GroupVersion,
) (object map[string]any, gvk *runtimeschema.GroupVersionKind, by *version, refusal error) {
	r := d.resource
	to := r.versions[target.Version]
	if to == nil || target.Group != r.groupKind.Group {
		return nil, nil, nil, nil
	}
	from := d.last.Load()
	for range 2 {
		if from != to && r.preserve {
			break // a compiled program prunes the metadata in defaults, which the server does not then
		}
		if object, refusal = d.decodeStored(data, from, to); refusal != nil {
			stored := from
			if isLimit(refusal) { // the version of the object may need less than the one that was guessed
				stored = r.storedIn(data)
			}
			if stored == from || stored == nil {
				return nil, nil, from, refusal
			}
			from = stored
			continue
		}
		gvk = typeOf(object)
		stored := r.versions[gvk.Version]
		if stored == nil || gvk.GroupKind() != r.groupKind {
			break
		}
		if stored == from {
			return object, gvk, from, nil
		}
		d.last.Store(stored)
		from = stored
	}
	return nil, nil, nil, nil
}

// storedIn returns the version in which an object of the resource is stored, or nil.
func (r *Resource) storedIn(data []byte) *version {
	apiVersion, kind, err := decoder.PeekType(data)
	gvk := runtimeschema.FromAPIVersionAndKind(apiVersion, kind)
	if err != nil || gvk.GroupKind() != r.groupKind {
		return nil
	}
	return r.versions[gvk.Version]
}

// decodeStored decodes an object that is stored in one version. If another one is asked for, and
// conversion changes nothing but apiVersion, it prunes it by the schema of that, too. Its apiVersion
// stays.
func (d *StorageDecoder) decodeStored(data []byte, from, to *version) (map[string]any, error) {
	switch {
	case from == to:
		return unmarshal(from.stored, data)
	case !d.renames:
		return unmarshal(from.unconverted, data)
	}
	first := from.unconverted.Get()
	defer from.unconverted.Put(first)
	buffer := takeBuffer()
	defer giveBuffer(buffer)
	var err error
	if *buffer, err = first.AppendJSON((*buffer)[:0], data); err != nil {
		return nil, err
	}
	object, err := unmarshal(to.converted, *buffer)
	return object, withoutPosition(err)
}

// unmarshal decodes an object with a decoder of a pool.
func unmarshal(p *decoder.Pool, data []byte) (object map[string]any, err error) {
	d := p.Get()
	defer p.Put(d)
	err = d.Unmarshal(data, &object)
	return object, err
}

// withoutPosition returns an error about a text that nobody has, without its positions.
func withoutPosition(err error) error {
	switch e := err.(type) {
	case *ferrors.ObjectError:
		e.Position = ferrors.Position{}
	case *ferrors.TypeError:
		for i := range e.Findings {
			e.Findings[i].Position, e.Findings[i].First = ferrors.Position{}, ferrors.Position{}
		}
	}
	return err
}

// decodeStaged decodes with the server's packages. refusal is why the document was refused by a
// version, or nil. Of an object of another version the server may accept it: what is malformed in
// an embedded resource does not matter where the other version has none.
func (d *StorageDecoder) decodeStaged(
	data []byte, u *unstructured.Unstructured, target runtimeschema.GroupVersion, by *version,
	refusal error,
) (obj runtime.Object, gvk *runtimeschema.GroupVersionKind, err error) {
	if isLimit(refusal) {
		return nil, nil, refusal
	}
	var into runtime.Object
	if u != nil {
		if u.GroupVersionKind().GroupVersion().Empty() {
			u.SetGroupVersionKind(target.WithKind(d.resource.groupKind.Kind))
		}
		into = u
	}
	if panicked := guard(func() { obj, gvk, err = d.staged.Decode(data, nil, into) }); panicked {
		return nil, nil, cmp.Or(refusal, errPanicked)
	}
	var stored *version
	if gvk != nil && gvk.GroupKind() == d.resource.groupKind {
		stored = d.resource.versions[gvk.Version]
	}
	switch {
	case err != nil && refusal != nil:
		return nil, gvk, newError(err, refusal)
	case err != nil:
		return nil, gvk, err
	case refusal != nil && stored == by && gvk.GroupVersion() == target:
		return nil, gvk, refusal // it is for this library alone
	case stored != nil:
		d.last.Store(stored)
	}
	return obj, gvk, nil
}
