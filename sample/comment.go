package sample

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
)

// Commented returns an object as [YAML] does, with comments: before each member the description of
// its schema, and what that allows. Rules in CEL are quoted by their messages.
func (m *Maker) Commented(object []byte) ([]byte, error) {
	v, err := parseWhole(object)
	if err != nil {
		return nil, err
	}
	var w yamlWriter
	w.document(v, m.root)
	return w.text, nil
}

// schemaOfMember returns the schema of a member of v, or nil, and whether the schema s of v has it under
// the member's name.
func schemaOfMember(s *schema.Structural, v *value, name string) (below *schema.Structural, isDeclared bool) {
	switch {
	case s == nil:
	case v.kind == '[':
		if s.Items != nil {
			return s.Items.Schema, false
		}
	case s.XEmbeddedResource && (name == "apiVersion" || name == "kind"):
		return nil, true // everybody knows these
	case s.Properties[name] != nil:
		return s.Properties[name], true
	case s.AdditionalProperties != nil:
		return s.AdditionalProperties.Schema, false
	}
	return nil, false
}

// both returns a schema with those under allOf, which hold as well.
func both(s *schema.Structural) []*schema.Structural {
	return append([]*schema.Structural{s}, s.AllOf...)
}

func isRequired(s *schema.Structural, name string) bool {
	return slices.ContainsFunc(both(s), func(s *schema.Structural) bool { return slices.Contains(s.Required, name) })
}

const (
	lineWidth = 76
	// minWidth is the least width of comments, however far they are indented.
	minWidth = 40
	// maxParagraph is how many bytes of a description or of a rule are shown.
	maxParagraph = 400
	// maxPhrase is the length of the longest default, pattern or list of values that is shown.
	maxPhrase = 300
	// maxPhrases is how many of them, and how many rules, are shown.
	maxPhrases = 20
)

// comment writes the comment of a schema, which may be nil.
func (w *yamlWriter) comment(s *schema.Structural, isRequired bool, indent int) {
	if s == nil {
		return
	}
	width := max(lineWidth-indent, minWidth)
	w.wrapped(paragraph(s.Description), indent, width)
	w.wrapped(restrictions(s, isRequired), indent, width)
	for i, rule := range s.XValidations {
		if i == maxPhrases {
			w.wrapped([]string{"rule:", "..."}, indent, width)
			break
		}
		w.wrapped(celRule(rule), indent, width)
	}
}

// wrapped writes words as lines of a comment.
func (w *yamlWriter) wrapped(words []string, indent, width int) {
	for len(words) > 0 {
		w.line(indent)
		w.text = append(w.text, '#')
		room := width - len("#")
		for n := 0; len(words) > 0 && (n == 0 || n+1+utf8.RuneCountInString(words[0]) <= room); words = words[1:] {
			w.text = append(append(w.text, ' '), words[0]...)
			n += 1 + utf8.RuneCountInString(words[0])
		}
		w.text = append(w.text, '\n')
	}
}

