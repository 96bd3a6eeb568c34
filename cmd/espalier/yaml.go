package main

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"gopkg.in/yaml.v3"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// blockDepth is the depth from which on YAML is written in flow style: the
// indentation of what is deep would be longer than the document.
const blockDepth = 64

// yamlDocument returns a JSON text as a YAML document with its members in the
// same order.
func yamlDocument(js []byte) ([]byte, error) {
	node, err := yamlNode(jsontext.NewDecoder(bytes.NewReader(js)), 0)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(node); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return safeYAML(b.Bytes()), nil
}

func yamlNode(dec *jsontext.Decoder, depth int) (*yaml.Node, error) {
	t, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{', '[':
		n := &yaml.Node{Kind: yaml.MappingNode}
		if t.Kind() == '[' {
			n.Kind = yaml.SequenceNode
		}
		if depth >= blockDepth {
			n.Style = yaml.FlowStyle
		}
		for k := dec.PeekKind(); k != '}' && k != ']'; k = dec.PeekKind() {
			child, err := yamlNode(dec, depth+1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err := dec.ReadToken()
		return n, err
	case '"':
		return yamlString(t.String()), nil
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: t.String()}, nil
	}
}

// yamlString returns a string in the style in which it is read as the same
// string everywhere. What yaml.v3 would leave plain is not always one for the
// Kubernetes API server: yes, 0o7, 1_000.
func yamlString(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case strings.Contains(s, "\n"):
		n.Style = yaml.LiteralStyle
		if !isBlockText(s) {
			n.Style = yaml.DoubleQuotedStyle
		}
	case !isPlainText(s):
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// otherWords are the words that some reader of YAML takes for a boolean, null, a
// merge key or a default value (yaml.org/type).
var otherWords = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null", "<<", "="}

// otherNumbers are what readers of YAML 1.1 take for numbers and times, and the API
// server does not: to the base of 60, with commas, with underscores anywhere, and
// times with spaces.
var otherNumbers = regexp.MustCompile(`^([-+]?(0b[01_]+|0x[0-9a-fA-F_]+|([0-9][0-9_,]*(:[0-5]?[0-9])*(\.[0-9_]*)?|\.[0-9_]+)([eE][-+]?[0-9]+)?)` +
	`|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9:.]+[ \t]*(Z|[-+][0-9:]+)?)$`)

// isPlainText reports whether no reader takes s for anything but a string, as
// far as this is not for yaml.v3 to know.
func isPlainText(s string) bool {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !isSafe(r) }) {
		return false
	}
	if len(s) <= len("false") && slices.Contains(otherWords, strings.ToLower(s)) {
		return false
	}
	if strings.ContainsRune("0123456789+-.~", rune(s[0])) {
		js, err := yamlbridge.AppendJSON(nil, []byte(s))
		if err != nil || len(js) == 0 || js[0] != '"' || otherNumbers.MatchString(s) {
			return false
		}
		text, err := jsontext.AppendUnquote(nil, js)
		return err == nil && string(text) == s
	}
	return true
}

// isBlockText reports whether a text of several lines is the same when it is
// read back from a literal block.
func isBlockText(s string) bool {
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		if strings.TrimRight(line, " \t") != line || strings.ContainsFunc(line, func(r rune) bool { return !isSafe(r) && r != '\t' }) {
			return false
		}
	}
	return !strings.HasPrefix(s, " ") && !strings.HasPrefix(s, "\t") && !strings.HasPrefix(s, "\n")
}
