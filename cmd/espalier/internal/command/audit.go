package command

import (
	"bytes"
	"context"
	stderrors "errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/audit"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/cluster"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/layout"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/parallel"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/schema"
)

const auditHelp = `Audit says what becomes of objects that exist when custom resource definitions are
replaced: which fields are lost, which values are refused from then on, and which get
another default. For each field it counts the objects, and names some of them.

--to names the new definitions, and --from those that they replace: files, folders,
patterns, - for standard input, or files in a revision of git, as in v1.2.0:config/crd. A
definition that only --from has counts as deleted, with its objects. Objects of kinds that
only --to has are compared with that alone, and all objects are without --from: what is
stored and not declared, or not valid.

Objects come from files or from standard input, such as the output of kubectl get -o
json. One with a metadata.uid was returned by a server, and is taken for stored. Any
other is taken for a manifest, and the question is what becomes of the object that was
created from it.

With --context, the objects are those of a cluster, page by page, and --from is what the
cluster has. --get, --namespace and selectors choose among the objects; by default they
are all whose definitions change. Nothing is written to the cluster.

Audit does what the API server does. An object is stored in the storage version of the
old definition. It is pruned and defaulted by that version of the new definition, and
then pruned by the version that is asked for. Webhooks that convert cannot be called: if
there is one, an object is taken for stored in the version that it has.

The server does not refuse what is stored, but it refuses new objects, and updates. A
value may stay in updates that do not change it, unless the report says otherwise.

The items of a List are read one at a time. Memory holds one object, and the counts.

Exit codes: 0 if nothing is lost and nothing refused; 1 if something is; 2 if the
arguments are wrong; 3 if something could not be read or written.`

const auditExamples = `  # Which objects in the cluster would lose what?
  kubectl get widgets -A -o json | espalier audit --from old-crd.yaml --to new-crd.yaml

  # The same for the manifests of a repository, and two releases of an operator.
  espalier audit --from v1.2.0:config/crd --to v1.3.0:config/crd config/samples

  # Straight from the cluster of the current context.
  espalier audit --context . --to new-crd.yaml

  # For a comment on a pull request.
  espalier audit --from main:config/crd --to config/crd -o markdown config/samples

  # What is stored and not declared, or not valid?
  espalier audit --to crds/ backup.json`

func newAuditCommand(p *process) *cobra.Command {
	o := newOptions(p, "ignore")
	a := &auditor{options: o}
	output := flagvalue.Choice{Value: "text", Values: []string{"text", "markdown", "json", "ndjson"}}
	cmd := &cobra.Command{
		Use:                   "audit [--from FILE|DIR|REV:PATH]... --to FILE|DIR|REV:PATH... [FILE|DIR|-]...",
		DisableFlagsInUseLine: true,
		Short:                 "Say what objects lose when their definitions are replaced",
		Long:                  auditHelp,
		Example:               auditExamples,
		Args:                  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := config.Apply(cmd.Flags(), o.config); err != nil {
				return err
			}
			if len(a.to) == 0 {
				return stderrors.New("--to is missing: name the definitions that objects will have")
			}
			if err := a.openCluster(cmd, args); err != nil {
				return err
			}
			var names []string
			if o.cluster.opened == nil || len(o.names)+len(args) > 0 {
				var err error
				if names, err = o.inputs(args); err != nil {
					return err
				}
			}
			a.format = output.Value
			if count := countOf("-", a.from, a.to, names); count > 1 {
				return stderrors.New("standard input can be only one of --from, --to and the objects")
			}
			a.named = named(append(slices.Clip(o.names), args...))
			return a.run(a.whole(names))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&a.from, "from", nil, "`path` of the definitions that objects have: a file, a folder, a pattern, or REVISION:PATH in git; may be repeated")
	flags.StringArrayVar(&a.to, "to", nil, "`path` of the definitions that objects will have; may be repeated")
	o.addInputFlags(cmd)
	o.cluster.addFlags(cmd)
	o.cluster.addObjectFlags(cmd)
	flagvalue.Add(cmd, &output, "output", "o", "output format; ndjson has one line for each value, and the others count by field")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "do not print a summary")
	flags.StringVar(&o.config, "config", config.FileName, "`file` with defaults for flags; empty for none")
	return cmd
}

