package fuzz

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"
)

// A Sort is the sort of a fault for which a document is refused.
type Sort string

// The sorts of faults.
const (
	SyntaxFault       Sort = "syntax"
	DepthFault        Sort = "depth of nesting"
	RangeFault        Sort = "number out of range"
	NoObjectFault     Sort = "no object"
	NoKindFault       Sort = "no kind"
	TypeMetaFault     Sort = "kind or apiVersion is no string"
	GroupVersionFault Sort = "apiVersion is none"
	MetadataFault     Sort = "metadata"
	EmbeddedFault     Sort = "embedded resource"
)

// A Fault is a reason for which the server refuses a document. Its place is an offset, or a name
// that the server reports, depending on the sort.
type Fault struct {
	Sort Sort
	// Offset is, for syntax and depth, the offset of the unexpected byte, or the length of the
	// document. For numbers it is the end of the number.
	Offset int
	// Field is the member of the root or of its metadata, or a path within an embedded resource, in
	// the server's spelling.
	Field string
	// Text is the server's error, without the text about the place.
	Text string
}

// Faults returns all faults for which a document would be refused if the server did not stop at the
// first: those that each stage of Decode, or of DecodeStored, finds. They are in the order in which
// the server would find them. Of faulty embedded resources it has a random one, like the server.
func (s *Server) Faults(body []byte, stored bool) (list []Fault) {
	if f, ok := syntaxFault(body); ok {
		return []Fault{f}
	}
	add := func(sort Sort, member string, err error) {
		if err != nil {
			list = append(list, Fault{Sort: sort, Field: member, Text: err.Error()})
		}
	}
	if !stored {
		s.sniff(body, add)
	}
	var object map[string]any
	var mismatch *json.UnmarshalTypeError
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &object); errors.As(err, &mismatch) {
		if text, isNumber := strings.CutPrefix(mismatch.Value, "number "); isNumber {
			return append(list, Fault{Sort: RangeFault, Offset: int(mismatch.Offset) - 1, Text: text})
		}
		add(NoObjectFault, "", err)
		return list
	}
	u := &unstructured.Unstructured{Object: object}
	if u.GetKind() == "" && !s.AnyType {
		add(NoKindFault, "", errors.New("the object has no kind"))
	}
	if object == nil { // of null the server says no more
		add(NoObjectFault, "", errors.New("null"))
		return list
	}
	for _, name := range []string{"kind", "apiVersion"} {
		text, _, err := unstructured.NestedString(object, name)
		add(TypeMetaFault, name, err)
		if name == "apiVersion" && !s.AnyType {
			_, err := schema.ParseGroupVersion(text)
			add(GroupVersionFault, text, err)
		}
	}
	err := readMetadata(object, stored)
	add(MetadataFault, metadataMember(err), err)
	if !s.PreserveUnknownFields {
		pruning.Prune(object, s.schema, true)
		defaulting.PruneNonNullableNullsWithoutDefaults(object, s.schema)
	}
	s.embedded(object, stored, add)
	return list
}

// readMetadata returns why the server cannot read metadata. It reads that of a stored object twice.
func readMetadata(object map[string]any, stored bool) error {
	meta, found, err := objectmeta.GetObjectMeta(object, stored)
	if err == nil && found && stored {
		again := make(map[string]any)
		if err = objectmeta.SetObjectMeta(again, meta); err == nil {
			_, _, err = objectmeta.GetObjectMeta(again, false)
		}
	}
	return err
}

// syntaxFault returns the fault of a text that is not JSON.
func syntaxFault(body []byte) (f Fault, ok bool) {
	if json.Valid(body) {
		return f, false
	}
	// A byte that is never expected distinguishes the end of a document from its last byte.
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if !errors.As(json.Unmarshal(append(slices.Clip(body), 1), &raw), &syntax) {
		panic("two opinions")
	}
	f = Fault{Sort: SyntaxFault, Offset: int(syntax.Offset) - 1, Text: syntax.Error()}
	if strings.HasSuffix(f.Text, "exceeded max depth") {
		f.Sort = DepthFault
	}
	return f, true
}

// sniff returns the fault in reading the type, by encoding/json.
func (s *Server) sniff(body []byte, add func(Sort, string, error)) {
	var sniffed struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(body, &sniffed); errors.As(err, &mismatch) {
		if mismatch.Field == "" {
			add(NoObjectFault, "", err)
		} else {
			add(TypeMetaFault, mismatch.Field, err)
		}
	}
	if _, err := schema.ParseGroupVersion(sniffed.APIVersion); err != nil && !s.AnyType {
		add(GroupVersionFault, sniffed.APIVersion, err)
	}
}

// embedded returns the fault in coercing embedded resources. For stored objects it also looks after
// defaulting, as the second pass does. Of a fault of the document and one of a default, that pass
// finds either: here it is the former.
func (s *Server) embedded(object map[string]any, stored bool, add func(Sort, string, error)) {
	delete(object, "metadata")
	fault := objectmeta.Coerce(nil, object, s.schema, false, stored)
	if stored && fault == nil {
		fault = objectmeta.Coerce(nil, object, s.schema, false, false)
	}
	if stored && fault == nil && s.costs.inserted(object) < maxDefaultBytes {
		defaulting.Default(object, s.schema)
		fault = objectmeta.Coerce(nil, object, s.schema, false, false)
	}
	if fault != nil {
		add(EmbeddedFault, fault.Field, errors.New(fault.Detail))
	}
}

// metadataMember returns the member of metadata that an error names. Errors about times name none.
func metadataMember(err error) string {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return ""
	}
	member, _, _ := strings.Cut(mismatch.Field, ".")
	return member
}
