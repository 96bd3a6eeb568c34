package kube

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	kjson "sigs.k8s.io/json"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// ServerTexts sets whether the strict errors of unstructured objects, and the
// findings of [Resource.Patch] in patches and their results, have the texts of
// the API server, byte for byte. Names are then not escaped, an empty name is an
// empty text, and all unknown fields and the first hundred duplicates are
// listed. Such names can forge other fields or lines of a log.
//
// The server's packages parse the document again where the texts may differ
// from those of the [Resource]: for names that are not plain, and from a
// hundred findings on. Entries with another text are then not *errors.Finding.
// The second parsing takes memory in proportion to the document. It is left
// out, and the texts are as without the option, if the paths of all members of
// the document together have more than 64 times the bytes of the document, plus
// 1 MiB.
func ServerTexts(does bool) Option {
	return optionFunc(func(o *options) { o.serverTexts = does })
}

// The bound for the paths of all members: bytes for each byte of JSON, and bytes besides.
const (
	pathBytesPerByte = 64
	pathBytes        = 1 << 20
)

// serverLimit is how many duplicates, and how many unknown fields of root metadata, the server
// lists.
const serverLimit = 100

// asServer returns the findings in a document as the server lists them.
func (r *Resource) asServer(data []byte, how reading, found []error) []error {
	if len(found) == 0 || r.saysTheSame(found) {
		return found
	}
	js, err := data, error(nil)
	if how.yaml {
		yaml := yamlbridge.Reader{Dialect: yamlbridge.Server}
		js, err = yaml.AppendJSON(nil, data)
	}
	if err != nil || !pathsWithin(js, pathBytesPerByte*len(js)+pathBytes) {
		return found
	}
	var list []error
	if panicked := guard(func() { list, err = r.serverList(data, how) }); panicked || err != nil {
		return found
	}
	return withOurs(list, found)
}

// patchAsServer returns the findings in a patch as the server lists them. It decodes the patch to a
// value like v.
func (r *Resource) patchAsServer(patch []byte, v any, found []error) []error {
	if !r.serverTexts || len(found) == 0 || r.saysTheSame(found) || !pathsWithin(patch, pathBytesPerByte*len(patch)+pathBytes) {
		return found
	}
	list, err := kjson.UnmarshalStrict(patch, v)
	if err != nil {
		return found
	}
	return withOurs(list, found)
}

// withOurs returns the server's findings, with those of ours that have the same text in their
// places: they know where they are.
func withOurs(list, found []error) []error {
	byText := make(map[string]error, len(found))
	for _, err := range found {
		byText[err.Error()] = err
	}
	for i := range list {
		if ours := byText[list[i].Error()]; ours != nil {
			list[i] = ours
		}
	}
	return list
}

// serverList decodes a document with the server's packages, and returns their findings.
func (r *Resource) serverList(data []byte, how reading) ([]error, error) {
	options := json.SerializerOptions{Yaml: how.yaml, Strict: true}
	s := json.NewSerializerWithOptions(json.DefaultMetaFactory, unstructuredscheme.NewUnstructuredCreator(),
		unstructuredscheme.NewUnstructuredObjectTyper(), options)
	u := new(unstructured.Unstructured)
	_, _, err := s.Decode(data, nil, u)
	var list []error
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		list = strict.Errors()
	} else if err != nil {
		return nil, err
	}
	unknown, err := r.coerce(u, false, true)
	for _, path := range unknown {
		list = append(list, unknownField(path))
	}
	return list, err
}

// unknownField returns the server's error for an unknown field.
func unknownField(path string) error { return errors.New(`unknown field "` + path + `"`) }

// saysTheSame reports whether the server certainly lists the same: there are fewer findings than
// its limits, and their paths are plain and different.
func (r *Resource) saysTheSame(found []error) bool {
	if len(found) >= serverLimit || r.embeddedRoot { // the server lists some of its findings twice
		return false
	}
	seen := make(map[string]bool, len(found))
	for _, err := range found {
		f, ok := err.(*ferrors.Finding)
		if !ok || seen[f.Error()] || !isPlain(f.FieldPath()) {
			return false
		}
		seen[f.Error()] = true
	}
	return true
}

// isPlain reports whether no part of a path is escaped or shortened.
func isPlain(path string) bool {
	for i := range len(path) {
		if c := path[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return !strings.Contains(path, "...")
}

// pathsWithin reports whether the paths of all members of a JSON document together have at most
// most bytes. Unknown and repeated fields are among these members, and their texts are as long as
// their paths.
func pathsWithin(js []byte, most int) bool {
	const indexBytes = len("[1000000000]")
	type container struct {
		length         int // of its path
		isObject       bool
		nameIsExpected bool
	}
	var (
		open   []container
		length = 0 // of the path of the value that is read
	)
	for d := stdjson.NewDecoder(bytes.NewReader(js)); ; {
		token, err := d.Token()
		if err != nil {
			return err == io.EOF && len(open) == 0
		}
		last := len(open) - 1
		delimiter, isDelimiter := token.(stdjson.Delim)
		switch {
		case isDelimiter && (delimiter == '}' || delimiter == ']'):
			open = open[:last]
			last--
		case isDelimiter:
			if delimiter == '[' {
				length += indexBytes
			}
			open = append(open, container{length, delimiter == '{', delimiter == '{'})
			continue
		case last >= 0 && open[last].nameIsExpected:
			length = open[last].length + len(".") + len(token.(string))
			if most -= length; most < 0 {
				return false
			}
			open[last].nameIsExpected = false
			continue
		}
		// A value has ended.
		if last >= 0 {
			length = open[last].length
			open[last].nameIsExpected = open[last].isObject
		}
	}
}
