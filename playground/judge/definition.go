package judge

import (
	stderrors "errors"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	crdform "github.com/espalier-dev/espalier/internal/definition"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A definition is that of a request, compiled, with what is wrong with it.
type definition struct {
	text     string
	kep      bool
	values   bool
	catalog  *schema.Catalog // nil if the text cannot be read
	isSchema bool            // and no definition
	alone    *schema.Program // of such a schema
	hasRules bool
	faults   []Finding
	docs     []*document
}

// isFor reports whether the definition is that of a request.
func (d *definition) isFor(r *Request) bool {
	return d.text == r.Definition && d.kep == r.KEP && d.values == r.Values
}

// define reads and compiles the definition of a request.
func (j *Judge) define(r *Request) *definition {
	d := &definition{
		text: r.Definition, kep: r.KEP, values: r.Values,
		hasRules: strings.Contains(r.Definition, "x-kubernetes-validations"),
	}
	defer func() { placed(d.faults, d.text) }()
	crds, err := d.read()
	if err != nil {
		d.refuse(err)
		return d
	}
	opts := []schema.Option{schema.Deployed}
	if r.KEP {
		opts[0] = schema.KEP
	}
	if r.Values && j.cel != nil {
		opts = append(opts, validation.Values(j.cel.Rules))
	} else if r.Values {
		opts = append(opts, validation.Values())
	}
	catalog := schema.NewCatalog(opts...)
	if err := catalog.Add(crds...); err != nil {
		d.refuse(err)
		return d
	}
	d.catalog = catalog
	if d.isSchema {
		if d.alone, err = schema.Compile(crds[0].Versions[0].Schema, opts...); err != nil {
			d.refuse(err)
			d.catalog = nil
			return d
		}
	}
	for _, crd := range crds {
		for _, fault := range j.faults(crd, d.isSchema) {
			d.fault(crd, fault)
		}
	}
	return d
}

// read reads the text. A document without a type is a schema, if it is the only one.
func (d *definition) read() ([]*schema.CRD, error) {
	for doc := range yamlbridge.Documents([]byte(d.text)) {
		one, err := read(doc.Bytes, doc.Origin)
		if err != nil {
			return nil, err
		}
		d.docs = append(d.docs, one)
	}
	if len(d.docs) == 1 && d.docs[0].isSchema() {
		s, err := schema.Parse(d.docs[0].json)
		if err != nil {
			return nil, err
		}
		d.isSchema = true
		return []*schema.CRD{schemaAlone(s)}, nil
	}
	crds, err := schema.ParseCRD([]byte(d.text))
	if err == nil && len(crds) == 0 {
		err = stderrors.New("this is neither a CustomResourceDefinition nor a schema")
	}
	return crds, err
}

// isSchema reports whether the document is an object with members, without apiVersion and kind.
func (d *document) isSchema() bool {
	root := d.root()
	return root.kind == '{' && len(root.members) > 0 && root.member("apiVersion") == nil && root.member("kind") == nil
}

// schemaAlone returns a definition of a schema, for objects of any type.
func schemaAlone(s *schema.Structural) *schema.CRD {
	return &schema.CRD{
		APIVersion: "apiextensions.k8s.io/v1", Name: "schemas.example.com", Group: "example.com", Kind: "Schema",
		Plural: "schemas", Singular: "schema", ListKind: "SchemaList", Scope: "Namespaced",
		Versions: []schema.Version{{Name: "v1", Served: true, Storage: true, Schema: s}},
	}
}

// faults returns why a server refuses a definition.
func (j *Judge) faults(crd *schema.CRD, isSchema bool) (faults errors.SchemaErrors) {
	if isSchema {
		stderrors.As(validation.Structural(crd.Versions[0].Schema), &faults)
		return faults
	}
	stderrors.As(validation.CRD(crd), &faults)
	faults = append(slices.Clone(faults), crdform.Faults(crd)...)
	if j.cel != nil {
		faults = append(faults, j.cel.Faults(crd)...)
	}
	return faults
}

// fault adds a fault at the place in the text that it is about.
func (d *definition) fault(crd *schema.CRD, fault *errors.SchemaError) {
	if len(d.faults) == maxFindings {
		return
	}
	f := Finding{Error: true, Rule: "invalid-schema", Message: fault.Error()}
	if doc := d.document(crd); doc != nil {
		f.set(doc.at(doc.root().follow(d.path(doc, fault.Field))))
	}
	d.faults = append(d.faults, f)
}

// path returns the path of a fault in a document. The server names a schema that all versions share as if it
// stood above them.
func (d *definition) path(doc *document, field string) string {
	if d.isSchema {
		return strings.TrimPrefix(strings.TrimPrefix(field, "openAPIV3Schema"), ".")
	}
	const shared = "spec.validation."
	below, ok := strings.CutPrefix(field, shared)
	if spec := doc.root().member("spec"); ok && spec != nil && spec.value.member("validation") == nil {
		return "spec.versions[0].schema." + below
	}
	return field
}

// document returns the document that a definition stands in, or nil where that is a List.
func (d *definition) document(crd *schema.CRD) *document {
	if d.isSchema {
		return d.docs[0]
	}
	if n := crd.Document; n < 1 || n > len(d.docs) || d.docs[n-1].root().member("spec") == nil {
		return nil
	}
	return d.docs[crd.Document-1]
}

// refuse adds the error because of which the definition cannot be used.
func (d *definition) refuse(err error) {
	var faults errors.SchemaErrors
	if !stderrors.As(err, &faults) {
		d.faults = append(d.faults, fatal(err, nil))
		return
	}
	for _, fault := range faults[:min(len(faults), maxFindings)] {
		f := Finding{Error: true, Rule: "invalid-schema", Message: fault.Error(), Line: 1, Column: 1}
		if len(d.docs) == 1 {
			f.set(d.docs[0].at(d.docs[0].root().follow(d.path(d.docs[0], fault.Field))))
		}
		d.faults = append(d.faults, f)
	}
}

var errNoType = stderrors.New("the object has no apiVersion and kind, by which its definition is found")

// program returns the program for an entry. One of a schema alone says nothing of the type of objects.
func (d *definition) program(entry schema.Entry) (*schema.Program, error) {
	if d.isSchema {
		return d.alone, nil
	}
	return entry.Program()
}

// entry returns by what an object is judged.
func (d *definition) entry(o *document) (schema.Entry, error) {
	apiVersion, kind, err := "example.com/v1", "Schema", error(nil)
	if !d.isSchema {
		apiVersion, kind, err = decoder.PeekType(o.json)
	}
	if err == nil && (apiVersion == "" || kind == "") {
		err = errNoType
	}
	if err != nil {
		return schema.Entry{}, err
	}
	if _, err := d.catalog.Lookup(apiVersion, kind); err != nil {
		return schema.Entry{}, err
	}
	for e := range d.catalog.All() {
		if e.APIVersion == apiVersion && e.Kind == kind {
			return e, nil
		}
	}
	return schema.Entry{}, fmt.Errorf("no definition of %s, kind %s", apiVersion, kind)
}
