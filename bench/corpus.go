package main

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"slices"
	"testing"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// outsideTests lets a command use package corpus, which is for tests. It embeds no TB, so any other
// call panics.
type outsideTests struct{ testing.TB }

func (outsideTests) Helper() {}
func (outsideTests) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	os.Exit(1)
}
func (outsideTests) Fatalf(format string, args ...any) {
	outsideTests{}.Fatal(fmt.Sprintf(format, args...))
}

// Corpus returns one workload with the resources of the third-party data for which there is a
// definition, and the number of resources that were left out. Without that data it returns nil and
// -1.
//
// It leaves out the resources for which the default of Espalier and the pipeline without its
// metadata round trip are not meant to agree: those with unknown members or nulls in metadata, and
// those of definitions with the spec.preserveUnknownFields of v1beta1.
func Corpus() (w *Workload, left int) {
	tb := outsideTests{}
	if !corpus.IsThere(tb) {
		return nil, -1
	}
	schemas := realSchemas(corpus.CRDs(tb))
	w = &Workload{Name: "corpus"}
	us := ours("", decoder.Ignore)
	for file := range corpus.Samples(tb) {
		for doc := range yamlbridge.Documents(file.Data) {
			d, known := newDocument(schemas, doc.Bytes)
			switch {
			case !known:
			case d == nil || Compare(&us, d) != nil:
				left++
			default:
				w.Docs = append(w.Docs, d)
			}
		}
	}
	for _, d := range w.Docs {
		d.Among = len(w.Docs)
	}
	w.What = fmt.Sprintf("%d real resources of %d kinds", len(w.Docs), kinds(w.Docs))
	return w, left
}

func kinds(docs []*Document) int {
	set := make(map[*Schema]bool)
	for _, d := range docs {
		set[d.Schema] = true
	}
	return len(set)
}

// newDocument reports whether there is a definition for the document in src. d is nil if the
// document cannot be used.
func newDocument(schemas map[string]*Schema, src []byte) (d *Document, known bool) {
	js, err := yamlbridge.AppendJSON(nil, src)
	if err != nil {
		return nil, false
	}
	apiVersion, kind, err := decoder.PeekType(js)
	if err != nil {
		return nil, false
	}
	s, known := schemas[apiVersion+" "+kind]
	if s == nil {
		return nil, known
	}
	return &Document{Schema: s, Src: js, YAML: slices.Clone(src)}, true
}

// realSchemas returns schemas by apiVersion and kind. Those that are nil are not used.
func realSchemas(files iter.Seq[corpus.File]) map[string]*Schema {
	schemas := make(map[string]*Schema)
	for file := range files {
		for doc := range yamlbridge.Documents(file.Data) {
			crds, err := schema.ParseCRD(doc.Bytes)
			if err != nil {
				continue
			}
			for _, crd := range crds {
				for _, version := range crd.Versions {
					schemas[crd.Group+"/"+version.Name+" "+crd.Kind] = realSchema(crd, version.Schema)
				}
			}
		}
	}
	return schemas
}

func realSchema(crd *schema.CRD, s *schema.Structural) *Schema {
	if s == nil || crd.PreserveUnknownFields {
		return nil
	}
	js, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	both, err := NewSchema(js)
	if err != nil {
		return nil
	}
	return both
}
