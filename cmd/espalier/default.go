package main

import (
	"bytes"
	stderrors "errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/edit"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
)

const defaultHelp = `Default reads custom resources and writes them with the defaults of their schemas,
as the API server inserts them: where a field is absent from an object that is
there, and where it is null without being nullable. Nothing is removed, but for
unknown fields in metadata; see espalier prune for that.

The schema of an object is found by its apiVersion and kind among those that --crd
and --openapi name. The objects go to standard output, each a document of its own.
Kubernetes' own kinds are defaulted by code of the server, and their schemas have no
defaults.

With --write nothing goes there. Instead, defaults are inserted into the files, behind
the last member of the object that they belong to, and everything else stays as it
stands, comments and style too. A file is replaced as a whole, and only after it was
read again and had everything that it should; otherwise it is left as it is, with all of
its documents, and that is an error: where anchors, aliases or merge keys are in the
way, or names that stand twice, or where a document cannot be read or has no schema. A
link in a folder that leads out of it is not followed. --diff shows what --write would do, and does nothing;
--list-changed lists the files that would change, or with --write those that have.

` + inputHelp + `

Exit codes: 0 if nothing was found, or only warnings; 1 if there are findings
and they are errors, or if --diff or --list-changed show a difference that is not
written; 2 if the arguments are wrong; 3 if something could not be read, decoded
or written.`

const defaultExamples = `  # What will the API server make of this?
  espalier default --crd crds/ backupplan.yaml

  # Write the defaults down, after a look at what that changes.
  espalier default --crd crds/ --diff manifests/
  espalier default --crd crds/ --write manifests/

  # Which manifests leave something to defaults?
  espalier default --crd crds/ --list-changed manifests/`

func newDefaultCommand(p *process) *cobra.Command {
	t := &transformer{options: newOptions(p, "warn"), edit: defaultFile, compile: []schema.Option{schema.PreserveUnknownFields(true)}}
	return t.command(&cobra.Command{
		Use:     "default --crd FILE|DIR... [-f FILE|DIR|-]... [FILE|DIR|-]...",
		Short:   "Write objects with the defaults of their schemas",
		Long:    defaultHelp,
		Example: defaultExamples,
	})
}

// A filling says what is to be inserted into a document.
type filling struct {
	target
	insertions []edit.Insertion
}

// defaultFile returns the content of a file with its defaults, and the edits that lead
// to it: none where there is nothing to do.
func defaultFile(e *examiner, name string, content []byte, report func(verdict)) (edited []byte, edits []edit.Edit) {
	before := fillings(e, name, content, report)
	for _, f := range before {
		some, err := f.edits(content)
		if err != nil {
			report(f.refused(err.Error()))
			continue
		}
		edits = append(edits, some...)
	}
	if len(edits) == 0 {
		return content, nil
	}
	edited = edit.Apply(content, edits)
	after := fillings(e, name, edited, func(verdict) {})
	for i, f := range before {
		if i == len(after) || !bytes.Equal(f.results, after[i].results) {
			report(f.refused("with its defaults the document would be another; the file is left as it is"))
			return content, nil
		}
	}
	return edited, edits
}

// edits returns the edits of a document, in the content of its file.
func (f *filling) edits(content []byte) (edits []edit.Edit, err error) {
	if f.err != nil || len(f.insertions) == 0 {
		return nil, f.err
	}
	start := int(f.doc.start.Offset)
	text := content[start : start+f.length]
	if f.doc.isYAML {
		edits, err = edit.InsertYAML(text, f.insertions)
	} else {
		edits, err = edit.InsertJSON(text, f.insertions)
	}
	for i := range edits {
		edits[i].From += start
		edits[i].To += start
	}
	return edits, err
}

// fillings looks at all documents of a file. report is called for each object.
func fillings(e *examiner, name string, content []byte, report func(verdict)) (all []*filling) {
	var f *filling
	e.input(name, bytes.NewReader(content), func(o *object) bool {
		if f == nil || f.doc.number != o.document {
			f = &filling{target: targetOf(o)}
			all = append(all, f)
		}
		if o.result != nil && !o.isList {
			f.object(o)
		}
		report(o.verdict)
		return true
	})
	return all
}

// errRepeated is why defaults are not written into a document.
var errRepeated = stderrors.New("names stand twice in it, of which the last wins: remove the others with espalier prune --write before defaults are written")

// object notes what is to be inserted into an object.
func (f *filling) object(o *object) {
	f.result(o.result)
	before, err := readNode(jsonv2.NewDecoder(bytes.NewReader(o.doc.json), jsonv2.AllowDuplicateNames(true)), o.doc.json)
	if err == nil {
		var after *node
		after, err = readNode(jsonv2.NewDecoder(bytes.NewReader(o.result)), o.result)
		if err == nil {
			err = f.compare(before, after, o)
		}
	}
	if repeated, _ := edit.Repeated(o.doc.json); err == nil && len(repeated) > 0 && len(f.insertions) > 0 {
		err = errRepeated
	}
	if err != nil {
		f.err = err
	}
}

// compare notes what the result of an object has and the object has not.
func (f *filling) compare(before, after *node, o *object) error {
	switch {
	case before.kind == 'n' && after.kind != 'n':
		f.insertions = append(f.insertions, edit.Insertion{At: o.doc.base + before.at, Value: slices.Clone(after.raw)})
		return nil
	case before.kind == '[' && after.kind == '[' && len(before.values) == len(after.values):
		for i := range before.values {
			if err := f.compare(before.values[i], after.values[i], o); err != nil {
				return err
			}
		}
	case before.kind == '{' && after.kind == '{':
		at := map[string]int{}
		for i, name := range before.names {
			at[name] = i
		}
		for i, name := range after.names {
			value := after.values[i]
			if old, ok := at[name]; ok {
				if err := f.compare(before.values[old], value, o); err != nil {
					return err
				}
				continue
			}
			member, err := insertion(o.doc.base+before.at, name, value.raw)
			if err != nil {
				return err
			}
			f.insertions = append(f.insertions, member)
		}
	}
	return nil
}

// insertion returns a member that is added to the object at an offset.
func insertion(at int, name string, value []byte) (edit.Insertion, error) {
	js, err := jsonv2.AppendQuote([]byte("{"), name)
	if err != nil {
		return edit.Insertion{}, err
	}
	lines, err := yamlDocument(append(append(append(js, ':'), value...), '}'))
	return edit.Insertion{At: at, Name: name, Value: slices.Clone(value), Lines: string(lines)}, err
}

// A node is a value of a JSON text with what is in it.
type node struct {
	kind   jsonv2.Kind
	at     int // where it starts
	raw    []byte
	names  []string
	values []*node
}

// readNode reads the next value of a text, whose depth was limited when it was decoded.
func readNode(d *jsonv2.Decoder, js []byte) (*node, error) {
	n := &node{kind: d.PeekKind()}
	if n.kind != '{' && n.kind != '[' {
		value, err := d.ReadValue()
		n.at = int(d.InputOffset()) - len(value)
		n.raw = js[n.at:d.InputOffset()]
		return n, err
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	n.at = int(d.InputOffset()) - 1
	for next := d.PeekKind(); next != '}' && next != ']'; next = d.PeekKind() {
		if n.kind == '{' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, name.String())
		}
		value, err := readNode(d, js)
		if err != nil {
			return nil, err
		}
		n.values = append(n.values, value)
	}
	_, err := d.ReadToken()
	n.raw = js[n.at:d.InputOffset()]
	return n, err
}
