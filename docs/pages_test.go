package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pages returns the pages for users, by their paths from the root of the repository.
func pages(t *testing.T) map[string]string {
	names, err := filepath.Glob("*.md")
	require.NoError(t, err)
	for i, name := range names {
		names[i] = "docs/" + name
	}
	texts := make(map[string]string)
	for _, name := range append(names, "README.md", "DESIGN.md", "CONTRIBUTING.md", "SUPPORT.md", "SECURITY.md", "CHANGELOG.md") {
		text, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		texts[name] = string(text)
	}
	return texts
}

// TestPages holds that links to headings lead to one, and that the README names each page of docs/. TestLinks has the files.
func TestPages(t *testing.T) {
	all := pages(t)
	for name, text := range all {
		for _, m := range regexp.MustCompile(`\]\(([^):#]*)#([^)]+)\)`).FindAllStringSubmatch(text, -1) {
			target := name
			if m[1] != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), m[1]))
			}
			assert.Contains(t, headings(all[target]), m[2], "%s: %s", name, m[0])
		}
		if strings.HasPrefix(name, "docs/") {
			assert.Contains(t, all["README.md"], "("+name+")")
		}
	}
	require.Contains(t, headings(all["docs/command.md"]), "defaults-for-flags", "to which there is a link")
}

// headings returns the anchors of a page, as the usual renderers of Markdown make them.
func headings(text string) (anchors []string) {
	for _, m := range regexp.MustCompile("(?m)^#+ (.*)$").FindAllStringSubmatch(text, -1) {
		anchor := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		anchors = append(anchors, strings.ReplaceAll(anchor, " ", "-"))
	}
	return anchors
}

// TestCode holds that each line of Go on the pages stands in an example, which is compiled and run; but for comments and
// the handling of errors between the lines.
func TestCode(t *testing.T) {
	compiled := make(map[string]bool)
	for _, pattern := range []string{"example_test.go", "../*/example*_test.go", "../kube/controllerruntime/*/example_test.go", "../sample/testdata/webhook/*.go"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for line := range strings.Lines(string(text)) {
				compiled[bare(line)] = true
			}
		}
	}
	lines := 0
	for name, text := range pages(t) {
		for _, block := range strings.Split(text, "```go\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			for line := range strings.Lines(block) {
				lines++
				assert.True(t, compiled[bare(line)], "%s: %s", name, line)
			}
		}
	}
	require.Greater(t, lines, 25)
}

// bare returns a line without a comment at its end, and without indentation.
func bare(line string) string {
	line, _, _ = strings.Cut(line, " // ")
	return strings.Join(strings.Fields(line), " ")
}

// TestNames holds that the names of the code on the pages are those of the code.
func TestNames(t *testing.T) {
	packages := []string{"decoder", "errors", "kube", "sample", "middleware", "request", "schema", "tokens", "yamlbridge", "schema/validation", "kube/controllerruntime/admission", "kube/controllerruntime/fakes", "kube/controllerruntime/projected", "cel", "extproc", "caddy", "schema/reload"}
	sources := make(map[string]*source)
	for _, dir := range packages {
		_, name := filepath.Split(dir)
		sources[name] = parseDir(t, filepath.Join("..", filepath.FromSlash(dir)))
	}
	named := 0
	for page, text := range pages(t) {
		for _, m := range regexp.MustCompile("`\\*?(\\w+)\\.([A-Z]\\w*)(?:\\.(\\w+))?(?:\\([^`]*\\))?`").FindAllStringSubmatch(text, -1) {
			src := sources[m[1]]
			if src == nil || m[1] == "errors" && (m[2] == "Is" || m[2] == "As") { // of the standard package
				continue
			}
			named++
			assert.True(t, src.names[m[2]], "%s: %s: there is no such name", page, m[0])
			assert.True(t, m[3] == "" || src.names[m[2]+"."+m[3]], "%s: %s: there is no such name", page, m[0])
		}
	}
	require.Greater(t, named, 40)
}
