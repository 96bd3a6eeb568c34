package examine

// This file says whether a file has objects. Such a file is for Kubernetes: if it has a document
// that is none, somebody has forgotten the type, or has broken it.

import (
	"iter"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/decoder"
)

// A presence says whether the file that is read has objects.
type presence uint8

const (
	unknown presence = iota
	none
	some
)

// note notes the type of a document.
func (e *Examiner) note(apiVersion, kind string) {
	if e.objects != some && e.isObject(apiVersion, kind) {
		e.objects = some
	}
}

func (e *Examiner) isObject(apiVersion, kind string) bool {
	return apiVersion != "" && kind != "" && !e.isOfTool(apiVersion, kind)
}

// hasObjects reports whether there are objects in the file of a document that is none. If there were
// none before it, the rest of the file is read, which happens once.
func (e *Examiner) hasObjects(doc *input.Document) bool {
	if e.objects == unknown {
		e.objects = none
		if e.isFollowed(doc) {
			e.objects = some
		}
	}
	return e.objects == some
}

// isFollowed reports whether an object follows a document. A file that is not in memory is read from
// its start; if that fails, nothing may be passed over in it.
func (e *Examiner) isFollowed(doc *input.Document) bool {
	r := new(input.Reader)
	var docs iter.Seq2[input.Document, error]
	if e.text != nil {
		docs = r.Texts(e.file, e.text[int(doc.Origin.Offset)+len(doc.Text):])
	} else {
		file, err := input.Open(e.file, nil)
		if err != nil {
			return true
		}
		defer file.Close()
		docs = r.Documents(e.file, file)
	}
	for one, err := range docs {
		if err != nil {
			continue
		}
		if apiVersion, kind, err := decoder.PeekType(one.JSON); err == nil && e.isObject(apiVersion, kind) {
			return true
		}
	}
	return false
}
