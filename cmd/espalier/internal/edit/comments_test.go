package edit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestCode: comments for programs, and comments for people.
func TestCode(t *testing.T) {
	for _, code := range []string{
		"# {{- if .Values.x }}", "#{{ end }}", "# text {% if x %}", "# <% x %>", "# <%= x %>", "# ${NAME}", "#@ if x:", "#@overlay/match missing_ok=True",
		"# yamllint disable rule:line-length", "# yamllint enable", "# noqa", "# NOQA: E501", "# kics-scan ignore-block", "# checkov:skip=CKV_K8S_8: why", "# checkov:skip=CKV1",
		"# trivy:ignore:AVD-1", "# prettier-ignore", "# prettier-ignore-start", "# renovate: datasource=docker depName=x", "# yaml-language-server: $schema=x.json",
		"# +kubebuilder:scaffold:x", "# @schema", "#+x", `# {"$imagepolicy": "flux-system:app"}`, "# BEGIN ANSIBLE MANAGED BLOCK", "# END x", "# kpt-merge:x/y", "# nosemgrep",
		"# zizmor: ignore[x]", "# x-release-please-start-version", "# markdownlint-disable", "## yamllint disable", "# cspell:disable",
	} {
		assert.True(t, isCode([]byte(code)), code)
	}
	for _, prose := range []string{
		"# The colour.", "#", "# ", "# TODO: mend this", "# Note: see http://example.com/a=b", "# http://example.com", "# https://x.y/z:80", "# e.g. a: b", "# 12:30", "# on or off",
		"# ----", "# 100%", "# beginning", "# endings", "# (a=b)", "# $5", "# Ignore this", "# a { b }", "# start of it",
	} {
		assert.False(t, isCode([]byte(prose)), prose)
	}
}

// TestKeptComments: template code and directives are kept when a field is removed, and are
// returned.
func TestKeptComments(t *testing.T) {
	for _, test := range []struct {
		text, want string
		kept       []string
	}{
		{"# noqa\nx: 1\na: 1\n", "# noqa\na: 1\n", []string{"# noqa"}},
		{"# about x\n# {{ if }}\n# more\nx: 1\n# {{ end }}\na: 1\n", "# {{ if }}\n# {{ end }}\na: 1\n", []string{"# {{ if }}"}},
		{"# {{ if }}\n\nx: 1\na: 1\n", "# {{ if }}\n\na: 1\n", nil},
		{"a: 1\nx: 1 # {{ end }}\n", "a: 1\n# {{ end }}\n", []string{"# {{ end }}"}},
		{"a:\n  x: 1\t# {{ end }}\n  b: 1\n", "a:\n  # {{ end }}\n  b: 1\n", []string{"# {{ end }}"}},
		{"a: 1\nx: 1 # noqa\n", "a: 1\n", nil},
		{"a: 1\nx:\n  b: 1\n  # {{ end }}\n    # below\nc: 1\n", "a: 1\n# {{ end }}\nc: 1\n", []string{"# {{ end }}"}},
		{"a:\n  # {{ if }}\n  x: 1\n  # {{ end }}\nb: 1\n", "a: {}\n  # {{ if }}\n  # {{ end }}\nb: 1\n", []string{"# {{ if }}"}},
		{"a:\n- x: 1\n  # noqa\n  x2: 1\n- b\n", "a:\n- {}\n  # noqa\n- b\n", []string{"# noqa"}},
		{"a:\n- x:\n    # {{ if }}\n    c: 1\n  b: 1\n", "a:\n- # {{ if }}\n  b: 1\n", []string{"# {{ if }}"}},
		{"a: {\n  # {{ if }}\n  x: 1,\n  b: 1\n}\n", "a: {\n  # {{ if }}\n  b: 1\n}\n", []string{"# {{ if }}"}},
		{"# {{ if }}\r\nx: 1 # {{ end }}\r\na: 1\r\n", "# {{ if }}\r\n# {{ end }}\r\na: 1\r\n", []string{"# {{ if }}\r", "# {{ end }}\r"}},
		{"a: {b: 1, x: 1, # {{ if }}\n c: 1}\n", "a: {b: 1, # {{ if }}\n c: 1}\n", nil},
		// It could become text.
		{"a:\n  b: |\n    c\n  x:\n    - d\n    # {{ end }}\n", "a:\n  b: |\n    c\n  # {{ end }}\n", []string{"# {{ end }}"}},
		// What is text is none.
		{"x: |\n  # {{ if }}\n\n   # {{ end }}\na: 1\n", "a: 1\n", nil},
		{"x: >2\n    a\n  # {{ if }}\na: 1\n", "a: 1\n", nil},
		{"x: \"\n  # {{ if }}\"\nx2: 'a\n  # {{'\na: 1\n", "a: 1\n", nil},
		{"x: a#{{b}}\na: 1\n", "a: 1\n", nil},
		{"x: |\n# {{ if }}\na: 1\n", "# {{ if }}\na: 1\n", nil},
	} {
		got, kept, err := removeX(t, test.text)
		assert.NoError(t, err, test.text)
		assert.Equal(t, test.want, got, test.text)
		assert.Equal(t, test.kept, kept, test.text)
	}
	for _, text := range []string{"a: {x: 1 # {{ if }}\n}\n", "- x: 1 # {{ if }}\n- b\n"} {
		got, _, err := removeX(t, text)
		assert.Equal(t, errComment, err, text)
		assert.Equal(t, text, got)
	}
}

// TestCommentsGenerated: whatever goes, comments of templates are as many as before, in
// their order.
func TestCommentsGenerated(t *testing.T) {
	edited := 0
	for seed := range uint64(2_000) {
		w := writer{Rand: rand.New(rand.NewPCG(seed, 7))}
		b, _ := w.block("", 4, false)
		n := 0
		var lines, want []string
		for _, line := range b.whole {
			// Of the comments some become code, which say which they are. What is below a
			// block scalar may be its text.
			for _, words := range []string{"# alone", "# above", "# at the end", "# an element"} {
				if strings.TrimLeft(line, " ") == words && w.chance(50) {
					n++
					line = strings.Replace(line, words, fmt.Sprintf("# {{ c%d }}", n), 1)
					want = append(want, fmt.Sprintf("# {{ c%d }}", n))
				}
			}
			lines = append(lines, line)
		}
		text := []byte(strings.Join(lines, "\n") + "\n")
		js, err := yamlbridge.AppendJSON(nil, text)
		require.NoError(t, err, "seed %d:\n%s", seed, text)
		edits, kept, err := YAML(text, xNames(js))
		if err != nil {
			require.Equal(t, errComment, err, "seed %d:\n%s", seed, text)
			continue
		}
		if n > 0 && len(edits) > 0 {
			edited++
		}
		require.True(t, slices.IsSorted(kept))
		var got []string
		for line := range strings.SplitSeq(string(Apply(text, edits)), "\n") {
			if i := strings.Index(line, "# {{ c"); i >= 0 {
				got = append(got, line[i:])
			}
		}
		require.Equal(t, want, got, "seed %d:\n%s", seed, text)
	}
	assert.Greater(t, edited, 500)
}
