package suppress

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
)

// document returns the first document of a text.
func document(t *testing.T, text string) *input.Document {
	t.Helper()
	var r input.Reader
	for doc, err := range r.Texts("a.yaml", []byte(text)) {
		require.NoError(t, err)
		return &doc
	}
	t.Fatal("there is no document")
	return nil
}

func TestLines(t *testing.T) {
	for text, want := range map[string][]int{
		"a: 1 # espalier:ignore syntax_ -- x":                                                                       nil,
		"a: 1 # espalier:ignore limit -- x":                                                                         nil,
		"a: 1 # espalier:ignore unknown-field -- x":                                                                 {1},
		"a: 1\n# espalier:ignore unknown-field -- x\n\n  # other\n\nb: 2":                                           {6},
		"a: 1\n# espalier:ignore unknown-field -- x\n# espalier:ignore type-mismatch -- x\nb: 2":                    {4, 4},
		"# espalier:ignore unknown-field -- x\ra: 1 # espalier:ignore unknown-field -- y\r\nb: 1":                   {2, 2},
		"a: 1\n# espalier:ignore unknown-field -- x":                                                                {2},
		"a: 1\n# espalier:ignore unknown-field -- x\n# y\n":                                                         {4},
		"a: # espalier:ignore unknown-field -- x\n  - 1 #\tespalier:ignore unknown-field -- x\n":                    {1, 2},
		"a: b# espalier:ignore unknown-field -- x\nc: 'd'\n":                                                        nil,
		"---\n{a: 1, # espalier:ignore unknown-field -- x\nb: 2} # espalier:ignore unknown-field -- x":              {2, 3},
		"--- # espalier:ignore unknown-field -- x\na: 1":                                                            {1},
		"a: \"b\n # espalier:ignore unknown-field -- x\n\" # espalier:ignore unknown-field -- x":                    {3},
		"a: |\n # espalier:ignore unknown-field -- x\n# espalier:ignore unknown-field -- x\nb: 1":                   {4},
		"a: zq000000 # espalier:ignore unknown-field -- such a name is a mark, so that this is taken for a text\n":  nil,
		"a: 1 #espalier:ignore\tunknown-field,type-mismatch,unknown-field\t-- tabs\n":                               nil,
		"a: 1 #espalier:ignore\tunknown-field,type-mismatch,unknown-field -- x\n":                                   {1},
		"a: 1 ## espalier:ignore unknown-field -- x":                                                                {1},
		"a: 1 # yamllint disable-line # espalier:ignore unknown-field -- after a comment of another program":        {1},
		"# b: 1 # espalier:ignore unknown-field -- of a line that is a comment\na: 1":                               nil,
		"a: &x 1 # espalier:ignore unknown-field -- x\nb: *x # espalier:ignore unknown-field -- x":                  {1, 2},
		"\xef\xbb\xbf# espalier:ignore unknown-field -- after a byte order mark, which is before a comment\n\na: 1": {3},
	} {
		found, _ := findComments(document(t, text))
		var lines []int
		for _, c := range found {
			lines = append(lines, c.line)
		}
		assert.Equal(t, want, lines, "%q", text)
	}
}

// TestTexts compares which candidates are texts with another reader of YAML, on random documents.
func TestTexts(t *testing.T) {
	mark := regexp.MustCompile(`m\d+`)
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "- ", "k%d: ", "|\n", ">-\n", "|2\n", "'", "\"", "\n", "\n  ", "\n    ", "# espalier:ignore unknown-field -- m%d\n", " # espalier:ignore unknown-field -- m%d\n",
		" # espalier:ignore unknown-field -- m%d\n", "{", "}", "[", "]", ", ", "? ", "&x ", "*x", "\n---\n", "!!str ", "\\\n"}
	read, comments, texts := 0, 0, 0
	for range 200_000 {
		var b strings.Builder
		for i := range 2 + random.IntN(9) {
			part := parts[random.IntN(len(parts))]
			if strings.Contains(part, "%d") {
				part = fmt.Sprintf(part, i)
			}
			b.WriteString(part)
		}
		text := b.String()
		if strings.Contains(text, "---") {
			continue // one document
		}
		var node yaml.Node
		if yaml.Unmarshal([]byte(text), &node) != nil {
			continue
		}
		var r input.Reader
		for doc, err := range r.Texts("a.yaml", []byte(text)) {
			if err != nil {
				break
			}
			read++
			inScalars := map[string]bool{}
			scalars(&node, func(value string) {
				for _, m := range mark.FindAllString(value, -1) {
					inScalars[m] = true
				}
			})
			found, _ := findComments(&doc)
			for _, c := range found {
				comments++
				assert.False(t, inScalars[mark.FindString(c.reason)], "%q", text)
			}
			texts += len(inScalars)
		}
	}
	t.Logf("%d documents with %d comments, and %d texts like them", read, comments, texts)
	assert.Greater(t, min(comments, texts), 500)
}

