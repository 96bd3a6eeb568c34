package decoder_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/schema"
)

// adversarialRows is the number of adversarial inputs in the project's table.
const adversarialRows = 104

// TestAdversarial has the adversarial inputs by their numbers. Most are data: the cases under
// testdata/adversarial whose names start with the number. rowTests has what needs code, and
// rowCases what is shown by cases of other topics. All cases go through all ways in and out.
func TestAdversarial(t *testing.T) {
	byRow := make(map[int][]corpus.Case)
	for _, c := range corpus.Load(t, "adversarial/*") {
		require.NotEmpty(t, c.Rows(), "%s: the name must start with the number of its row", c.Name)
		for _, row := range c.Rows() {
			byRow[row] = append(byRow[row], c)
		}
	}
	for row, names := range rowCases {
		byRow[row] = append(byRow[row], corpus.Load(t, names...)...)
	}
	for row := 1; row <= adversarialRows; row++ {
		t.Run(fmt.Sprintf("%03d", row), func(t *testing.T) {
			cases, test := byRow[row], rowTests[row]
			require.True(t, len(cases) > 0 || test != nil, "nothing shows adversarial input %d", row)
			for _, c := range cases {
				checkCase(t, &c)
				t.Run(c.Name+"/entry points", func(t *testing.T) { checkEntryPoints(t, &c) })
			}
			if test != nil {
				t.Run("code", test)
			}
		})
		delete(byRow, row)
	}
	require.Empty(t, byRow, "rows that the table does not have")
}

// rowCases are the cases of other topics that show adversarial inputs.
var rowCases = map[int][]string{
	55: {"kep-2332/07-json-and-properties", "kep-2332/09-json-and-additional-properties"},
	56: {"prune/preserved-array", "prune/preserved-array-items"},
	57: {"prune/additional-properties-true", "prune/additional-properties-false"},
}

// longDocument is the length from which on a document is long. A long document goes through the
// entry points once, and with -short not at all.
const longDocument = 64 << 10

// checkEntryPoints asserts that all entry points give the result and the findings that AppendJSON
// or AppendYAML gives for a case, for the whole document and for one byte at a time. checkCase has
// compared these with the case.
func checkEntryPoints(t *testing.T, c *corpus.Case) {
	isLong := max(len(c.JSON), len(c.YAML)) > longDocument
	if isLong && testing.Short() {
		t.Skip("a long document")
	}
	s, err := schema.Parse(c.Schema)
	require.NoError(t, err)
	for _, semantics := range c.Semantics {
		if isLong && semantics == corpus.KEP {
			continue // there is little difference
		}
		reading := laws.Hardened
		switch semantics {
		case corpus.Server:
			reading = laws.Kubernetes
		case corpus.Storage:
			reading = laws.FromStorage
		}
		subject, err := laws.New(s, semanticsOf(semantics), reading, !c.ValueRoot)
		require.NoError(t, err)
		subject.With(decoder.Limits{ // those of decoders, instead of the laws'
			Findings: decoder.DefaultFindings, FindingBytes: decoder.DefaultFindingBytes, DefaultBytes: decoder.DefaultDefaultBytes,
		})
		if c.KindOptional && semantics == corpus.Server {
			subject.With(decoder.ServerTypedRequests)
		}
		if c.JSON != nil {
			subject.CheckValues(t, c.JSON)
			streams := subject.Streams(t, c.JSON)
			for _, cuts := range allCuts(c.JSON) {
				streams.Check(t, cuts...)
				subject.CheckSequence(t, c.JSON, cuts...)
			}
		}
		for _, src := range [][]byte{c.JSON, c.YAML} {
			if src == nil || isLong && c.JSONOnly {
				continue
			}
			for _, cuts := range allCuts(src) {
				subject.CheckYAML(t, src, cuts...)
				subject.CheckYAMLSequence(t, src, cuts...)
			}
		}
	}
}

// allCuts returns the ways to cut a document: not at all and at every byte. A long document is cut
// into parts that slide through the window of a stream many times.
func allCuts(src []byte) [][]int {
	step := 1
	if len(src) > longDocument {
		step = 4093
	}
	var cuts []int
	for at := 0; at < len(src); at += step {
		cuts = append(cuts, at)
	}
	if step > 1 {
		return [][]int{cuts}
	}
	return [][]int{nil, cuts}
}
