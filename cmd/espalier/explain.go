package main

import (
	stderrors "errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

const explainHelp = `Explain says why a field stays, goes or was defaulted: what the schema says on the
way to it, in which file and line, and the rule that decides.

The path is written as in the messages of the API server, spec.containers[0].image,
or as a JSON Pointer, /spec/containers/0/image. It may lead to a field that is not
there: explain then says whether it has a default, and why that is not inserted.
Where the file has several objects, each is explained that has a schema.

Exit codes: 0 if something was explained; 1 if no object of the file has a schema;
2 if the arguments are wrong; 3 if something could not be read, decoded or written.`

const explainExamples = `  # Why has this field vanished?
  espalier explain --crd crds/ backupplan.yaml spec.retention.dayly

  # Where does this value come from?
  kubectl get backupplan databases -o json | espalier explain --crd crds/ - spec.suspend`

func newExplainCommand(p *process) *cobra.Command {
	o := newOptions(p, "warn")
	cmd := &cobra.Command{
		Use:                   "explain --crd FILE|DIR... FILE|- PATH",
		DisableFlagsInUseLine: true,
		Short:                 "Say why a field stays, goes or was defaulted",
		Long:                  explainHelp,
		Example:               explainExamples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return stderrors.New("explain takes a file, or - for standard input, and the path of a field")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.configure(cmd); err != nil {
				return err
			}
			if len(o.crds)+len(o.openAPI) == 0 {
				return errNoSchemas
			}
			if s, ok := o.load(); ok {
				return o.explain(s, args[0], args[1])
			}
			return nil
		},
	}
	o.addSchemaFlags(cmd)
	addChoice(cmd, &o.color, "color", "", "whether to color the output; auto is on a terminal, unless NO_COLOR is set")
	return cmd
}

// explain explains a path in all objects of a file.
func (o *options) explain(s *schemas, file, path string) (usage error) {
	set := o.settings(s)
	set.all, set.sources = true, true
	e := newExaminer(set)
	x := explainer{options: o, painter: painter(wantsColor(o.color.value, o.stdout)), file: displayName(file)}
	if o.semantics.value == "kep" {
		x.dialect = schema.KEP
	}
	explained := 0
	e.read(file, o.stdin, func(obj *object) bool {
		switch {
		case obj.isFatal():
			o.code = max(o.code, exitInput)
			_, _ = o.stderr.Write(textPrinter{painter: x.painter}.append(nil, x.file, &obj.verdict))
		case !obj.isList:
			entry, _ := s.entry(obj.apiVersion, obj.kind)
			steps, err := parsePath(path, obj.doc.json)
			if err != nil {
				usage = err
				return false
			}
			if err := writeAll(o.stdout, x.object(obj, entry, steps)); err != nil {
				o.fail(fmt.Errorf("writing the output: %w", err))
				return false
			}
			explained++
		}
		return true
	})
	if explained == 0 && usage == nil {
		o.code = max(o.code, exitFindings)
	}
	return usage
}

// entry returns what the catalog has for a kind.
func (s *schemas) entry(apiVersion, kind string) (schema.Entry, bool) {
	for e := range s.catalog.All() {
		if e.APIVersion == apiVersion && e.Kind == kind {
			return e, true
		}
	}
	return schema.Entry{}, false
}

// An explainer says why what stands in objects is kept or not.
type explainer struct {
	*options
	painter
	dialect schema.Dialect
	file    string
}

// object explains what becomes of the value at a path of an object.
func (x *explainer) object(o *object, entry schema.Entry, steps []step) (text []byte) {
	way := walkSchema(entry, x.dialect, steps)
	fate := x.fate(o, way, steps)
	place := printable(x.file)
	at, depth := find(o.doc.json, keys(steps))
	if depth == len(steps) && depth > 0 {
		c := counter{src: o.doc.json, at: errors.Position{Line: 1, Column: 1, ByteColumn: 1}}
		place += ":" + o.doc.locate(c.position(at)).String()
	}
	o.namespace, o.name = peekName(o.doc.json)
	for i := range o.findings {
		if f := &o.findings[i]; f.rule == ruleDuplicate && f.field == pathOf(steps) {
			fate.hint = "it stands twice, at " + f.first.String() + " and " + f.at.String() + ": the last value wins"
		}
	}
	style := green
	if fate.goes {
		style = red
	}
	text = fmt.Appendf(text, "%s %s of %s %s\n", x.paint(bold, place+":"), spelled(steps), o.identity, x.paint(style, fate.what))
	text = fmt.Appendf(text, "  because %s\n", fate.why)
	if fate.hint != "" {
		text = fmt.Appendf(text, "  %s\n", fate.hint)
	}
	text = fmt.Appendf(text, "  rule: %s\n", fate.rule)
	text = fmt.Appendf(text, "  schema: %s, kind %s, in %s\n", entry.APIVersion, entry.Kind, printable(entry.CRD.File))
	lines := schemaLines(entry, way)
	for i, w := range way {
		text = fmt.Appendf(text, "    %s %s: %s\n", x.paint(bold, lines[i]), spelled(steps[:w.depth]), w.describe())
	}
	return text
}

