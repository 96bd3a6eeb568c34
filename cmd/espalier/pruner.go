package main

import (
	stderrors "errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// A pruner takes documents from inputs to standard output.
type pruner struct {
	stdout, stderr io.Writer
	yaml           bool
	validation     decoder.Validation
	ignoreMissing  bool
	inPlace        bool // files are edited, and nothing goes to stdout but diffs
	diff           bool // and they stay as they are
	colored        bool

	catalog  *schema.Catalog
	anything *schema.Program // what objects without a schema are decoded with
	envelope *schema.Program // what is around the items of a List
	frame    *schema.Program // that, with items in which nothing is left
	decoders map[*schema.Program]*decoder.Decoder
	removal  *removal // what is found, where a file is edited
	out      []byte
	written  int // documents
	code     int
}

// errOutput is returned where writing has failed, and nothing more can be done.
var errOutput = stderrors.New("output failed")

// run prunes the inputs and returns the exit code.
func (p *pruner) run(semantics schema.Dialect, crds, inputs []string, stdin io.Reader) int {
	p.catalog = schema.NewCatalog(schema.Semantics(semantics))
	preserve := true
	var err error
	p.anything, err = schema.Compile(&schema.Structural{XPreserveUnknownFields: &preserve}, schema.Semantics(semantics), schema.ResourceRoot(false))
	if err != nil {
		p.fail("%v", err)
		return p.code
	}
	text, whatever := &schema.Structural{Type: "string"}, &schema.Structural{XPreserveUnknownFields: &preserve}
	empty := &schema.Structural{Type: "array", Items: &schema.SchemaOrArray{Schema: &schema.Structural{Type: "object"}}}
	for program, items := range map[**schema.Program]*schema.Structural{&p.envelope: whatever, &p.frame: empty} {
		*program, err = schema.Compile(&schema.Structural{Type: "object", Properties: map[string]*schema.Structural{
			"apiVersion": text, "kind": text, "metadata": whatever, "items": items,
		}}, schema.ResourceRoot(false))
		if err != nil {
			p.fail("%v", err)
			return p.code
		}
	}
	for _, name := range crds {
		if err := p.catalog.AddPath(name); err != nil {
			p.fail("reading definitions: %v", err)
		}
	}
	if p.code != exitClean {
		return p.code
	}
	for _, input := range inputs {
		names, err := expand(input)
		if err != nil {
			p.fail("%v", err)
			continue
		}
		for _, name := range names {
			prune := p.file
			if p.inPlace {
				prune = p.editFile
			}
			if prune(name, stdin) != nil {
				return p.code
			}
		}
	}
	return p.code
}

// fail reports what is no fault of a single document.
func (p *pruner) fail(format string, args ...any) {
	p.code = exitInput
	text := fmt.Sprintf(format, args...)
	fmt.Fprintf(p.stderr, "error: %s\n", strings.ReplaceAll(text, "\n", "\nerror: "))
}

func (p *pruner) file(name string, stdin io.Reader) error {
	display, in, err := open(name, stdin)
	if err != nil {
		p.fail("%v", err)
		return nil
	}
	defer in.Close()
	r := report{to: p.stderr, file: display}
	defer func() { p.code = max(p.code, r.code) }()
	for doc, err := range documents(name, in) {
		if err != nil {
			r.unreadable(doc, err)
			continue
		}
		if err := p.document(&r, doc, true); err != nil {
			return err
		}
	}
	return nil
}

// document prunes one document, or the items of a List where it may be one. It
// reports what is wrong with it and returns an error only where output fails.
func (p *pruner) document(r *report, doc document, mayBeList bool) error {
	apiVersion, kind, err := decoder.PeekType(doc.json)
	if err != nil {
		r.fatal(doc, err, doc.locate)
		return nil
	}
	program, err := p.catalog.Lookup(apiVersion, kind)
	if notFound := (*schema.NotFoundError)(nil); stderrors.As(err, &notFound) {
		if mayBeList && strings.HasSuffix(kind, "List") {
			if done, err := p.list(r, doc); done || err != nil {
				return err
			}
		}
		if p.ignoreMissing {
			program, err = p.anything, nil
		} else if apiVersion == "" || kind == "" {
			err = stderrors.New("object has no apiVersion or no kind")
		}
	}
	if err != nil {
		r.fatal(doc, err, doc.locate)
		return nil
	}
	d := p.decoder(program)
	p.out, err = d.AppendJSON(p.out[:0], doc.json)
	if strict := (*errors.StrictError)(nil); err != nil && !stderrors.As(err, &strict) {
		r.fatal(doc, err, doc.locate)
		return nil
	}
	r.findings(doc, program, d.Findings(), d.Omitted(), p.validation)
	if p.removal != nil {
		p.removal.object(doc, d)
		p.removal.result(p.out)
		return nil
	}
	return p.write(r)
}

// list prunes the items of a document that is a List. done is false where it has
// no items, and thus is none. That the whole is JSON is known by now.
func (p *pruner) list(r *report, doc document) (done bool, err error) {
	items, ok := doc.items()
	if !ok {
		return false, nil
	}
	// Of the List itself, and not of its items, which are looked at one by one.
	d := p.decoder(p.envelope)
	if _, err := d.AppendJSON(nil, doc.json); err != nil && !stderrors.As(err, new(*errors.StrictError)) {
		r.fatal(doc, err, doc.locate)
		return true, nil
	}
	found := slices.DeleteFunc(slices.Clone(d.Findings()), func(f errors.Finding) bool {
		return f.Path.IsWithin(errors.Path{}.Child("items"))
	})
	r.findings(doc, p.envelope, found, 0, p.validation)
	if p.removal != nil {
		p.removal.envelope(doc, items, found)
		if p.out, err = p.decoder(p.frame).AppendJSON(p.out[:0], doc.json); err != nil && !stderrors.As(err, new(*errors.StrictError)) {
			r.fatal(doc, err, doc.locate)
			return true, nil
		}
		p.removal.result(p.out)
	}
	for _, item := range items {
		if err := p.document(r, item, false); err != nil {
			return true, err
		}
	}
	return true, nil
}

func (p *pruner) decoder(program *schema.Program) *decoder.Decoder {
	d := p.decoders[program]
	if d == nil {
		validation, limits := p.validation, decoder.Limits{}
		if p.inPlace {
			// What is found is what is removed, whether it is reported or not.
			limits.Findings, limits.FindingBytes = maxRemoved, maxRemovedBytes
			if validation == decoder.Ignore {
				validation = decoder.Warn
			}
		}
		d = decoder.New(program, decoder.FieldValidation(validation), decoder.WithLimits(limits), decoder.Compact(true))
		p.decoders[program] = d
	}
	return d
}

// write writes the document in p.out.
func (p *pruner) write(r *report) error {
	text := append(p.out, '\n')
	if p.yaml {
		var err error
		if text, err = yamlDocument(p.out); err != nil {
			p.fail("%s: %v", r.file, err)
			return nil
		}
		if p.written > 0 {
			text = append([]byte("---\n"), text...)
		}
	}
	p.written++
	return p.print(text)
}

// print writes to standard output, with one call.
func (p *pruner) print(text []byte) error {
	n, err := p.stdout.Write(text)
	if err == nil && n < len(text) {
		err = io.ErrShortWrite
	}
	if err != nil {
		p.fail("writing the output: %v", err)
		return errOutput
	}
	return nil
}
