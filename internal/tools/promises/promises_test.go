package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseTests(t *testing.T) {
	tests, err := parseTests("`decoder.TestAdversarial/009` to `011`, `033`, `schema/validation.FuzzCRD`, `decoder.TestCases/regress/018-x`")
	require.NoError(t, err)
	assert.Equal(t, []test{
		{"decoder", "^TestAdversarial$/^009"}, {"decoder", "^TestAdversarial$/^010"}, {"decoder", "^TestAdversarial$/^011"},
		{"decoder", "^TestAdversarial$/^033"}, {"schema/validation", "^FuzzCRD$"}, {"decoder", "^TestCases$/^regress/018-x"},
	}, tests)
	for _, cell := range []string{"", "none", "`001`", "`decoder.Helper`", "`decoder.TestX` and `more`"} {
		_, err := parseTests(cell)
		assert.Error(t, err, cell)
	}
}

func TestPromisesOf(t *testing.T) {
	lines := []string{"| a | test |\n", "| --- | --- |\n", "| 1 | 2 |\n", "\n", "| a | test | checks |\n", "| --- | --- | --: |\n", "| 1 | 2 | 3 |\n", "x\n", "| 1 | 2 | 3 |\n"}
	assert.Equal(t, []int{6}, promisesOf(lines))
	assert.Equal(t, []string{"1", "2", "3"}, cellsOf(lines[6]))
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int]string{0: "0", 99: "99", 199: "190", 418911: "410 000", 1000: "1 000", 1234567: "1 200 000"} {
		text := formatNumber(roundDown(n))
		assert.Equal(t, want, text)
		back, err := parseNumber(text)
		require.NoError(t, err)
		assert.Equal(t, roundDown(n), back)
	}
}

// TestCount counts the checks of a test of which they are known.
func TestCount(t *testing.T) {
	c := &counter{root: "../..", dir: t.TempDir(), binaries: map[string]string{}}
	n, err := c.count([]test{{"tools/promises/testdata/counted", "^TestThree$"}, {"tools/promises/testdata/counted", "^TestNested$/^b$"}})
	require.NoError(t, err)
	assert.Equal(t, 3+1, n)
	_, err = c.count([]test{{"tools/promises/testdata/counted", "^TestNone$"}})
	assert.ErrorContains(t, err, "has no test")
}
