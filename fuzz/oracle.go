package fuzz

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	kjson "sigs.k8s.io/json"
)

// A Stage is a step of the server's decoder, in its order.
type Stage uint8

// The stages. A document that fails in one does not reach the next.
const (
	Accepted Stage = iota
	Capped         // the oracle refuses, and the server would not
	YAML           // converting to JSON
	Sniff          // reading kind and apiVersion, by encoding/json
	Parse          // reading the object, by sigs.k8s.io/json
	Kind           // kind must not be empty
	TypeMeta       // kind and apiVersion must be strings
	RootMetadata
	GroupVersion // apiVersion must be valid
	EmbeddedMetadata
	Panic // of the server
)

var stageNames = [...]string{"accepted", "capped", "YAML", "sniff", "parse", "kind", "type meta", "root metadata", "group version", "embedded metadata", "panic"}

func (s Stage) String() string { return stageNames[s] }

// A StageError says why a document is refused as a whole.
type StageError struct {
	Stage Stage
	Err   error
}

func (e *StageError) Error() string { return e.Stage.String() + ": " + e.Err.Error() }
func (e *StageError) Unwrap() error { return e.Err }

// The limits of the oracle. In the server, inserting defaults takes unbounded time and memory, and
// tests must not.
const (
	maxDocumentBytes = 3 << 20 // as in the server
	maxDefaultBytes  = 32 << 20
)

// A Server decodes the bodies of requests for one version of one kind.
type Server struct {
	// AnyType accepts any kind and apiVersion, or none, and uses the schema for all objects, as a
	// decoder does that was given one schema. Kind and apiVersion must still be strings.
	AnyType bool
	// AnyKind is weaker: there must be a kind, and a valid or empty apiVersion, and the schema is
	// used for all objects.
	AnyKind bool

	// PreserveUnknownFields is set by Preserve.
	PreserveUnknownFields bool

	unpruned *structural.Structural
	schema   *structural.Structural
	version  schema.GroupVersion
	kind     string
	costs    *costs
}

// An Answer is the server's result for a document.
type Answer struct {
	Object map[string]any
	// Duplicates are the paths of repeated names, in the order of the document.
	Duplicates []string
	// YAML is the strict error of the YAML reader, which reports repeated names with their lines.
	YAML string
	// The paths of unknown fields. Each group is in the server's order.
	UnknownInMetadata, Unknown, UnknownInEmbedded []string
}

// Strict returns the entries of the server's strict decoding error (6.2).
func (a *Answer) Strict() []string {
	var list []string
	if a.YAML != "" {
		list = append(list, a.YAML)
	}
	for _, path := range a.Duplicates {
		list = append(list, "duplicate field "+strconv.Quote(path))
	}
	for _, group := range [][]string{a.UnknownInMetadata, a.Unknown, a.UnknownInEmbedded} {
		for _, path := range group {
			list = append(list, `unknown field "`+path+`"`)
		}
	}
	return list
}

// ToStructural reads a schema, in JSON, as the server reads the schema of a stored definition. Its
// defaults are not pruned yet.
func ToStructural(openAPIV3Schema []byte) (*structural.Structural, error) {
	internal, err := toInternal(openAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return structural.NewStructural(internal)
}

func toInternal(openAPIV3Schema []byte) (*apiextensions.JSONSchemaProps, error) {
	var v1 apiextensionsv1.JSONSchemaProps
	if err := kjson.UnmarshalCaseSensitivePreserveInts(openAPIV3Schema, &v1); err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil)
	return &internal, err
}

// toStored is toInternal for a definition that the server has stored, and read again.
func toStored(openAPIV3Schema []byte) (*apiextensions.JSONSchemaProps, error) {
	internal, err := toInternal(openAPIV3Schema)
	if err != nil {
		return nil, err
	}
	var v1 apiextensionsv1.JSONSchemaProps
	if err := apiextensionsv1.Convert_apiextensions_JSONSchemaProps_To_v1_JSONSchemaProps(internal, &v1, nil); err != nil {
		return nil, err
	}
	stored, err := stdjson.Marshal(v1)
	if err != nil {
		return nil, err
	}
	return toInternal(stored)
}

// NewServer returns a server for a schema in JSON, prepared as by getOrCreateServingInfoFor.
func NewServer(openAPIV3Schema []byte, version schema.GroupVersion, kind string) (*Server, error) {
	s, err := ToStructural(openAPIV3Schema)
	if err != nil {
		return nil, err
	}
	unpruned := s
	s = s.DeepCopy()
	if err := defaulting.PruneDefaults(s); err != nil {
		return nil, err
	}
	return &Server{unpruned: unpruned, schema: s, version: version, kind: kind, costs: costsOf(s)}, nil
}

// Preserve sets spec.preserveUnknownFields, which a definition that was made in v1beta1 can still
// have. Nothing is pruned then, and neither are defaults.
func (s *Server) Preserve() {
	s.PreserveUnknownFields, s.schema, s.costs = true, s.unpruned, costsOf(s.unpruned)
}