// An auditor tells what becomes of the objects in inputs.
type auditor struct {
	*options
	from, to []string
	format   string
	quiet    bool
	named    map[string]bool // the files that are arguments
	change   *audit.Change
	report   audit.Report
}

func (a *auditor) run(names []string) error {
	from, err := a.definitions("from", a.from)
	to, more := a.definitions("to", a.to)
	if err := stderrors.Join(err, more); err != nil {
		a.failReading(err)
		return nil
	}
	if !a.readCluster("from", a.from) {
		return nil
	}
	if len(a.from) == 0 {
		from = a.cluster.definitions
	} else if len(a.cluster.definitions) == 0 { // it was forbidden to read them
		a.cluster.definitions = from
	}
	a.change = audit.New(from, to, cel.Rules())
	tallies := map[*audit.Kind]*audit.Tally{}
	for _, k := range a.change.Kinds() {
		tallies[k] = audit.NewTally(k)
		a.report.Kinds = append(a.report.Kinds, tallies[k])
	}
	lists, err := a.openLists()
	if err != nil {
		return err
	}
	if err := a.readAll(slices.Concat(names, lists), tallies); err != nil {
		a.fail(err)
		return nil
	}
	a.warnOfMixed(lists)
	if err := a.print(); err != nil {
		a.fail(fmt.Errorf("writing the output: %w", err))
	}
	return nil
}

// countOf returns how often lists have a text.
func countOf(text string, lists ...[]string) (n int) {
	for _, s := range slices.Concat(lists...) {
		if s == text {
			n++
		}
	}
	return n
}

// openCluster opens the cluster that flags name. If no input is named, all objects of the cluster are
// meant whose definitions change.
func (a *auditor) openCluster(cmd *cobra.Command, args []string) error {
	if c := &a.cluster; c.context != "" && len(c.resources)+len(a.names)+len(args) == 0 {
		c.resources = []string{allResources}
	}
	return a.cluster.open(cmd)
}

// deletes reports whether definitions without a successor are taken for deleted: if --from names them.
// A cluster, or its output on standard input, has those of others as well.
func (a *auditor) deletes() bool { return len(a.from) > 0 && !slices.Contains(a.from, "-") }

// openLists opens the lists of the objects in the cluster.
func (a *auditor) openLists() (names []string, err error) {
	c := &a.cluster
	c.lists = map[string]*cluster.List{}
	for _, resource := range c.resources {
		meant, err := c.named(c.definitions, resource)
		if err != nil {
			return nil, fmt.Errorf("--get %s: %w", resource, err)
		}
		for _, crd := range meant {
			k := a.change.Kind(crd.Group, crd.Kind)
			if resource == allResources && (k == nil || k.Same || k.IsGone()) {
				continue
			}
			name := c.opened.Context + "/" + crd.Name
			if c.lists[name] == nil {
				c.lists[name] = c.opened.List(context.Background(), crd, c.selection)
				names = append(names, name)
			}
		}
	}
	return names, nil
}

// whole leaves out files that are for no objects, or for parts of some.
func (a *auditor) whole(names []string) []string {
	files := layout.Of(names)
	return slices.DeleteFunc(names, func(name string) bool {
		role, _ := files.Role(name)
		return role != layout.Object && role != layout.Step && !a.named[name]
	})
}

// definitions returns the definitions that the arguments of a flag name.
func (a *auditor) definitions(flag string, names []string) (all []*schema.CRD, _ error) {
	var errs []error
	for _, name := range names {
		state, err := schemas.ReadState(name, a.stdin)
		if err != nil {
			errs = append(errs, sanitize.Unjoin(err)...)
			continue
		}
		a.warnOfPatches("--"+flag+": ", state.LeftOut)
		all = append(all, state.Definitions()...)
	}
	if err := schema.NewCatalog().Add(all...); err != nil {
		errs = append(errs, sanitize.Unjoin(err)...)
	}
	for i, err := range errs {
		errs[i] = fmt.Errorf("--%s: %w", flag, err)
	}
	return all, stderrors.Join(errs...)
}

