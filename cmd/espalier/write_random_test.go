package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

// A grower writes trees with fields that testdata/write/crd.yaml declares, and
// others. Each scalar says which it is: k7 is to be kept, u7 not.
type grower struct {
	*rand.Rand
	b strings.Builder
	n int
}

func (g *grower) scalar(keep bool) string {
	g.n++
	text := fmt.Sprintf("u%d", g.n)
	if keep {
		text = fmt.Sprintf("k%d", g.n)
	}
	return fmt.Sprintf([]string{"%s", "'%s'", "\"%s\"", "%s # why", "%s\t# it's"}[g.IntN(5)], text)
}

// line writes a line, now and then with a blank line or a comment before it.
func (g *grower) line(indent, text string) {
	switch g.IntN(12) {
	case 0:
		g.b.WriteString("\n")
	case 1:
		g.b.WriteString(indent + "# comment\n")
	case 2:
		g.b.WriteString("\n" + indent + "# comment\n\n")
	}
	g.b.WriteString(indent + text + "\n")
}

// unknown writes a member that is not declared, or that does not win.
func (g *grower) unknown(indent, name string) {
	switch g.IntN(5) {
	case 0:
		g.line(indent, name+":")
		for range 1 + g.IntN(3) {
			g.line(indent+"  ", fmt.Sprintf("n%d: %s", g.n, g.scalar(false)))
		}
	case 1:
		g.line(indent, name+": [")
		g.b.WriteString(g.scalar(false) + "\n]\n")
	case 2:
		g.line(indent, name+": |")
		g.b.WriteString(indent + " " + "u\n\n" + indent + " # u: {\n")
	case 3:
		g.line(indent, name+": {u: u, v: \"u}\"}")
	default:
		g.line(indent, name+": "+g.scalar(false))
	}
}

// object writes some of the declared fields, each by its function, in random
// order, and unknown ones between them.
func (g *grower) object(indent string, fields map[string]func(indent, name string)) {
	wrote := false
	names := slices.Sorted(maps.Keys(fields))
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		if g.IntN(3) == 0 {
			g.unknown(indent, fmt.Sprintf("x%d", g.n))
			wrote = true
		}
		switch g.IntN(4) {
		case 0:
			g.unknown(indent, name)
			fallthrough
		case 1, 2:
			fields[name](indent, name)
			wrote = true
		}
	}
	if !wrote {
		g.unknown(indent, "x")
	}
}

func (g *grower) text(indent, name string) { g.line(indent, name+": "+g.scalar(true)) }

func (g *grower) inside(fields map[string]func(indent, name string)) func(indent, name string) {
	return func(indent, name string) {
		g.line(indent, name+":")
		g.object(indent+strings.Repeat(" ", 1+g.IntN(4)), fields)
	}
}

// list writes a sequence of objects.
func (g *grower) list(fields map[string]func(indent, name string)) func(indent, name string) {
	return func(indent, name string) {
		g.line(indent, name+":")
		indent += []string{"", "  "}[g.IntN(2)]
		for range 1 + g.IntN(3) {
			before := g.b.String()
			g.b.Reset()
			g.object(indent+"  ", fields)
			element := strings.TrimLeft(g.b.String(), "\n")
			g.b.Reset()
			// A comment may follow the dash.
			g.b.WriteString(before + indent + "- " + element[len(indent)+2:])
		}
	}
}

func (g *grower) tree() string {
	g.b.WriteString(tree)
	leaf := map[string]func(indent, name string){"name": g.text}
	g.inside(map[string]func(indent, name string){
		"text": g.text,
		"labels": func(indent, name string) {
			g.line(indent, "labels: {a: "+regexp.MustCompile(`[ \t].*`).ReplaceAllString(g.scalar(true), "")+"}")
		},
		"trunk":    g.inside(map[string]func(indent, name string){"height": g.text, "wood": g.text}),
		"branches": g.list(map[string]func(indent, name string){"name": g.text, "leaves": g.text, "twigs": g.list(leaf)}),
		"anything": func(indent, name string) { g.line(indent, "anything:"); g.text(indent+"  ", fmt.Sprintf("x%d", g.n)) },
	})("", "spec")
	return g.b.String()
}

// TestWriteRandom: kept fields keep their lines and their order, the others are removed, and
// the objects are as before.
func TestWriteRandom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	kept := regexp.MustCompile(`\bk\d+\b`)
	for seed := range uint64(60) {
		g := grower{Rand: rand.New(rand.NewPCG(seed, 0))}
		documents := []string{g.tree()}
		for g.IntN(2) == 0 {
			g.b.Reset()
			documents = append(documents, g.tree())
		}
		in := strings.Join(documents, "---\n")
		writeFile(t, file, in)
		before, _, code := espalier("", "prune", "--crd", writeCRD, "-o", "ndjson", file)
		require.Equal(t, command.ExitClean, code)
		_, stderr, code := espalier("", "prune", "--crd", writeCRD, "--write", file)
		require.Equal(t, command.ExitClean, code, stderr)
		require.NotContains(t, stderr, "written anew", in)
		out := read(t, file)
		after, stderr, code := espalier("", "prune", "--crd", writeCRD, "-o", "ndjson", "--validate=strict", file)
		require.Equal(t, command.ExitClean, code, "%s%s", stderr, in)
		require.Equal(t, before, after)

		require.Equal(t, kept.FindAllString(in, -1), kept.FindAllString(out, -1), "%s\n->\n%s", in, out)
		require.NotRegexp(t, `\bu\d*\b`, out)
		lines := map[string]bool{}
		for line := range strings.SplitSeq(in, "\n") {
			lines[line] = true
		}
		for line := range strings.SplitSeq(out, "\n") {
			if strings.Contains(line, "{}") || strings.HasPrefix(strings.TrimLeft(line, " "), "- ") {
				continue // What is empty, and what comes next behind a dash.
			}
			require.True(t, lines[line], "%q is new in\n%s", line, out)
		}
	}
}
