package kube

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// NOTE: the API server never decodes a list that somebody sends. The serializer of
// k8s.io/apimachinery decodes lists for clients, and knows no schemas. Here items of the resources
// are decoded as if each had been sent by itself. In JSON that are those of its bytes. In YAML, and
// where anything about a list is unusual, the serializer parses it as a whole, and items are
// decoded from the JSON of what it has parsed.

// decodeList decodes documents that are not single objects: lists, whose items are pruned, and raw
// data.
func (s *Serializer) decodeList(
	data []byte, defaults *runtimeschema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *runtimeschema.GroupVersionKind, error) {
	if to, ok := into.(*unstructured.UnstructuredList); ok && !s.yaml {
		if gvk, err, ok := s.decodeItems(data, to); ok {
			return to, gvk, err
		}
	}
	return s.decodeParsed(data, defaults, into)
}

// decodeParsed is decodeList by way of the serializer of k8s.io/apimachinery.
func (s *Serializer) decodeParsed(
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
	if _, has := list.Object["items"]; has { // under strict validation; see SetUnstructuredContent
		list.SetUnstructuredContent(list.UnstructuredContent())
	}
	return list, gvk, p.strictError(s.strict)
}

// decodeItems decodes a list of objects of the resources from its bytes. It reports whether it did:
// not if there is anything about which the serializer of k8s.io/apimachinery has rules of its own,
// such as names that repeat, items without a type or of great depth, or malformed JSON.
func (s *Serializer) decodeItems(
	data []byte, to *unstructured.UnstructuredList,
) (_ *runtimeschema.GroupVersionKind, _ error, ok bool) {
	var (
		p     itemPruner
		items []any
		// What is around the items is before from and from end on.
		from, end = len(data), len(data)
	)
	list := decoder.NewListSequence(bytes.NewReader(data), schema.NewCatalog().Lookup)
	for err := range list.All() {
		if err != nil {
			return nil, nil, false
		}
		from = min(from, int(list.Position().Offset))
		end = int(list.Position().Offset) + len(list.Raw())
		object := s.decodeItem(&p, len(items), list)
		if object == nil {
			return nil, nil, false
		}
		items = append(items, object)
	}
	if len(items) == 0 {
		return nil, nil, false
	}
	content := decodeEnvelope(append(slices.Clip(data[:from]), data[end:]...))
	gvk := typeOf(content)
	if gvk.Kind == "" || gvk.GroupVersion().String() != content["apiVersion"] {
		return nil, nil, false
	}
	if s.strict {
		content["items"] = items
		to.SetUnstructuredContent(content)
	} else {
		delete(content, "items")
		to.Object, to.Items = content, make([]unstructured.Unstructured, len(items))
		for i := range items {
			to.Items[i].Object = items[i].(map[string]any)
		}
	}
	return gvk, p.strictError(s.strict), true
}

// decodeEnvelope decodes what is around the items of a list. If anything is unusual, the result is
// nil: a type that the serializer may take from members in another case, or names that repeat.
func decodeEnvelope(text []byte) (content map[string]any) {
	d := anyObject().GetFor(decoder.Warn)
	defer anyObject().Put(d)
	if err := d.Unmarshal(text, &content); err != nil || len(d.Findings()) > 0 || mayFoldType(text) {
		return nil
	}
	for _, name := range []string{"kind", "apiVersion"} {
		if _, isString := content[name].(string); !isString {
			return nil
		}
	}
	return content
}

// mostOpen is how many objects and arrays an item may have in all, so that the depth of its list is
// certainly within the server's limit of 10 000.
const mostOpen = 9_000

// mayBeDeep reports whether an item may be nested so deeply that the server refuses its list.
func mayBeDeep(item []byte) bool {
	return bytes.Count(item, []byte("{"))+bytes.Count(item, []byte("[")) > mostOpen
}

// decodeItem decodes the item of a list at which the sequence is, or returns nil.
func (s *Serializer) decodeItem(p *itemPruner, i int, list *decoder.Sequence) map[string]any {
	if mayBeDeep(list.Raw()) {
		return nil
	}
	how := reading{strict: s.strict, item: true, origin: list.Position()}
	if p.last == nil {
		p.last = s.resources[0]
	}
	object, gvk, strict, err := p.last.decode(list.Raw(), p.gvk, how)
	if err == nil && gvk.GroupKind() != p.last.groupKind {
		if p.last = s.resourceFor(gvk.GroupKind()); p.last == nil {
			return nil
		}
		object, gvk, strict, err = p.last.decode(list.Raw(), gvk, how)
	}
	if err != nil || gvk.Version == "" || slices.ContainsFunc(strict, isDuplicate) {
		return nil
	}
	p.gvk = gvk
	p.add(i, strict, p.last.mostFindings())
	return object
}

// isDuplicate reports whether a finding is about a name that repeats, of which the server reports
// those of the whole list first, or may be one.
func isDuplicate(err error) bool {
	f, ok := err.(*ferrors.Finding)
	return !ok || f.Kind == ferrors.DuplicateField
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
	// The resource and the type of the last item.
	last *Resource
	gvk  *runtimeschema.GroupVersionKind
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
			if p.gvk == nil { // in a text that nobody has
				found.Position, found.First = ferrors.Position{}, ferrors.Position{}
			}
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
