package kube

import (
	stdjson "encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
)

// NOTE: the API server never decodes a list that somebody sends. The serializer of
// k8s.io/apimachinery decodes lists for clients, and knows no schemas. Here items of the resources
// are decoded as if each had been sent by itself, from the JSON of the parsed item: a list is
// parsed as a whole before it is known what its items are.

// decodeList decodes documents that are not single objects: lists, whose items are pruned, and raw
// data.
func (s *Serializer) decodeList(
	data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	obj, gvk, err := s.decodeByDelegate(data, defaults, into, nil)
	list, ok := obj.(*unstructured.UnstructuredList)
	if !ok {
		return obj, gvk, err
	}
	var p itemPruner
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		p.found = strict.Errors()
	}
	for i := range list.Items {
		object, err := s.pruneItem(&p, i, list.Items[i].Object, *gvk)
		if err != nil {
			return nil, gvk, err
		}
		list.Items[i].Object = object
	}
	return list, gvk, p.strictError(s.strict)
}

// pruneItems prunes the items of an object that is a list by its kind.
func (s *Serializer) pruneItems(
	list map[string]any, gvk *runtimeschema.GroupVersionKind, found []error,
) ([]error, error) {
	items, isList := list["items"].([]any)
	if !isList || !strings.HasSuffix(gvk.Kind, "List") {
		return found, nil
	}
	p := itemPruner{found: found}
	for i := range items {
		object, ok := items[i].(map[string]any)
		if !ok {
			continue
		}
		pruned, err := s.pruneItem(&p, i, object, *gvk)
		if err != nil {
			return nil, err
		}
		items[i] = pruned
	}
	return p.list(), nil
}

// An itemPruner collects the findings in the items of one list.
type itemPruner struct {
	found   []error
	own     int // of these, in items
	omitted omitted
}

// add adds the findings in an item. All items together keep no more than one object would.
func (p *itemPruner) add(i int, strict []error, most int) {
	for _, err := range strict {
		f, ok := err.(*ferrors.Finding)
		switch n, _ := err.(omitted); {
		case !ok:
			p.omitted += n
		case p.own == most:
			p.omitted++
		default:
			found := f.WithPrefix(ferrors.Path{}.Child("items").Element(i))
			// In a text that nobody has.
			found.Position, found.First = ferrors.Position{}, ferrors.Position{}
			p.found = append(p.found, &found)
			p.own++
		}
	}
}

func (p *itemPruner) list() []error {
	if p.omitted > 0 {
		return append(p.found, p.omitted)
	}
	return p.found
}

func (p *itemPruner) strictError(strict bool) error {
	if list := p.list(); strict && len(list) > 0 {
		return runtime.NewStrictDecodingError(list)
	}
	return nil
}

// pruneItem returns an item of a list as it is decoded by itself, if it is of a resource. An item
// without a type is of the type of the list, as in unstructured.UnstructuredList, and is given
// none.
func (s *Serializer) pruneItem(
	p *itemPruner, i int, object map[string]any, list runtimeschema.GroupVersionKind,
) (map[string]any, error) {
	item := unstructured.Unstructured{Object: object}
	gvk := item.GroupVersionKind()
	untyped := item.GetKind() == "" && item.GetAPIVersion() == ""
	if untyped {
		gvk = list.GroupVersion().WithKind(strings.TrimSuffix(list.Kind, "List"))
	}
	r := s.resourceFor(gvk.GroupKind())
	if r == nil {
		return object, nil
	}
	if untyped {
		item.SetGroupVersionKind(gvk)
	}
	text, err := stdjson.Marshal(withFloats(object))
	if err != nil {
		return nil, err
	}
	pruned, _, strict, err := r.decode(text, &gvk, reading{strict: s.strict, item: true})
	if err != nil {
		return nil, fmt.Errorf("items[%d]: %w", i, err)
	}
	if untyped {
		delete(pruned, "kind")
		delete(pruned, "apiVersion")
	}
	p.add(i, strict, r.mostFindings())
	return pruned, nil
}

// mostFindings returns how many findings of one document are kept.
func (r *Resource) mostFindings() int {
	if r.limits.Findings > 0 {
		return r.limits.Findings
	}
	return decoder.DefaultFindings
}
