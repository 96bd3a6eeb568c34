package main

import (
	stderrors "errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/schema"
)

const explainHelp = `Explain says why a field stays, goes or was defaulted: what the schema says on the
way to it, in which file and line, and the rule that decides.

The path is written as in the messages of the API server, spec.containers[0].image,
with a $ before it or not, or as a JSON Pointer, /spec/containers/0/image. It may
lead to a field that is not there: explain then says whether it has a default, and
why that is not inserted. Where the file has several objects, each is explained that
has a schema. The items of a List are objects of their own: items[0].spec.image is
spec.image of the first.

Exit codes: 0 if something was explained; 1 if no object of the file has a schema, or
none has the field and no schema declares it; 2 if the arguments are wrong; 3 if something could not be read, decoded or written.`

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
			if err := configure(cmd.Flags(), o.config); err != nil {
				return err
			}
			if len(o.crds)+len(o.openAPI) == 0 {
				return errNoSchemas
			}
			if s, ok := o.load(schema.CheckTypes(true)); ok {
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
	set.all, set.sources, set.explains = true, true, true
	e := newExaminer(set)
	x := explainer{painter: painter(wantsColor(o.color.value, o.stdout)), file: displayName(file)}
	if o.semantics.value == "kep" {
		x.semantics = schema.KEP
	}
	explained := 0
	var list listPath
	e.read(file, o.stdin, func(obj *object) bool {
		switch {
		case obj.isFatal():
			o.code = max(o.code, exitInput)
			_, _ = o.stderr.Write(textPrinter{painter: x.painter}.append(nil, x.file, &obj.verdict))
		case obj.isList:
			list, usage = newListPath(path, len(obj.items))
			return usage == nil
		}
		within, isMeant := list.next(path)
		if obj.isFatal() || !isMeant {
			return true
		}
		entry, _ := s.entry(obj.apiVersion, obj.kind)
		steps, err := parsePath(within, obj.doc.json)
		if err != nil {
			usage = err
			return false
		}
		text, isKnown := x.object(obj, entry, steps)
		if err := writeAll(o.stdout, text); err != nil {
			o.fail(fmt.Errorf("writing the output: %w", err))
			return false
		}
		if isKnown {
			explained++
		}
		return true
	})
	if explained == 0 && usage == nil {
		o.code = max(o.code, exitFindings)
	}
	return usage
}

// A listPath says which of the items of a List are meant by a path, and by what of it.
type listPath struct {
	left   int // how many items are still to come
	at     int // the index of the next one
	only   int // the index of the one that the path names, or -1
	within string
}

// itemPath is a path that starts at a List.
var itemPath = regexp.MustCompile(`^(?:\$?\.?items\[(\d+)\](?:\.|$)?|/items/(\d+)(?:$|/))(.*)$`)

// newListPath returns the part of a path that is for the items of a List: items[0].spec.a is
// spec.a of the first, and spec.a is that of all of them.
func newListPath(path string, items int) (listPath, error) {
	l := listPath{left: items, only: -1, within: path}
	m := itemPath.FindStringSubmatch(path)
	if m == nil {
		return l, nil
	}
	n, err := strconv.Atoi(m[1] + m[2])
	if err != nil || n >= items {
		return l, fmt.Errorf("the List has %s, and no items[%s]", count(items, "item"), m[1]+m[2])
	}
	l.only, l.within = n, m[3]
	if m[2] != "" && m[3] != "" {
		l.within = "/" + m[3]
	}
	return l, nil
}

// next returns the path for the next object, and whether it is meant.
func (l *listPath) next(path string) (within string, isMeant bool) {
	if l.left == 0 {
		return path, true // it is no item
	}
	l.left--
	l.at++
	return l.within, l.only < 0 || l.at-1 == l.only
}

// entry returns what the catalog has for a kind.
func (s *schemas) entry(apiVersion, kind string) (schema.Entry, bool) {
	e, ok := s.entries[[2]string{apiVersion, kind}]
	return e, ok
}

// An explainer says why what stands in objects is kept or not.
type explainer struct {
	painter
	semantics schema.Semantics
	file      string
}

// object explains what becomes of the value at a path of an object. It is not known where
// neither the object nor the schema has it.
func (x *explainer) object(o *object, entry schema.Entry, steps []step) (text []byte, isKnown bool) {
	way := walkSchema(entry, x.semantics, steps)
	fate := fateOf(o, way, steps)
	place := printable(x.file)
	at, depth := find(o.doc.json, keys(steps))
	if depth == len(steps) && depth > 0 {
		c := position.From(o.doc.json, errors.Position{})
		place += ":" + o.doc.locate(c.At(at)).String()
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
	text = fmt.Appendf(text, "%s %s of %s %s\n", x.paint(bold, place+":"), spelled(steps), o.identity, x.paint(style, safe(fate.what)))
	text = fmt.Appendf(text, "  because %s\n", safe(fate.why))
	if fate.hint != "" {
		text = fmt.Appendf(text, "  %s\n", safe(fate.hint))
	}
	if why := refusals(o); len(why) > 0 && fate.rule != ruleTyped && fate.rule != ruleUndecoded {
		text = fmt.Appendf(text, "  but the object is refused: %s%s\n", safe(why[0]), map[bool]string{true: ", and more"}[len(why) > 1])
	}
	text = fmt.Appendf(text, "  rule: %s\n", fate.rule)
	text = fmt.Appendf(text, "  schema: %s, kind %s, in %s\n", printable(entry.APIVersion), printable(entry.Kind), printable(entry.CRD.File))
	lines := schemaLines(entry, way)
	for i, w := range way {
		text = fmt.Appendf(text, "    %s %s: %s\n", x.paint(bold, lines[i]), spelled(steps[:w.depth]), safe(w.describe()))
	}
	return text, !fate.unknown
}

// refusals returns for which of its values an object is refused.
func refusals(o *object) (why []string) {
	for i := range o.mismatches {
		why = append(why, o.mismatches[i].Error())
	}
	for i := range o.findings {
		if o.findings[i].rule == ruleFormat {
			why = append(why, o.findings[i].message)
		}
	}
	return why
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