// TestMayHaveCandidates asserts that every text of ASCII in which the regular expression finds something
// is given to it, and that texts with other comments are not.
func TestMayHaveCandidates(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	parts := []string{"#", "##", " ", "\t", "espalier", "Espalier", "eSPALIEr", "espalie", ":", "-", "ignore", "\n", "x"}
	with, without := 0, 0
	for range 200_000 {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		switch text := []byte(b.String()); {
		case candidates.Match(text):
			with++
			require.True(t, mayHaveCandidates(text), "%q", text)
		case !mayHaveCandidates(text):
			without++
		}
	}
	assert.Greater(t, with, 100)
	assert.Greater(t, without, 100_000)
	for _, text := range []string{"", "#", "# espalie", "# Source: espalier:ignore\n", "espalier:ignore #", "#\nespalier:ignore"} {
		assert.False(t, mayHaveCandidates([]byte(text)), "%q", text)
	}
}

// scalars visits the texts of a node and of those below it.
func scalars(n *yaml.Node, visit func(string)) {
	if n.Kind == yaml.ScalarNode {
		visit(n.Value)
	}
	for _, c := range n.Content {
		scalars(c, visit)
	}
}

// TestManyComments: comments that follow each other are read once.
func TestManyComments(t *testing.T) {
	text := strings.Repeat("# espalier:ignore unknown-field -- x\n\n", 50_000) + "a: 1"
	found, faults := findComments(document(t, text))
	assert.Empty(t, faults)
	assert.Len(t, found, 50_000)
	assert.True(t, slices.IndexFunc(found, func(c *comment) bool { return c.line != 100_001 }) < 0)
}

// TestNearest: the comment on the line counts first, and the one about the file last.
func TestNearest(t *testing.T) {
	text := "# espalier:ignore-file unknown-field -- file\n# espalier:ignore-document unknown-field -- document\na: 1 # espalier:ignore unknown-field -- line\nb: 2"
	f := (&List{Looks: func(string) bool { return true }}).File("a.yaml")
	at := func(line int) finding.Finding {
		return finding.Finding{Rule: finding.RuleUnknown, At: errors.Position{Line: line, Column: 1}}
	}
	v := &finding.Outcome{Document: 1, Findings: []finding.Finding{at(3), at(4)}}
	assert.Nil(t, f.Object(document(t, text), v))
	require.Len(t, v.Suppressed, 2)
	assert.Equal(t, "line", v.Suppressed[0].Suppression.Reason)
	assert.Equal(t, "document", v.Suppressed[1].Suppression.Reason)
	all := f.End()
	require.Len(t, all, 1)
	assert.Equal(t, "the comment silences nothing: there is no finding of the rule unknown-field in this file", all[0].Findings[0].Message)

	// The next document has no such comment.
	f = (&List{Looks: func(string) bool { return true }}).File("a.yaml")
	f.Object(document(t, text), &finding.Outcome{Document: 1})
	v = &finding.Outcome{Document: 2, Findings: []finding.Finding{at(13)}}
	f.Object(document(t, "x: 1"), v)
	require.Len(t, v.Suppressed, 1)
	assert.Equal(t, "file", v.Suppressed[0].Suppression.Reason)
}

// FuzzComments: reading comments does not panic, and does not take text for one.
func FuzzComments(f *testing.F) {
	corpus.AddSeeds(f)
	f.Add([]byte("a: 1 # espalier:ignore unknown-field -- x"))
	f.Add([]byte("a: |\n  # espalier:ignore-file unknown-field -- x\n# Espalier:IGNORE"))
	f.Add([]byte("#espalier:ignore\r\n \"# espalier:ignore a\": b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var r input.Reader
		for doc, err := range r.Texts("a.yaml", text) {
			if err != nil {
				continue
			}
			found, faults := findComments(&doc)
			assert.LessOrEqual(t, len(found)+len(faults), bytes.Count(doc.Text, []byte("#")))
			for _, c := range found {
				assert.NotEmpty(t, c.reason)
				assert.NotEmpty(t, c.ids)
			}
		}
	})
}
