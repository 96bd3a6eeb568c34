package edit

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"sync"
)

// This file recognizes comments that are not for people: template code, and directives for
// other programs. They are not about one field, and are kept when the field beside them is
// removed.

// A comment is a comment in the text, from its # on.
type comment struct {
	line     int
	from, to int
	alone    bool // only dashes precede it on its line
}

func (c comment) text(e *editor) []byte { return e.text[c.from:c.to] }

// templates are the signs that separate code from text in template languages: in Go and Helm,
// Jinja, ERB and EJS, in shells, and at the start of a comment in ytt.
var templates = pattern(`\{\{|\}\}|\{%|%\}|\{#|#\}|<%|%>|\$\{|^#@`)

// directives are comments for programs: name:word or name=word without a space, as for Checkov
// and Trivy; markers such as +kubebuilder and @schema; setters in JSON, as for Flux; the ends
// of a block that a program manages; and comments that start with the name of a program, or
// with a name that ends in an instruction.
var directives = pattern(`^#+[ \t]*(` +
	`[A-Za-z][\w.-]*(:[^\s/:]|=\S)` +
	`|[@+][A-Za-z]` +
	`|\{ *"?\$` +
	`|(BEGIN|END|START|STOP)\b` +
	`|(?i:[\w-]+-(ignore|disable|enable|skip|allow|start|end|begin|on|off)\b)` +
	`|(?i:(actionlint|ansible-lint|checkov|codespell|conftest|cspell|datree|dependabot|endregion|gitleaks|hadolint|kics-scan|kube-linter|kubeconform|kubescape|kubesec|` +
	`lint|noinspection|nolint|noqa|nosec|nosemgrep|nosonar|polaris|pragma|prettier-ignore|region|renovate|semgrep|shellcheck|snyk|sonar|spell-checker|terrascan|tfsec|` +
	`trivy|vim?|yaml-language-server|yamllint|zizmor)\b)` +
	`)`)

// pattern returns a function that compiles a pattern once, when it is needed: most runs of the
// command edit nothing.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// isTemplate reports whether a comment is template code.
func isTemplate(comment []byte) bool { return templates().Match(comment) }

// isCode reports whether a comment is template code or a directive.
func isCode(comment []byte) bool { return isTemplate(comment) || directives().Match(comment) }

// codeComments returns the comments of a YAML document that are template code or directives. A
// comment after other text on its line is about that text, unless it is template code.
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

// scalarTexts returns, in order, the ranges in which a # is text: within quotes and block
// scalars.
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

// blockScalar returns the lines of a block scalar below its head; the next scalar starts at an
// offset.
func (e *editor) blockScalar(at, next int) span {
	head := e.lines.of(at)
	depth := -1 // the indentation of its lines
	last := head
	for i := head + 1; i < e.lines.count() && e.lines.start(i) < next; i++ {
		spaces, rest := e.lines.indent(i)
		if len(rest) == 0 {
			continue
		}
		if depth < 0 {
			depth = spaces
			if explicit := bytes.IndexAny(e.text[at:min(at+3, e.lines.end(head))], "123456789"); explicit >= 0 {
				depth = 1 // at least: the first line may be indented deeper
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

// keepComments collects the comments that are kept in any case.
func (e *editor) keepComments() {
	e.code = e.codeComments()
	e.keep = make([]bool, e.lines.count())
	for _, c := range e.code {
		e.keep[c.line] = c.alone
	}
}

// rescue writes comments anew that follow other text on lines to be removed, and returns the
// offsets of kept comments beside removed text.
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

// codeTexts returns the texts of the comments that are template code or directives, sorted.
func (e *editor) codeTexts() (texts []string) {
	for _, c := range e.codeComments() {
		texts = append(texts, string(c.text(e)))
	}
	slices.Sort(texts)
	return texts
}
