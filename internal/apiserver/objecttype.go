package apiserver

import (
	"bytes"
	"strings"
)

// NOTE: the server reads kind and apiVersion of a request body before it reads the
// object (SimpleMetaFactory.Interpret of k8s.io/apimachinery). It does so with
// encoding/json, which takes any case of the names.

var (
	kindName       = []byte("kind")
	apiVersionName = []byte("apiVersion")
)

// FoldsToType reports whether encoding/json takes the name for kind or apiVersion.
func FoldsToType(name []byte) bool {
	// U+212A folds to k, U+017F to s: with them the names have more bytes.
	switch len(name) {
	case 4, 6:
		return bytes.EqualFold(name, kindName)
	case 10, 11:
		return bytes.EqualFold(name, apiVersionName)
	}
	return false
}

// IsAPIVersion reports whether a name for which FoldsToType is true is taken for
// apiVersion.
func IsAPIVersion(name string) bool { return len(name) >= len(apiVersionName) }

// IsGroupVersion reports whether schema.ParseGroupVersion of k8s.io/apimachinery takes
// the text.
func IsGroupVersion(text string) bool { return strings.Count(text, "/") <= 1 }
