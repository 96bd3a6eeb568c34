package edit

import (
	"bytes"
	"slices"

	"gopkg.in/yaml.v3"
)

// rewrite removes members from the tree of a YAML document and returns the
// document anew, with its comments, directives and markers. names are offsets in
// json, the JSON form of the document. What it returns is to be checked: yaml.v3
// reads YAML in its own way.
func rewrite(text, json []byte, names []int) (anew []byte, ok bool) {
	defer func() {
		// yaml.v3 has panicked before, on documents that others read.
		if recover() != nil {
			anew, ok = nil, false
		}
	}()
	crlf := bytes.Contains(text, []byte("\r\n"))
	if crlf {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	head, body, tail := frame(text)
	var doc yaml.Node
	if err := yaml.Unmarshal(body, &doc); err != nil || len(doc.Content) != 1 {
		return nil, false
	}
	names = slices.Sorted(slices.Values(names))
	r := rewriter{json: json, names: names}
	root, err := r.node(doc.Content[0], 0, len(json))
	if err != nil {
		return nil, false
	}
	present := map[*yaml.Node]bool{}
	doc.Content[0] = defineAnchors(root, present)
	var b bytes.Buffer
	b.Write(head)
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if enc.Encode(&doc) != nil || enc.Close() != nil {
		return nil, false
	}
	b.Write(tail)
	if crlf {
		return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r\n")), true
	}
	return b.Bytes(), true
}

// frame cuts a document into what yaml.v3 does not write again, which is all up
// to --- and from ... on, and what is between.
func frame(text []byte) (head, body, tail []byte) {
	l := newLines(text)
	find := func(marker string) int {
		return slices.IndexFunc(l.starts[:l.count()], func(at int) bool {
			rest, ok := bytes.CutPrefix(text[at:], []byte(marker))
			return ok && (len(rest) == 0 || isSpace(rest[0]))
		})
	}
	from, to := l.start(0), len(text)
	if i := find("..."); i >= 0 {
		to = l.start(i)
	}
	i := find("---")
	if i < 0 {
		return text[:from], text[from:to], text[to:]
	}
	from = l.start(i) + len("---")
	if behind := skipSpace(text[:l.end(i)], from); behind == l.end(i) {
		return text[:l.start(i+1)], text[l.start(i+1):to], text[to:]
	}
	return append(bytes.Clone(text[:from]), '\n'), text[from:to], text[to:]
}

// A rewriter walks a tree together with the JSON that was made of it.
type rewriter struct {
	json  []byte
	names []int // of the members that go, sorted
}

// node returns the node that json[from:to] was made of, without the members.
func (r *rewriter) node(n *yaml.Node, from, to int) (*yaml.Node, error) {
	if !touches(r.names, from, to) {
		return n, nil
	}
	dec := newDecoder(r.json[from:to])
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	next := func() (start, end int, err error) {
		start = tokenStart(r.json, from+int(dec.InputOffset()))
		err = dec.SkipValue()
		return start, from + int(dec.InputOffset()), err
	}
	switch {
	case n.Kind == yaml.SequenceNode && r.json[from] == '[':
		for i, child := range n.Content {
			start, end, err := next()
			if err != nil {
				return nil, err
			}
			if n.Content[i], err = r.node(child, start, end); err != nil {
				return nil, err
			}
		}
		return n, nil
	case n.Kind == yaml.MappingNode && r.json[from] == '{':
		var members []namedMember
		for dec.PeekKind() == '"' {
			name, nameEnd, err := next()
			if err != nil {
				return nil, err
			}
			value, end, err := next()
			if err != nil {
				return nil, err
			}
			members = append(members, namedMember{member{name, value, end, touches(r.names, name, name+1)}, nameEnd})
		}
		return n, r.mapping(n, members)
	default:
		// An alias: here, it is to be replaced by what it stands for.
		return r.fresh(from, to)
	}
}

// A namedMember is a member with the offset of the end of its name.
type namedMember struct {
	member
	nameEnd int
}

// mapping removes members from a mapping. They are in the order of the text, and
// behind them come those of merge keys.
func (r *rewriter) mapping(n *yaml.Node, members []namedMember) error {
	own := 0
	for i := 0; i < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			own++
		}
	}
	if own > len(members) {
		return errFailed
	}
	merged := members[own:]
	mergedTouched := len(merged) > 0 && touches(r.names, merged[0].name, merged[len(merged)-1].end)
	var content []*yaml.Node
	orphan := "" // a comment below what is gone
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if isMerge(key) {
			if mergedTouched {
				continue
			}
		} else {
			m := members[0]
			members = members[1:]
			if m.gone {
				orphan = joinComments(orphan, key.FootComment)
				continue
			}
			var err error
			if value, err = r.node(value, m.value, m.end); err != nil {
				return err
			}
		}
		key.HeadComment = joinComments(orphan, key.HeadComment)
		orphan = ""
		content = append(content, key, value)
	}
	if mergedTouched {
		for _, m := range merged {
			if m.gone {
				continue
			}
			key, err := r.fresh(m.name, m.nameEnd)
			if err != nil {
				return err
			}
			value, err := r.fresh(m.value, m.end)
			if err != nil {
				return err
			}
			content = append(content, key, value)
		}
	}
	if len(content) > 0 {
		last := content[len(content)-2]
		last.FootComment = joinComments(last.FootComment, orphan)
	}
	n.Content = content
	return nil
}

func joinComments(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}

func isMerge(key *yaml.Node) bool { return key.Kind == yaml.ScalarNode && key.Tag == "!!merge" }

// fresh returns a node for json[from:to] without the members.
func (r *rewriter) fresh(from, to int) (*yaml.Node, error) {
	var within []int
	for _, at := range r.names {
		if from <= at && at < to {
			within = append(within, at-from)
		}
	}
	_, text, err := without(r.json[from:to], within)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil || len(doc.Content) != 1 {
		return nil, errFailed
	}
	return doc.Content[0], nil
}

// defineAnchors puts nodes that aliases refer to and that are gone into the place
// of the first of these aliases.
func defineAnchors(n *yaml.Node, present map[*yaml.Node]bool) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		if present[n.Alias] {
			return n
		}
		alias := n
		n = alias.Alias
		n.HeadComment, n.LineComment, n.FootComment = alias.HeadComment, alias.LineComment, alias.FootComment
		if len(n.Content) > 0 && n.Style&yaml.FlowStyle == 0 {
			// There is nothing else on its line.
			n.Content[0].HeadComment = joinComments(alias.LineComment, n.Content[0].HeadComment)
		}
	}
	if present[n] {
		return &yaml.Node{Kind: yaml.AliasNode, Value: n.Anchor, Alias: n}
	}
	present[n] = true
	for i, child := range n.Content {
		if child.Kind == yaml.ScalarNode && child.Tag == "!!merge" {
			child.Tag = "" // which yaml.v3 would write
		}
		n.Content[i] = defineAnchors(child, present)
	}
	return n
}
