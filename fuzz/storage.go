package fuzz

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// DecodeStored does what the server does to an object that it reads from its storage, in the
// version that was stored (section 10, E): it is the codec that crdConversionRESTOptionsGetter
// composes.
func (s *Server) DecodeStored(body []byte) (*Answer, error) {
	u := &unstructured.Unstructured{}
	if _, _, err := unstructured.UnstructuredJSONScheme.Decode(body, nil, u); err != nil {
		if runtime.IsMissingKind(err) {
			return nil, &StageError{Kind, err}
		}
		return nil, &StageError{Parse, err}
	}
	matches, err := s.apply(u, new(Answer), coercer{dropInvalid: true, repairGeneration: true})
	if err != nil {
		return nil, err
	}
	if matches {
		if err := s.insertDefaults(u.Object); err != nil {
			return nil, err
		}
	}
	// The converter coerces the object that it returns, even if there is nothing to convert, and as
	// for requests; of an object of another kind both coerce the metadata.
	if _, err := s.apply(u, new(Answer), coercer{}); err != nil {
		return nil, err
	}
	return &Answer{Object: u.Object}, nil
}
