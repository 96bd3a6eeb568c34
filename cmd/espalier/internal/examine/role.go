package examine

// This file treats documents by what their files are for: templates, settings and parts of objects
// are not whole objects, and many files of a repository have nothing to do with Kubernetes.

import (
	"bytes"
	stderrors "errors"
	"regexp"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/layout"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// start takes up an input.
func (e *Examiner) start(name string) {
	e.file, e.role, e.chart, e.rival = name, layout.Object, "", nil
	e.text, e.objects = nil, unknown
	if e.Layout != nil {
		e.role, e.chart = e.Layout.Role(name)
	}
}

// isFound reports whether the file was found in a folder or by a pattern, and may be of any kind.
func (e *Examiner) isFound() bool { return e.Layout != nil && !e.Named[e.file] }

// mayPass reports whether a document that is no object may be passed over. Where results are
// written, only files without any object are, and none that an argument names.
func (e *Examiner) mayPass(doc *input.Document) bool {
	return e.Layout != nil && (e.Check || e.isOld || e.isFound() && !e.hasObjects(doc))
}

// isTemplate reports whether a file is not examined because it is a template of a chart with
// actions, which may be about several documents.
func (e *Examiner) isTemplate(text []byte) bool {
	return e.role == layout.Template && (e.Check || e.isOld || e.isFound()) && input.HasActions(text)
}

// unreadable examines a document that cannot be read. toFile turns positions in the error into those
// in the file.
func (e *Examiner) unreadable(o *Object, err error, toFile func(errors.Position) errors.Position) {
	isText := stderrors.As(err, new(*errors.SyntaxError)) || stderrors.As(err, new(*errors.LimitError))
	isText = isText && len(o.Doc.Text) > 0
	switch {
	case isText && e.file != "-" && e.mayPass(&o.Doc) && input.IsTemplate(o.Doc.Text):
		o.IsTemplate, o.Chart = true, e.chart
	case isText && e.isForeign(&o.Doc):
		o.NoObject = true
	default:
		e.refuse(o, err, toFile)
		if _, hasLines := input.WithoutActionLines(o.Doc.Text); isText && hasLines && e.Layout != nil {
			o.Findings[len(o.Findings)-1].Message += templateHint(e.file)
		}
	}
}

// templateHint is what to do about a file that has lines of a template, and cannot be read.
func templateHint(file string) string {
	hint := "; it looks like a template: check what it renders to"
	if file != "-" {
		hint += ", and leave out the file with --exclude"
	}
	return hint
}

// isForeign reports whether a document that cannot be read is not one of Kubernetes: no object is
// without an apiVersion.
func (e *Examiner) isForeign(doc *input.Document) bool {
	return e.isFound() && e.mayPass(doc) && !bytes.Contains(doc.Text, []byte("apiVersion")) &&
		(e.isOld || !e.hasObjects(doc))
}

// isNoObject reports whether a document is not meant as an object, by its type as far as it has
// one. With one of apiVersion and kind it is meant as an object if it has metadata; configurations of
// programs may have a kind and a spec, too. Beside objects, nothing else is meant.
func (e *Examiner) isNoObject(o *Object) bool {
	switch {
	case o.APIVersion != "" && o.Kind != "", !e.mayPass(&o.Doc):
		return false
	case e.role == layout.Settings:
		return true
	case o.APIVersion == "" && layout.IsKustomization(e.file):
		return o.Kind == "" || o.Kind == "Kustomization" || o.Kind == "Component"
	case !e.isFound() && e.role != layout.Patch:
		return false
	case string(o.Doc.JSON) == "null": // which kubectl passes over
		return true
	case e.role == layout.Assertion && isTree(o.Doc.JSON):
		return true
	case e.role != layout.Patch && !e.isOld && e.hasObjects(&o.Doc):
		return false
	case o.APIVersion == "" && o.Kind == "":
		return true
	}
	return !locate.Has(o.Doc.JSON, locate.Fields("metadata"))
}

// noObject examines a document that is no object, in which only names can be wrong that repeat.
func (e *Examiner) noObject(o *Object) {
	o.Identity = finding.Identity{}
	o.NoObject = true
	if !e.Check && !e.isOld {
		return
	}
	e.decode(o, e.Anything)
	o.Findings = slices.DeleteFunc(o.Findings, func(f finding.Finding) bool {
		return f.Rule != finding.RuleDuplicate && f.Rule != finding.RuleMore && f.Rule != finding.RuleSyntax && f.Rule != finding.RuleLimit
	})
}

// toolGroups are groups whose kinds configure programs, and which no API server has. Some of these
// programs have definitions of them nevertheless, which come first.
var toolGroups = []string{
	"kustomize.config.k8s.io", "kuttl.dev", "kudo.dev", "chainsaw.kyverno.io", "cli.kyverno.io",
	"kind.x-k8s.io", "kubeadm.k8s.io", "kubelet.config.k8s.io", "kubeproxy.config.k8s.io",
	"kubescheduler.config.k8s.io", "apiserver.config.k8s.io", "audit.k8s.io", "client.authentication.k8s.io",
	"skaffold", "ctlptl.dev",
}

// isOfTool reports whether an object configures a program, and is not for an API server, unless it
// has a schema. A kind that Kubernetes does not have, in one of its groups, is a mistake wherever it
// is, and so is a built-in kind in a group of a tool.
func (e *Examiner) isOfTool(apiVersion, kind string) bool {
	group, _, hasVersion := strings.Cut(apiVersion, "/")
	switch {
	case apiVersion == "v1":
		return kind == "Config" // a kubeconfig
	case e.role == layout.Settings:
		return !hasVersion || !e.NearMiss(apiVersion, kind).Known
	}
	return slices.Contains(toolGroups, group) && (group == "audit.k8s.io" || !e.Release.HasKind(kind))
}

// setPart notes whether the document is a part of an object, in which nothing is missing.
func (e *Examiner) setPart(o *Object) {
	o.Part = e.role == layout.Patch || e.role == layout.Assertion
}

// isMeant reports whether a finding is about something that is right in a part of an object or in
// an object of a test, or about a value that is not there yet.
func (e *Examiner) isMeant(o *Object, f *errors.Finding) bool {
	isPart := e.role == layout.Patch || e.role == layout.Assertion
	switch f.Kind {
	case errors.DuplicateField:
		return false
	case errors.DroppedNull:
		return isPart // it removes the field, or it expects that there is none
	case errors.UnknownField:
		name := locate.LastName(f.Path)
		return e.role == layout.Patch && isDirective(name) || e.role == layout.Assertion && isExpression(name)
	case errors.TypeMismatch:
		if e.role == layout.Assertion && isExpression(locate.LastName(f.Path)) {
			return true
		}
	}
	return e.isOpen(o, int(f.Position.Offset))
}

// isOpen reports whether the value at an offset, or that of the member there, is replaced before an
// object gets to a server.
func (e *Examiner) isOpen(o *Object, at int) bool {
	if e.Layout == nil || at < 0 || at >= len(o.Doc.JSON) {
		return false
	}
	value := valueAt(o.Doc.JSON[at:])
	if e.role == layout.Assertion && isTree(value) {
		return true
	}
	if (e.role == layout.Assertion || e.role == layout.Step) && bytes.HasPrefix(value, []byte(`"(`)) {
		return true
	}
	return value.Kind() == '"' && variable.Match(value)
}

// isTree reports whether a value is compared by the expressions in it (kyverno.github.io/chainsaw,
// Assertion trees), and is no part of an object.
func isTree(value []byte) bool {
	return bytes.HasPrefix(value, []byte(`{"(`)) || bytes.HasPrefix(value, []byte(`{"~`))
}

// variable matches what envsubst replaces, and Flux and clusterctl, too. Other tools replace what
// looks like $(a) or {{a}} within the cluster, after a server has seen it.
var variable = regexp.MustCompile(`\$\{ *[A-Za-z_][A-Za-z0-9_]* *[}:=?#%/,^-]`)

// valueAt returns the value that a text starts with, or that of the member.
func valueAt(js []byte) jsonv2.Value {
	d := locate.NewDecoder(bytes.NewReader(js))
	value, err := d.ReadValue()
	if err != nil {
		return nil
	}
	if after, isMember := bytes.CutPrefix(bytes.TrimLeft(js[len(value):], " \t\r\n"), []byte(":")); isMember {
		value, _ = locate.NewDecoder(bytes.NewReader(after)).ReadValue()
	}
	return value
}

// withoutConsequences removes what follows from values that are not there yet: that rules were not
// evaluated because of them.
func withoutConsequences(found errors.List) errors.List {
	if slices.ContainsFunc(found, func(f errors.Finding) bool {
		return f.Kind == errors.InvalidValue && !finding.IsConsequence(f.Invalid)
	}) {
		return found
	}
	return slices.DeleteFunc(found, func(f errors.Finding) bool { return finding.IsConsequence(f.Invalid) })
}

// isDirective reports whether a name tells how a patch is merged (sig-api-machinery, Strategic Merge
// Patch).
func isDirective(name string) bool {
	return name == "$patch" || name == "$retainKeys" ||
		strings.HasPrefix(name, "$setElementOrder/") || strings.HasPrefix(name, "$deleteFromPrimitiveList/")
}

// isExpression reports whether a key is one of assertion trees (kyverno.github.io/chainsaw,
// Assertion trees): an expression in parentheses, an iteration, or one with a binding.
func isExpression(name string) bool {
	return strings.HasPrefix(name, "(") || strings.HasPrefix(name, "~") || strings.Contains(name, "->")
}

// maxSource is the length of the longest name of a template.
const maxSource = 1 << 10

// sourceOf returns the template that a document was rendered from, as helm template says in a
// comment before the object, or "".
func sourceOf(text []byte) string {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if path, ok := bytes.CutPrefix(line, []byte("# Source: ")); ok && len(path) <= maxSource {
			return string(path)
		}
		if len(line) > 0 && line[0] != '#' && !bytes.HasPrefix(line, []byte("---")) {
			break
		}
	}
	return ""
}