// A partial is what was found in an input.
type partial struct {
	lines                   []byte // of the output
	tallies                 map[*audit.Kind]*audit.Tally
	elsewhere, gone, failed int
	err                     error
}

func (a *auditor) readAll(names []string, to map[*audit.Kind]*audit.Tally) error {
	p := terminal.NewProgress(a.stderr, len(names))
	defer p.Clear()
	workers := make([]auditWorker, a.workers())
	for i := range workers {
		workers[i] = auditWorker{change: a.change, clusterLists: a.cluster.lists, auditor: audit.NewAuditor(), named: a.named, lists: a.format == "ndjson", deletes: a.deletes()}
	}
	return parallel.InOrder(len(workers), slices.Values(names), func(worker int, name string, emit func(*partial) bool) {
		workers[worker].file(name, a.stdin, emit)
	}, func(name string, found *partial) error {
		if len(found.lines) > 0 {
			p.Clear()
			return report.WriteAll(a.stdout, found.lines)
		}
		p.Step()
		if found.err != nil {
			a.fail(found.err)
		}
		a.report.Elsewhere += found.elsewhere
		a.report.Gone += found.gone
		a.report.Failed += found.failed
		for kind, t := range found.tallies {
			to[kind].Merge(t)
		}
		return nil
	})
}

func (a *auditor) print() (err error) {
	var text []byte
	switch a.format {
	case "json":
		if text, err = a.report.JSON(); err != nil {
			return err
		}
	case "markdown":
		text = a.report.Markdown()
	case "ndjson": // was written
	default:
		text = a.report.Text()
	}
	if err := report.WriteAll(a.stdout, text); err != nil {
		return err
	}
	if r := &a.report; r.Objects()+r.Elsewhere+r.Gone+r.Failed == 0 {
		fmt.Fprintln(a.stderr, "warning: no object was read")
	}
	if a.format == "text" && !a.quiet {
		fmt.Fprintln(a.stderr, a.report.Summary())
	}
	if a.report.IsBreaking() {
		a.code = max(a.code, ExitFindings)
	}
	if a.report.Failed > 0 {
		a.code = max(a.code, ExitInput)
	}
	return nil
}

// An auditWorker audits the objects of one input after the other.
type auditWorker struct {
	change  *audit.Change
	auditor *audit.Auditor
	reader  input.Reader
	named   map[string]bool
	// clusterLists are the inputs that are in a cluster. Nobody can look up a line of these.
	clusterLists map[string]*cluster.List
	lists        bool // each effect is a line of the output
	deletes      bool // definitions without a successor are deleted
}

func (w *auditWorker) open(name string, stdin io.Reader) (io.ReadCloser, error) {
	if list := w.clusterLists[name]; list != nil {
		return io.NopCloser(listReader{list}), nil
	}
	return input.Open(name, stdin)
}

// file audits the objects of an input. It emits lines as they come, and at the end what it counted.
func (w *auditWorker) file(name string, stdin io.Reader, emit func(*partial) bool) {
	found := &partial{tallies: map[*audit.Kind]*audit.Tally{}}
	in, err := w.open(name, stdin)
	if err != nil {
		found.err = err
		emit(found)
		return
	}
	defer in.Close()
	if w.clusterLists[name] != nil {
		name = linesOf(name)
	}
	var errs []error
	isEmpty := w.named[name] || name == "-"
	for doc, err := range w.reader.Objects(name, &filled{in, &isEmpty}) {
		toFile := func(p errors.Position) errors.Position { return p }
		if err == nil {
			toFile = doc.Locate
			err = w.object(found, name, &doc)
		}
		if !w.named[name] && isForeign(&doc, err) {
			continue
		}
		if err != nil {
			found.failed++
			if len(errs) < maxAuditErrors {
				errs = append(errs, failure(name, &doc, err, toFile))
			}
		}
		if len(found.lines) > lineBytes {
			if !emit(&partial{lines: found.lines}) {
				return
			}
			found.lines = nil
		}
	}
	if isEmpty {
		errs = append(errs, fmt.Errorf("%s is empty", input.DisplayName(name)))
	}
	found.err = stderrors.Join(errs...)
	lines := found.lines
	found.lines = nil
	if len(lines) > 0 && !emit(&partial{lines: lines}) {
		return
	}
	emit(found)
}