// clean makes a text of a definition fit for a comment. What could end the line, or would not be
// visible as itself, is escaped. What template engines take for code is taken apart.
func clean(text string) string {
	quoted := fieldpath.Quoted(text)
	text = unquote.Replace(quoted[1 : len(quoted)-1])
	var b strings.Builder
	for i := range len(text) {
		if i > 0 && slices.Contains(templates, text[i-1:i+1]) {
			b.WriteByte(' ')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// unquote takes back the escapes of what is visible.
var unquote = strings.NewReplacer(`\"`, `"`, `\\`, `\`)

// templates are the signs that separate code from text in the template languages of Go and Helm,
// Jinja, ERB and EJS, and in shells.
var templates = []string{"{{", "}}", "{%", "%}", "{#", "#}", "<%", "%>", "${"}

// paragraph returns the words of the first paragraph of a text, or of the start of it.
func paragraph(text string) []string {
	var words []string
	size := 0
	for line := range strings.SplitSeq(text, "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 && len(words) > 0 || slices.Equal(fields, []string{"---"}) {
			break // below --- are notes of developers
		}
		for _, word := range fields {
			if size += len(word) + 1; size > maxParagraph {
				return append(words, "...")
			}
			words = append(words, clean(word))
		}
	}
	return words
}

// restrictions returns the words that say what a schema allows.
func restrictions(s *schema.Structural, isRequired bool) []string {
	var phrases []string
	if isRequired {
		phrases = append(phrases, "required")
	}
	if p := typePhrase(s); p != "" {
		phrases = append(phrases, p)
	}
	for _, s := range both(s) {
		phrases = append(phrases, boundPhrases(s)...)
	}
	phrases = slices.DeleteFunc(phrases, func(p string) bool { return len(p) > len(matching)+maxPhrase })
	if len(phrases) > maxPhrases {
		phrases = append(phrases[:maxPhrases], "...")
	}
	if text, ok := literal(s.Default); ok && text != "null" {
		phrases = append(phrases, "default "+text)
	}
	if len(phrases) == 1 && (phrases[0] == "string" || phrases[0] == "boolean") {
		return nil // the value shows it
	}
	var words []string
	for i, p := range phrases {
		if i < len(phrases)-1 {
			p += ";"
		}
		if strings.HasPrefix(p, matching) { // a pattern stays in one piece
			words = append(words, strings.SplitN(p, " ", 2)...)
		} else {
			words = append(words, strings.Split(p, " ")...)
		}
	}
	return words
}

// typePhrase says of which type a value is, as far as that is not obvious from the value.
func typePhrase(s *schema.Structural) string {
	text := ""
	switch {
	case len(s.Enum) > 0:
	case s.XIntOrString:
		text = "integer or string"
	case s.Type == "array", s.Type == "object" && s.AdditionalProperties == nil && !preserves(s):
	case s.Type == "object" && preserves(s):
		text = "object with any members"
	case s.Type == "object":
		text = "map"
	case s.Type == "" && preserves(s):
		text = "anything"
	case s.Format != "":
		text = clean(s.Type + " (" + s.Format + ")")
	default:
		text = clean(s.Type)
	}
	switch {
	case !s.Nullable:
	case text == "":
		text = "may be null"
	default:
		text += " or null"
	}
	return text
}

const matching = "matching "

// boundPhrases says which values of its type a schema allows.
func boundPhrases(s *schema.Structural) []string {
	var phrases []string
	add := func(p string) {
		if p != "" {
			phrases = append(phrases, p)
		}
	}
	add(enumPhrase(s.Enum))
	add(counted(s.MinLength, s.MaxLength, "character"))
	add(counted(s.MinItems, s.MaxItems, "element"))
	add(counted(s.MinProperties, s.MaxProperties, "member"))
	add(numbers(s))
	if s.MultipleOf != nil {
		add("a multiple of " + numeral(*s.MultipleOf, false).text)
	}
	switch {
	case s.XListType != nil && *s.XListType == "map":
		add("elements differ in " + clean(strings.Join(s.XListMapKeys, ", ")))
	case s.UniqueItems || s.XListType != nil && *s.XListType == "set":
		add("elements differ")
	}
	switch p := s.Pattern; {
	case p == "":
	case len(p) > maxPhrase || clean(p) != p:
		add("matching a pattern")
	default:
		add(matching + p)
	}
	return phrases
}

func enumPhrase(values []json.RawMessage) string {
	text := ""
	for i, v := range values {
		one, ok := literal(v)
		switch {
		case !ok || len(text)+len(one) > maxPhrase:
			return fmt.Sprintf("one of %d values", len(values))
		case i > 0:
			text += ", "
		}
		text += one
	}
	if text == "" {
		return ""
	}
	return "one of " + text
}

// literal returns a JSON value on one line, if it is short and can be in a comment as it is.
func literal(js []byte) (text string, ok bool) {
	v, err := parse(js)
	if err != nil {
		return "", false
	}
	text = string(v.append(nil))
	return text, len(text) <= maxPhrase && clean(text) == text
}

// counted says how many characters, elements or members there may be.
func counted(least, most *int64, unit string) string {
	plural := func(n int64) string {
		if n == 1 {
			return fmt.Sprintf("%d %s", n, unit)
		}
		return fmt.Sprintf("%d %ss", n, unit)
	}
	switch {
	case most == nil && (least == nil || *least == 0):
		return ""
	case most == nil:
		return "at least " + plural(*least)
	case least == nil || *least == 0:
		return "at most " + plural(*most)
	case *least == *most:
		return "exactly " + plural(*most)
	}
	return fmt.Sprintf("%d to %s", *least, plural(*most))
}

// numbers says between which numbers a value may be.
func numbers(s *schema.Structural) string {
	var bounds []string
	if s.Minimum != nil {
		bounds = append(bounds, map[bool]string{false: "at least ", true: "more than "}[s.ExclusiveMinimum]+numeral(*s.Minimum, false).text)
	}
	if s.Maximum != nil {
		bounds = append(bounds, map[bool]string{false: "at most ", true: "less than "}[s.ExclusiveMaximum]+numeral(*s.Maximum, false).text)
	}
	if len(bounds) == 2 && !s.ExclusiveMinimum && !s.ExclusiveMaximum {
		return numeral(*s.Minimum, false).text + " to " + numeral(*s.Maximum, false).text
	}
	return strings.Join(bounds, " and ")
}

// celRule returns the words for one of x-kubernetes-validations: its message, or the rule itself.
func celRule(js []byte) []string {
	var r struct {
		Rule    string `json:"rule"`
		Message string `json:"message"`
	}
	if err := jsonv2.Unmarshal(js, &r); err != nil {
		return nil
	}
	return append([]string{"rule:"}, paragraph(cmp.Or(r.Message, r.Rule))...)
}
