package kube

import (
	"strings"

	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
)

// NOTE: the strings of an object are cut out of common memory, up to 16 KiB at a time (see
// decoder.SeparateStrings), so that a string which outlives its object keeps up to so much. A
// server keeps the names of objects in caches, queues and events. These strings therefore have
// memory of their own, and the type of an object is that of its resource.

// keptNames are the members of metadata that servers keep.
var keptNames = [...]string{"name", "namespace", "uid", "resourceVersion", "generateName"}

// A typeOfVersion has the strings of an object's type, in interface values that objects share.
type typeOfVersion struct{ apiVersion, kind any }

func newTypeOfVersion(gvk runtimeschema.GroupVersionKind) typeOfVersion {
	return typeOfVersion{gvk.GroupVersion().String(), gvk.Kind}
}

// detach gives the strings that servers keep memory of their own. The object must have been
// decoded.
func (t typeOfVersion) detach(object map[string]any) {
	own(object, "apiVersion", t.apiVersion)
	own(object, "kind", t.kind)
	metadata, _ := object["metadata"].(map[string]any)
	for _, name := range keptNames {
		own(metadata, name, nil)
	}
}

// own replaces a string by one that is equal to it: by shared, or by a copy.
func own(object map[string]any, name string, shared any) {
	value := object[name]
	text, isString := value.(string)
	switch {
	case !isString:
	case value == shared:
		object[name] = shared
	default:
		object[name] = strings.Clone(text)
	}
}
