package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
)

// hostile is a text that ends a line and makes others, of workflow commands, of TAP and of
// diffs, changes a terminal by C0 and C1 controls, reorders and hides what is beside it.
const hostile = "x\n::error file=FORGED::y\r\n::add-mask::FORGED\nnot ok FORGED\nFORGED\x1b]0;t\a\x1b[31m\u009b31m\u0085FORGED\u2028FORGED\u2029FORGED" +
	"\u202e\u2066\u200b\u200d\u2060\ufeff\u00ad\x7f\U000e0041</testcase>%0A]]>"

// forged returns why a text must not be written to a terminal or a log, or "".
func forged(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		for _, start := range []string{"::error file=FORGED", "::add-mask", "not ok FORGED", "FORGED"} {
			if strings.HasPrefix(strings.TrimSpace(line), start) {
				return "the line " + strconv.Quote(line)
			}
		}
		for i, r := range line {
			if r == utf8.RuneError && !strings.HasPrefix(line[i:], "\uFFFD") || !sanitize.IsSafe(r) && r != '\t' {
				return fmt.Sprintf("%U in %q", r, line)
			}
		}
	}
	return ""
}

// TestForeignTexts has hostile texts from every source, and wants none of them raw in any
// output.
func TestForeignTexts(t *testing.T) {
	quoted, err := json.Marshal(hostile)
	require.NoError(t, err)
	h := string(quoted)
	schema := `{"type": "object", "properties": {` + h + `: {"type": "string", "description": ` + h + `, "default": ` + h + `}, "m": {"type": "object", "additionalProperties": {"type": "integer"}}, "n": {"type": "integer"}}}`
	definition := func(schema string) string {
		return `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": ` + h + `}, "spec": {"group": "ex.io", "scope": ` + h +
			`, "names": {"kind": "Widget", "plural": ` + h + `, "singular": ` + h + `}, "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": ` + schema + `}}]}}`
	}
	object := `{"apiVersion": "ex.io/v1", "kind": "Widget", "metadata": {"name": ` + h + `, "namespace": ` + h + `, ` + h + `: 1, "creationTimestamp": ` + h + `},
		"n": ` + h + `, "m": {` + h + `: ` + h + `}, "u": {` + h + `: 1}, ` + h + `: 1, ` + h + `: 2}`
	kind := func(group string) string {
		return `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"group": "` + group + h[1:] + `, "names": {"kind": ` + h + `}, "versions": [
			{"name": "v1", "served": true, "schema": {"openAPIV3Schema": {"description": ` + h + `, "type": "object", "required": [` + h + `], "x-kubernetes-validations": [{"rule": ` + h + `}],
			"properties": {` + h + `: {"description": ` + h + `, "type": "string", "enum": [` + h + `], "pattern": ` + h + `, "not": {"pattern": ` + h + `}}}}}},
			{"name": "v2", "served": false}]}}`
	}
	loose := `{"apiVersion": "ex.io/v1", "kind": "Widget", "metadata": {"name": ` + h + `, ` + h + `: 1}, "u": {` + h + `: 1}, ` + h + `: "1", ` + h + `: ` + h + `}`
	name := strings.ReplaceAll(hostile, "/", "_")
	t.Chdir(write(t, map[string]string{
		"crd/crd.json":             definition(schema),
		"object.json":              object,
		"loose.json":               loose,
		name + ".json":             loose,
		"bad/" + name + ".json":    definition(`{"type": "object", "x": 1, ` + h + `: 1, "required": [` + h + `], "properties": {` + h + `: {"type": ` + h + `, "pattern": ` + h + `, "format": ` + h + `}}}`),
		"types/object.json":        `{"apiVersion": ` + h + `, "kind": ` + h + `, "metadata": {"name": ` + h + `}}` + h,
		"broken/" + name + ".crd":  `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"versions": ` + h + `}}`,
		"kinds/" + name + ".json":  kind("x"),
		"kinds/y.json":             kind("y"),
		"alone.json":               `{"type": "object", ` + h + `: 1, "properties": {` + h + `: {"type": ` + h + `}}}`,
		"syntax/" + name + ".yaml": "a: [" + strings.ReplaceAll(h, `\n`, ``),
		"config.yaml":              `{crd: [crd], validate: ` + h + `}`,
		"unknown.yaml":             `{` + h + `: 1}`,
		"away.yaml":                `{crd: [` + h + `]}`,
		"skip.yaml":                `{crd: [crd], skipKind: [` + h + `]}`,
	}))
	everything := []string{"object.json", "loose.json", name + ".json", "bad", "types", "syntax", name + "-that-is-not-there"}
	commands := [][]string{
		{"schema", "validate", "bad", "alone.json", "crd", "syntax", "types", name},
		{"schema", "list", "--crd", "crd"},
		{"schema", "list", "--crd", "crd", "-o", "json"},
		{"schema", "list", "--crd", "bad"},
		{"schema", "list", "--crd", filepath.Join("broken", name+".crd")},
		{"schema", "list", "--openapi", filepath.Join("broken", name+".crd")},
		{"schema", "list", "--crd", name},
		{"schema", "show", "--crd", "crd", "Widget"},
		{"schema", "show", "--crd", "crd", hostile},
		{"schema", "show", "--crd", "crd", hostile, "Widget"},
		{"schema", "skeleton", "crd", "alone.json", "bad"},
		{"schema", "example", "--crd", "crd", "Widget"},
		{"schema", "example", "--crd", "crd", "Widget", "-o", "yaml"},
		{"schema", "example", "--crd", "crd", "Widget", "-o", "json"},
		{"schema", "example", "--crd", "bad", "Widget"},
		{"schema", "example", "--crd", filepath.Join("kinds", name+".json"), hostile},
		{"schema", "example", "--crd", "kinds", hostile},
		{"schema", "example", "--crd", "kinds", "x" + hostile, hostile},
		{"schema", "example", "--crd", "kinds", "x" + hostile + "/v1", hostile},
		{"schema", "example", "--crd", "kinds", "x" + hostile + "/v2", hostile},
		{"explain", "--crd", "crd", "loose.json", "u." + hostile},
		{"explain", "--crd", "crd", "loose.json", hostile},
		{"explain", "--crd", "crd", name + ".json", "/u"},
		{"explain", "--crd", "crd", "loose.json", "m." + hostile},
		{"explain", "--crd", "crd", "object.json", "[" + hostile},
		{"explain", "--crd", "crd", "object.json", hostile},
		{"explain", "--crd", "crd", "types", hostile},
		{"prune", "--crd", "crd", "object.json", "loose.json", name + ".json", "-o", "yaml"},
		{"prune", "--crd", "crd", "--color", "always", "--diff", "object.json", name + ".json"},
		{"prune", "--crd", "crd", "--list-changed", "object.json", name + ".json"},
		{"check", "--config", "config.yaml", "object.json"},
		{"check", "--config", "unknown.yaml", "object.json"},
		{"check", "--config", "away.yaml", "object.json"},
		{"check", "--config", "skip.yaml", "object.json"},
		{"check", "--config", name, "object.json"},
		{"check", "--crd", "crd", "-o", hostile, "object.json"},
		{"check", "--" + hostile},
		{"check", "--jobs", hostile},
		{hostile},
		{"schema", hostile},
		{"check", "--crd", "crd[" + hostile, "object.json"},
		{"check", "--crd", "crd", "*[" + hostile},
		{"proxy", "--upstream", hostile, "--crd", "crd"},
		{"proxy", "--upstream", "http://127.0.0.1:1", "--crd", name},
		{"proxy", "--upstream", "http://127.0.0.1:1", "--crd", "crd", "--listen", hostile},
	}
	for _, format := range []string{"text", "json", "sarif", "github", "junit", "tap"} {
		for _, color := range []string{"never", "always"} {
			commands = append(commands, append([]string{"check", "--crd", "crd", "-o", format, "--color", color}, everything...))
		}
	}
	for _, args := range commands {
		var stdout, stderr bytes.Buffer
		command.Run(args, strings.NewReader(""), &stdout, &stderr)
		assert.NotEmpty(t, stdout.String()+stderr.String(), "%q", args)
		colors := strings.NewReplacer("\x1b[m", "", "\x1b[1m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[36m", "")
		out := stdout.String()
		if strings.Contains(strings.Join(args, " "), "--color always") {
			out = colors.Replace(out)
		}
		assert.Empty(t, forged(out), "stdout of %q", args)
		assert.Empty(t, forged(colors.Replace(stderr.String())), "stderr of %q", args)
		switch {
		case args[0] != "check" || len(args) < 5:
		case args[4] == "json" || args[4] == "sarif":
			assert.True(t, json.Valid(stdout.Bytes()), "%q", args)
			assert.Contains(t, stdout.String(), "FORGED", "%q", args)
		case args[4] == "junit":
			d := xml.NewDecoder(&stdout)
			for _, err = d.Token(); err == nil; _, err = d.Token() {
			}
			assert.Equal(t, io.EOF, err)
		case args[4] == "github":
			for line := range strings.Lines(stdout.String()) {
				assert.Regexp(t, `^::(error|warning) file=[^:,]+(,line=\d+,col=\d+)?(,endColumn=\d+)?,title=espalier%3A [a-zA-Z/-]+::`, line)
			}
		}
	}
}
