package yamlbridge

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"
)

// parseEscapedJSON returns the tree of a document that yaml.v3 refuses because of
// escapes that JSON has and yaml.v3 has not: \/ and surrogate pairs. It returns
// nil if that is not the cause, or the document is not JSON (RFC 8259). The nodes
// have no line; their column is their offset in text.
func parseEscapedJSON(text []byte, cause error) *yaml.Node {
	if msg := cause.Error(); !strings.HasSuffix(msg, "found unknown escape character") &&
		!strings.HasSuffix(msg, "found invalid Unicode character escape code") {
		return nil
	}
	if !jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)) {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	root := new(yaml.Node)
	open := []*yaml.Node{root}
	for {
		from := int(d.InputOffset())
		t, err := d.ReadToken()
		if err != nil {
			// The text is valid: this is its end.
			return root.Content[0]
		}
		if t.Kind() == '}' || t.Kind() == ']' {
			open = open[:len(open)-1]
			continue
		}
		start := len(text) - len(bytes.TrimLeft(text[from:], " \t\r\n,:"))
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: t.String(), Column: start}
		parent := open[len(open)-1]
		parent.Content = append(parent.Content, n)
		switch t.Kind() {
		case '"':
			n.Style = yaml.DoubleQuotedStyle
		case '{':
			n.Kind = yaml.MappingNode
			open = append(open, n)
		case '[':
			n.Kind = yaml.SequenceNode
			open = append(open, n)
		}
	}
}