// filled is a reader that says if it has something. kubectl writes at least a List without items: if
// there is nothing at all, it has failed.
type filled struct {
	io.Reader
	isEmpty *bool
}

func (f *filled) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	*f.isEmpty = *f.isEmpty && n == 0
	return n, err
}

// lineBytes is about how many bytes of lines are written at a time.
const lineBytes = 64 << 10

// maxAuditErrors is how many objects of an input are named that cannot be audited.
const maxAuditErrors = 20

// errNoType is the error for a document without a type.
var errNoType = stderrors.New("object has no apiVersion or no kind")

// isForeign reports whether a document in a folder is not meant for Kubernetes, because of which it
// could not be audited.
func isForeign(doc *input.Document, err error) bool {
	if err == nil || len(doc.Text) == 0 {
		return false
	}
	isMapping := bytes.HasPrefix(bytes.TrimLeft(doc.JSON, " \t\r\n"), []byte("{"))
	return err == errNoType || len(doc.JSON) > 0 && !isMapping || !bytes.Contains(doc.Text, []byte("apiVersion"))
}

// failure says why a document could not be audited, and where. toFile turns positions in the error into
// those in the file.
func failure(name string, doc *input.Document, err error, toFile func(errors.Position) errors.Position) error {
	at := doc.Start
	var in errors.Position
	if e, ok := stderrors.AsType[*errors.SyntaxError](err); ok {
		in = e.Position
	} else if e, ok := stderrors.AsType[*errors.ObjectError](err); ok {
		in = e.Position
	} else if e, ok := stderrors.AsType[*errors.TypeError](err); ok && len(e.Findings) > 0 {
		in, err = e.Findings[0].Position, &e.Findings[0]
	}
	text := strings.TrimPrefix(err.Error(), in.String()+": ")
	if in.IsValid() {
		at = toFile(in)
	}
	return fmt.Errorf("%s: %s", finding.Place{File: input.DisplayName(name), At: at}, text)
}

// object audits one object.
func (w *auditWorker) object(to *partial, name string, doc *input.Document) error {
	apiVersion, kind, err := decoder.PeekType(doc.JSON)
	if err != nil {
		return err
	}
	if apiVersion == "" || kind == "" {
		return errNoType
	}
	group, version, ok := strings.Cut(apiVersion, "/")
	k := w.change.Kind(group, kind)
	switch {
	case !ok || k == nil || k.Same:
		to.elsewhere++
		return nil
	case k.IsGone() && !w.deletes:
		to.gone++
		return nil
	}
	list, _ := strings.CutSuffix(name, linesOf(""))
	isListed := w.clusterLists[list] != nil
	uid, _ := locate.Value(doc.JSON, locate.Fields("metadata", "uid"))
	effects, err := w.auditor.Object(k, version, doc.JSON, isListed || len(uid) > len(`""`))
	if err != nil {
		return err
	}
	t := to.tallies[k]
	if t == nil {
		t = audit.NewTally(k)
		to.tallies[k] = t
	}
	of := finding.Identity{APIVersion: apiVersion, Kind: kind}
	of.Namespace, of.Name = locate.ObjectName(doc.JSON)
	place := func(path errors.Path) finding.Place {
		if isListed {
			return finding.Place{File: list}
		}
		return finding.Place{File: input.DisplayName(name), At: placeOf(doc, path)}
	}
	t.Add(of, version, effects, place)
	if !w.lists {
		return nil
	}
	for i := range effects {
		if to.lines, err = audit.AppendLine(to.lines, of, &effects[i], place(effects[i].Path)); err != nil {
			return err
		}
	}
	return nil
}

// placeOf returns where a path leads to in the file, or where the last value on the way does that
// is there.
func placeOf(doc *input.Document, path errors.Path) errors.Position {
	at, depth := locate.Offset(doc.JSON, locate.Keys(audit.Steps(path)))
	if depth == 0 {
		return doc.Start
	}
	count := position.From(doc.JSON, errors.Position{})
	return doc.Locate(count.At(at))
}
