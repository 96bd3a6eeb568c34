package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPlots holds that docs/plots has what bench -plot makes of the tables there are, and no more,
// and that the page shows each plot and says what is in it.
func TestPlots(t *testing.T) {
	page, err := os.ReadFile("../docs/performance.md")
	require.NoError(t, err)
	there, err := filepath.Glob("../docs/plots/*")
	require.NoError(t, err)
	assert.Len(t, there, len(Plots()))
	for _, p := range Plots() {
		want, err := p.SVG("..")
		require.NoError(t, err, p.Name)
		got, err := os.ReadFile("../docs/plots/" + p.Name + ".svg")
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "%s: run bench -plot", p.Name)
		assert.Regexp(t, regexp.MustCompile(`!\[[^\]]{30,}\]\(plots/`+p.Name+`\.svg\)`), string(page))
		for d := xml.NewDecoder(strings.NewReader(string(want))); err == nil; {
			_, err = d.Token()
		}
		assert.ErrorIs(t, err, io.EOF, p.Name)
	}
}

// TestPlot draws a table with figures, ranges and cells that are no figures.
func TestPlot(t *testing.T) {
	root := t.TempDir()
	table := "# A\n\n| work | a | b |\n|---|--:|---|\n| `x` <y | **2.0** | 0.2 to 0.5 |\n| z | 10 | none |\n\n# B\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.md"), []byte(table), 0o666))
	p := Plot{From: "a.md", Section: "A", Unit: "times"}
	svg, err := p.SVG(root)
	require.NoError(t, err)
	var bars []string
	for _, m := range regexp.MustCompile(`<rect class="(\w+)" x="([\d.]+)" y="\d+" width="([\d.]+)"`).FindAllStringSubmatch(string(svg), -1) {
		bars = append(bars, strings.Join(m[1:], " "))
	}
	// From 0.2 at 31 to 10 at 644; 1 is at 283.2.
	assert.Equal(t, []string{"bar 283.2 108.6", "bar 174.6 108.6", "rest 31 143.6", "bar 283.2 360.8"}, bars)
	assert.Contains(t, string(svg), ">x &lt;y</text>")

	p.Section = "B"
	_, err = p.SVG(root)
	assert.ErrorContains(t, err, `no table in section "B"`)
	p.Section = "C"
	_, err = p.SVG(root)
	assert.ErrorContains(t, err, `no section "C"`)
	p.Section, p.Rows = "A", "q"
	_, err = p.SVG(root)
	assert.ErrorContains(t, err, "no figures")
}

func TestCPUSlug(t *testing.T) {
	for model, want := range map[string]string{
		"Intel(R) Xeon(R) Processor": "intel-xeon",
		"AMD EPYC":                   "amd-epyc",
		"Intel(R) Core(TM) i7-8700K CPU @ 3.70GHz": "intel-core-i7-8700k",
		"": "unknown",
	} {
		assert.Equal(t, want, cpuSlug(model))
	}
}