// Decode does what the server does between the body of a request and
// admission (section 10, R).
func (s *Server) Decode(body []byte) (*Answer, error) {
	return s.decode(body, body)
}

// decode decodes the JSON of the body.
func (s *Server) decode(js, body []byte) (*Answer, error) {
	a, matches, err := s.coerce(js, body)
	if err != nil || !matches {
		return a, err
	}
	if err := s.insertDefaults(a.Object); err != nil {
		return nil, err
	}
	return a, nil
}

func (s *Server) insertDefaults(object map[string]any) error {
	if n := s.costs.inserted(object); n > maxDefaultBytes {
		return &StageError{Capped, fmt.Errorf("defaults of %d bytes", n)}
	}
	defaulting.Default(object, s.schema)
	return nil
}

// coerce is the decoder without defaulting, which the versioning codec around it does: Decode of
// the JSON serializer, followed by Decode of schemaCoercingDecoder.
func (s *Server) coerce(js, body []byte) (a *Answer, matches bool, err error) {
	if len(body) > maxDocumentBytes {
		return nil, false, &StageError{Capped, fmt.Errorf("%d bytes", len(body))}
	}
	if _, err := json.DefaultMetaFactory.Interpret(js); err != nil {
		// The only other error is about the apiVersion.
		if !s.AnyType || strings.HasPrefix(err.Error(), "couldn't get version/kind") {
			return nil, false, &StageError{Sniff, err}
		}
	}
	u := &unstructured.Unstructured{}
	m := map[string]any{}
	strict, err := kjson.UnmarshalStrict(js, &m)
	if err != nil {
		return nil, false, &StageError{Parse, err}
	}
	u.SetUnstructuredContent(m)
	if m == nil { // null: the server finds no kind in it
		return nil, false, &StageError{Kind, runtime.NewMissingKindErr(string(body))}
	}
	if u.GetKind() == "" && !s.AnyType {
		return nil, false, &StageError{Kind, runtime.NewMissingKindErr(string(body))}
	}
	a = new(Answer)
	for _, err := range strict {
		var field kjson.FieldError
		if !errors.As(err, &field) {
			return nil, false, &StageError{Parse, err}
		}
		a.Duplicates = append(a.Duplicates, field.FieldPath())
	}
	matches, err = s.apply(u, a, coercer{track: true})
	if err != nil {
		return nil, false, err
	}
	a.Object = u.Object
	return a, matches, nil
}

// A coercer has the differences between the uses of unstructuredSchemaCoercer.
type coercer struct {
	track                         bool // unknown fields
	dropInvalid, repairGeneration bool // for stored objects
}

// apply is unstructuredSchemaCoercer.apply. It reports whether the object is of the server's kind.
func (s *Server) apply(u *unstructured.Unstructured, a *Answer, c coercer) (bool, error) {
	kind, foundKind, err := unstructured.NestedString(u.UnstructuredContent(), "kind")
	if err != nil {
		return false, &StageError{TypeMeta, err}
	}
	apiVersion, foundAPIVersion, err := unstructured.NestedString(u.UnstructuredContent(), "apiVersion")
	if err != nil {
		return false, &StageError{TypeMeta, err}
	}
	meta, foundMeta, unknown, err := objectmeta.GetObjectMetaWithOptions(u.Object,
		objectmeta.ObjectMetaOptions{DropMalformedFields: c.dropInvalid, ReturnUnknownFieldPaths: c.track})
	if err != nil {
		return false, &StageError{RootMetadata, err}
	}
	a.UnknownInMetadata = unknown
	version, err := schema.ParseGroupVersion(apiVersion)
	if err != nil && !s.AnyType {
		return false, &StageError{GroupVersion, err}
	}
	matches := s.AnyType || s.AnyKind || version.Group == s.version.Group && kind == s.kind
	if matches {
		governing := s.schema
		if !s.AnyType && !s.AnyKind && version.Version != s.version.Version {
			governing = nil
		}
		if !s.PreserveUnknownFields {
			a.Unknown = pruning.PruneWithOptions(u.Object, governing, true,
				structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: c.track})
			defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, governing)
		}
		fault, paths := objectmeta.CoerceWithOptions(nil, u.Object, governing, false,
			objectmeta.CoerceOptions{DropInvalidFields: c.dropInvalid, ReturnUnknownFieldPaths: c.track})
		if fault != nil {
			return false, &StageError{EmbeddedMetadata, fault}
		}
		a.UnknownInEmbedded = paths
		if c.repairGeneration && meta == nil {
			return false, &StageError{Panic, errors.New("nil pointer dereference")}
		}
		if c.repairGeneration && meta.Generation == 0 {
			meta.Generation = 1
		}
		matches = governing != nil
	}
	if foundKind {
		u.SetKind(kind)
	}
	if foundAPIVersion {
		u.SetAPIVersion(apiVersion)
	}
	if foundMeta {
		if err := objectmeta.SetObjectMeta(u.Object, meta); err != nil {
			return false, &StageError{RootMetadata, err}
		}
	}
	return matches, nil
}