// A fate is what becomes of a value, and why.
type fate struct {
	goes                  bool
	what, why, hint, rule string
}

// The rules, with where they are written down.
const (
	rulePrune      = "unknown fields are pruned (KEP-2332, Custom Resource Definitions: Field pruning)"
	rulePreserve   = "what is below x-kubernetes-preserve-unknown-fields: true stays, but fields that are specified there are pruned (KEP-2332)"
	ruleImplicit   = "apiVersion, kind and metadata are specified implicitly, and metadata has the fields of ObjectMeta (KEP-2332, proposal 4)"
	ruleDeclared   = "what the schema specifies stays"
	ruleMap        = "additionalProperties specifies all names"
	ruleDefault    = "a default is inserted where the field is absent from an object that is there (KEP-575)"
	ruleNullGone   = "a null is dropped where the field is not nullable and has no default"
	ruleNullFilled = "a null is replaced by the default where the field is not nullable"
)

// fate compares the object with its result.
func (x *explainer) fate(o *object, way []waypoint, steps []step) fate {
	before, was := valueAt(o.doc.json, steps)
	after, is := valueAt(o.result, steps)
	last := way[len(way)-1]
	switch {
	case was && is && before.Kind() == 'n' && after.Kind() != 'n':
		return fate{what: "was null and becomes " + brief(after), why: "the schema has a default for it and does not say nullable", rule: ruleNullFilled}
	case was && is:
		return stays(last, steps)
	case is:
		return defaulted(way, o.doc.json, steps, brief(after))
	case was:
		return goes(o, way, steps, before.Kind() == 'n')
	}
	return absent(way, o.doc.json, steps)
}

func stays(last waypoint, steps []step) fate {
	f := fate{what: "stays", rule: ruleDeclared, why: "the schema specifies it"}
	switch {
	case last.implicit:
		f.why, f.rule = "every resource has it", ruleImplicit
	case last.depth < len(steps) || last.via == viaPreserve:
		f.why, f.rule = "unknown fields are preserved within "+spelled(steps[:last.preservedAt]), rulePreserve
	case last.via == viaMap:
		f.why, f.rule = "the object that it is in is a map", ruleMap
	}
	return f
}

func goes(o *object, way []waypoint, steps []step, isNull bool) fate {
	for n := 1; n < len(steps); n++ {
		if _, kept := valueAt(o.result, steps[:n]); !kept {
			above := goes(o, way, steps[:n], false)
			above.why = spelled(steps[:n]) + " goes, with all that is in it: " + above.why
			return above
		}
	}
	f := fate{goes: true, what: "goes", rule: rulePrune}
	last := way[len(way)-1]
	program := o.program
	path := pathOf(steps)
	switch {
	case last.depth >= len(steps) && isNull && !last.undeclared:
		f.why, f.rule = "it is null, and the schema neither says nullable nor has a default", ruleNullGone
	case last.inMetadata:
		f.why, f.rule = "metadata has no such field", ruleImplicit
	case !last.undeclared:
		f.why = "the schema specifies nothing at this place"
	default:
		f.why = "the schema does not declare it"
		if names := program.FieldNames(pathOf(steps[:len(steps)-1])); len(names) > 0 {
			f.hint = "declared there: " + listed(names)
		}
	}
	if hint := advice(program, path, suggestion(program, path)); hint != "" {
		f.why += hint
	}
	return f
}

func defaulted(way []waypoint, js []byte, steps []step, value string) fate {
	f := fate{what: "was absent and becomes " + value, rule: ruleDefault}
	for n := 1; n <= len(steps); n++ {
		if _, was := valueAt(js, steps[:n]); was {
			continue
		}
		w := way[min(n, len(way)-1)]
		f.why = "the schema has the default " + brief(w.node.Default) + " for " + spelled(steps[:n])
		if n < len(steps) {
			f.why += ", which is itself completed by the defaults within it"
		}
		break
	}
	return f
}

func absent(way []waypoint, js []byte, steps []step) fate {
	f := fate{what: "is absent, and stays so", rule: ruleDefault}
	last := way[len(way)-1]
	switch {
	case last.undeclared:
		f.why, f.rule = "the schema does not declare it: it would be pruned", rulePrune
	case last.node == nil || len(last.node.Default) == 0:
		f.why = "the schema has no default for it"
	default:
		f.why = "the schema has a default for it"
		for n := 1; n < len(steps); n++ {
			if _, was := valueAt(js, steps[:n]); !was {
				f.why += ", but " + spelled(steps[:n]) + ", which it is in, is absent and has none"
				break
			}
		}
	}
	return f
}

// pathOf returns the steps as a path of the library.
func pathOf(steps []step) (path errors.Path) {
	for _, s := range steps {
		if s.index >= 0 {
			path = path.Element(s.index)
		} else {
			path = path.Child(s.name)
		}
	}
	return path
}

// brief returns a value on one line, cut if it is long.
func brief(value []byte) string {
	const most = 60
	if text := []rune(strings.Join(strings.Fields(string(value)), " ")); len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(value)
}

// listed returns the first names of a list.
func listed(names []string) string {
	const most = 12
	names = slices.Clone(names)
	for i := range names {
		names[i] = printable(names[i])
	}
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
