package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// maxCaseBytes leaves out documents that are hostile by their length. The limits are not part of
// the specification.
const maxCaseBytes = 32 << 10

// TestCases holds the specification against the cases under testdata.
func TestCases(t *testing.T) {
	checked := 0
	for _, c := range corpus.Load(t, "*/*") {
		for _, semantics := range c.Semantics {
			failure := c.Failure(semantics)
			isServer := semantics == corpus.Server || semantics == corpus.Storage
			if max(len(c.JSON), len(c.YAML)) > maxCaseBytes ||
				failure != nil && failure.Kind != "type" || isServer && c.JSON == nil {
				continue
			}
			t.Run(c.Name+"/"+semantics, func(t *testing.T) { checkCase(t, &c, semantics) })
			checked++
		}
	}
	assert.Greater(t, checked, 200)
}

func checkCase(t *testing.T, c *corpus.Case, name string) {
	semantics, mode := schema.Deployed, AsSent
	switch name {
	case corpus.KEP:
		semantics = schema.KEP
	case corpus.Server:
		mode = Requests
	case corpus.Storage:
		mode = Stored
	}
	s, err := schema.Parse(c.Schema)
	require.NoError(t, err)
	text, form := c.JSON, "json"
	if text == nil {
		form = "yaml"
		text, err = yamlbridge.AppendJSON(nil, c.YAML)
		require.NoError(t, err)
	}
	document, err := Parse(text)
	require.NoError(t, err)
	before := Text(document)
	r := NewRules(s, semantics, !c.ValueRoot).In(mode)
	result, found, ok := r.Decode(document)
	assert.Equal(t, string(before), string(Text(document)), "the document was changed")

	if failure := c.Failure(name); failure != nil {
		assert.False(t, ok)
		return
	}
	require.True(t, ok, "%v", found)
	want, _ := c.Want(name)
	wanted, err := Parse(want)
	require.NoError(t, err)
	assert.Equal(t, string(inOrder(wanted)), string(inOrder(result)))
	lines, ok := c.Findings(name, form)
	if !ok || mode != AsSent { // which have other texts
		return
	}
	var texts []string
	for i := range found {
		texts = append(texts, found[i].Error())
	}
	for i, line := range lines {
		_, lines[i], _ = strings.Cut(line, ": ")            // without the place,
		lines[i], _, _ = strings.Cut(lines[i], `", first `) // those before,
		lines[i], _, _ = strings.Cut(lines[i], `", did `)   // and suggestions
		if !strings.HasSuffix(lines[i], `"`) {
			lines[i] += `"`
		}
	}
	assert.Equal(t, strings.Join(lines, "\n"), strings.Join(texts, "\n"))
}
