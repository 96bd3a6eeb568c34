package edit

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
)

// This file knows the comments that are not for people: what a template makes of them, or
// what they tell another program, is not about one field. They stay where the field that
// they stand by goes.

// A comment is one in the text, from its # on.
type comment struct {
	line     int
	from, to int
	alone    bool // there is nothing before it on its line, but for dashes
}

func (c comment) text(e *editor) []byte { return e.text[c.from:c.to] }

// templates are the signs by which template languages tell their code from text: of Go and
// Helm, Jinja, ERB and EJS, of shells; and of ytt at the start of a comment.
var templates = regexp.MustCompile(`\{\{|\}\}|\{%|%\}|\{#|#\}|<%|%>|\$\{|^#@`)

// directives are comments that tell a program something: name:word or name=word without
// a space, as for Checkov and Trivy; markers such as +kubebuilder and @schema; setters in
// JSON, as for Flux; the ends of a block that a program manages; and what starts with the
// name of a program, or with one that ends in what it is to do.
var directives = regexp.MustCompile(`^#+[ \t]*(` +
	`[A-Za-z][\w.-]*(:[^\s/:]|=\S)` +
	`|[@+][A-Za-z]` +
	`|\{ *"?\$` +
	`|(BEGIN|END|START|STOP)\b` +
	`|(?i:[\w-]+-(ignore|disable|enable|skip|allow|start|end|begin|on|off)\b)` +
	`|(?i:(actionlint|ansible-lint|checkov|codespell|conftest|cspell|datree|dependabot|endregion|gitleaks|hadolint|kics-scan|kube-linter|kubeconform|kubescape|kubesec|` +
	`lint|noinspection|nolint|noqa|nosec|nosemgrep|nosonar|polaris|pragma|prettier-ignore|region|renovate|semgrep|shellcheck|snyk|sonar|spell-checker|terrascan|tfsec|` +
	`trivy|vim?|yaml-language-server|yamllint|zizmor)\b)` +
	`)`)

// isTemplate reports whether a comment is code of a template.
func isTemplate(comment []byte) bool { return templates.Match(comment) }

// isCode reports whether a comment is code of a template or a directive.
func isCode(comment []byte) bool { return isTemplate(comment) || directives.Match(comment) }

// codeComments returns the comments of a YAML document that are code: of those behind
// something on their lines, which is then what they are about, only those of templates.
func (e *editor) codeComments() (found []comment) {
	if bytes.IndexByte(e.text, '#') < 0 {
		return nil
	}
	texts := e.scalarTexts()
	for line := range e.lines.count() {
		start, end := e.lines.start(line), e.lines.end(line)
		for at := start; at < end; at++ {
			for len(texts) > 0 && texts[0].end <= at {
				texts = texts[1:]
			}
			if len(texts) > 0 && texts[0].start <= at {
				at = min(texts[0].end, end) - 1
				continue
			}
			if e.text[at] != '#' || at > start && !isSpace(e.text[at-1]) {
				continue
			}
			c := comment{line, at, end, isBlank(bytes.TrimLeft(e.text[start:at], "- "))}
			if isTemplate(c.text(e)) || c.alone && isCode(c.text(e)) {
				found = append(found, c)
			}
			break
		}
	}
	return found
}

// scalarTexts returns where a # is text: in quotes and in block scalars, in their order.
func (e *editor) scalarTexts() (texts []span) {
	var starts []int
	dec := newDecoder(e.json)
	for kind := dec.PeekKind(); kind != 0; kind = dec.PeekKind() {
		if kind == '"' {
			if at := e.at(tokenStart(e.json, int(dec.InputOffset()))); at >= 0 {
				starts = append(starts, skipProperties(e.text, at))
			}
		}
		if _, err := dec.ReadToken(); err != nil {
			break
		}
	}
	slices.Sort(starts)
	for i, at := range starts {
		if at == len(e.text) {
			break
		}
		switch e.text[at] {
		case '"', '\'':
			texts = append(texts, span{start: at, end: endOfQuotes(e.text, at)})
		case '|', '>':
			next := len(e.text)
			if i+1 < len(starts) {
				next = starts[i+1]
			}
			texts = append(texts, e.blockScalar(at, next))
		}
	}
	slices.SortFunc(texts, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return texts
}

// blockScalar returns the lines below the head of a block scalar that belong to it; the
// next scalar starts at an offset.
func (e *editor) blockScalar(at, next int) span {
	head := e.lines.of(at)
	depth := -1 // of its lines
	last := head
	for i := head + 1; i < e.lines.count() && e.lines.start(i) < next; i++ {
		spaces, rest := e.lines.indent(i)
		if len(rest) == 0 {
			continue
		}
		if depth < 0 {
			depth = spaces
			if explicit := bytes.IndexAny(e.text[at:min(at+3, e.lines.end(head))], "123456789"); explicit >= 0 {
				depth = 1 // at least: its first line may be deeper
			}
		}
		if spaces < depth || i+1 < e.lines.count() && e.lines.start(i+1) > next {
			break
		}
		last = i
	}
	if last == head {
		return span{start: e.lines.end(head), end: e.lines.end(head)}
	}
	return span{start: e.lines.start(head + 1), end: e.lines.end(last)}
}

// keepComments notes the comments that stay, whatever goes.
func (e *editor) keepComments() {
	e.code = e.codeComments()
	e.keep = make([]bool, e.lines.count())
	for _, c := range e.code {
		e.keep[c.line] = c.alone
	}
}

// rescue writes comments anew that stand behind something on lines that are gone, and
// returns where the comments stood by what is gone.
func (e *editor) rescue() (kept []int) {
	for _, c := range e.code {
		switch {
		case c.alone && e.spared[c.line]:
		case !c.alone && e.gone[c.line]:
			start := e.lines.start(c.line)
			spaces, _ := e.lines.indent(c.line)
			text := string(e.text[start:start+spaces]) + string(c.text(e)) + e.lineBreak()
			e.edits = append(e.edits, Edit{start, start, text})
		default:
			continue
		}
		kept = append(kept, c.from)
	}
	return kept
}

// codeTexts returns what is in the comments that are code, sorted.
func (e *editor) codeTexts() (texts []string) {
	for _, c := range e.codeComments() {
		texts = append(texts, string(c.text(e)))
	}
	slices.Sort(texts)
	return texts
}
