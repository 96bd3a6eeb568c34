package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Plot shows figures of a table in Markdown: a group of bars for each row, a bar for each column.
type Plot struct {
	Name, Title string
	From        string // the file, from the root of the repository
	Section     string // the heading before the table
	Rows        string // only the rows that this regexp matches
	Unit        string // what the axis says
	Linear      bool   // the axis begins at 0, and is not one of factors
	Over        bool   // one bar for each row: the figure of the second column over that of the first
	Documents   bool   // a group of bars for each document, which are columns, and a bar for each row
}

const performancePage = "docs/performance.md"

// Plots returns the plots of docs/performance.md. Tables whose figures cannot share an axis have
// none: those of ideas that paid, each measured on documents of its own, and those of several units.
func Plots() []Plot {
	return []Plot{
		{Name: "speedups", Title: "Espalier's speedup over its peers", From: performancePage, Section: "How fast it is", Unit: "times as fast"},
		{Name: "documents", Title: "Speedup over the packages of Kubernetes, for each document", From: "bench/results/2026-11-28-linux-amd64-intel-xeon-cycles.md", Section: "Targets", Rows: "over Kubernetes (strict )?to bytes", Unit: "times as fast", Documents: true},
		{Name: "structs", Title: "Time of others over that of Unmarshal, into the same Go structs", From: performancePage, Section: "Go structs", Unit: "times as long as Espalier"},
		{Name: "verdict", Title: "The whole verdict: Espalier's speedup", From: performancePage, Section: "The whole verdict", Rows: "^(JSON|YAML), over", Unit: "times as fast"},
		{Name: "rules", Title: "Rules in CEL: what Kubernetes takes over what Espalier takes", From: performancePage, Section: "Rules in CEL, and updates", Unit: "times as much", Over: true},
		{Name: "skipping", Title: "Skipping a dropped document", From: performancePage, Section: "Ideas that paid: kernels", Unit: "GB/s", Linear: true},
	}
}

// plotAll writes the plots of the repository at root to its docs/plots.
func plotAll(root string) error {
	for _, p := range Plots() {
		svg, err := p.SVG(root)
		if err != nil {
			return err
		}
		file := filepath.Join(root, "docs", "plots", p.Name+".svg")
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(file, svg, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// A group is a row of a plot.
type group struct {
	title string
	bars  []bar
}

// A bar is a figure as the table has it, which may be a range.
type bar struct {
	name, text string
	low, high  float64
}

// SVG draws the plot of a table in the repository at root.
func (p *Plot) SVG(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.From)))
	if err != nil {
		return nil, err
	}
	table, err := tableAfter(string(text), p.Section)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.From, err)
	}
	groups := p.groupsOf(table, string(text))
	if len(groups) == 0 {
		return nil, fmt.Errorf("%s: the table of %q has no figures to plot", p.From, p.Section)
	}
	scale := p.Unit
	if !p.Linear {
		scale += ", on a logarithmic scale"
	}
	if m := machine.FindStringSubmatch(string(text)); m != nil {
		scale += "; " + m[1]
	}
	return p.draw(groups, scale), nil
}

// machine finds the processor in what writeMachine writes.
var machine = regexp.MustCompile(`(?m)^- go1.*\n- (.*)$`)

// tableAfter returns the cells of the first table with figures after a heading. The first row has
// the names of the columns.
func tableAfter(text, section string) (rows [][]string, err error) {
	_, text, found := strings.Cut(text, "# "+section+"\n")
	if !found {
		return nil, fmt.Errorf("no section %q", section)
	}
	text, _, _ = strings.Cut(text, "\n#")
	for line := range strings.Lines(text) {
		line, isRow := strings.CutPrefix(strings.TrimSpace(line), "|")
		if !isRow && rows != nil {
			break
		}
		if !isRow || strings.Trim(line, "|-: ") == "" && strings.Contains(line, "-") {
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.TrimSuffix(line, "|"), "|") {
			cells = append(cells, strings.Trim(strings.TrimSpace(strings.ReplaceAll(cell, "`", "")), "*"))
		}
		rows = append(rows, cells)
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("no table in section %q", section)
	}
	return rows, nil
}

// groupsOf returns what is drawn of a table of a text.
func (p *Plot) groupsOf(table [][]string, text string) (groups []group) {
	head := table[0]
	for _, row := range table[1:] {
		if !regexp.MustCompile(p.Rows).MatchString(row[0]) {
			continue
		}
		if p.Over {
			ratio := barOf("", row[2]).low / barOf("", row[1]).low
			groups = append(groups, group{row[0], []bar{{text: short(ratio), low: ratio, high: ratio}}})
			continue
		}
		g := group{title: row[0]}
		for i, cell := range row[1:] {
			if b := barOf(head[i+1], cell); b.low > 0 {
				g.bars = append(g.bars, b)
			}
		}
		groups = append(groups, g)
	}
	if p.Documents {
		return byDocument(groups, text)
	}
	return groups
}

var figure = regexp.MustCompile(`^[\d ]*\d(\.\d+)?`)

// barOf reads "0.6", "0.6 to 0.7", or "70 KiB".
func barOf(name, cell string) bar {
	b := bar{name: name, text: cell}
	number := func(s string) float64 {
		f, _ := strconv.ParseFloat(strings.ReplaceAll(figure.FindString(s), " ", ""), 64)
		return f
	}
	low, high, isRange := strings.Cut(cell, " to ")
	b.low, b.high = number(low), number(low)
	if isRange {
		b.high = number(high)
	}
	return b
}

// byDocument turns a table around: its columns, as far as they are documents that the text has a
// heading for, become groups.
func byDocument(rows []group, text string) (groups []group) {
	for _, b := range rows[0].bars {
		what := regexp.MustCompile(`(?m)^### ` + b.name + `: (.*)$`).FindStringSubmatch(text)
		if what == nil {
			continue
		}
		g := group{title: b.name + ": " + what[1]}
		for _, row := range rows {
			mode := cmp.Or(regexp.MustCompile("Ignore|Strict").FindString(row.title), row.title)
			for _, cell := range row.bars {
				if cell.name == b.name {
					g.bars = append(g.bars, bar{mode, cell.text, cell.low, cell.high})
				}
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// The sizes of a plot, in pixels. A letter is as wide as most fonts have it at 13 pixels.
const (
	plotWidth, plotMargin = 720, 16
	barHeight, barStep    = 13, 17
	titleHeight, groupGap = 20, 10
	letterWidth           = 7
)

// plotStyle has the colours, for pages that are light and for those that are dark.
const plotStyle = `
svg { color: #1f2328; background: #ffffff; font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
text { fill: currentColor; }
.title { font-size: 15px; font-weight: 600; }
.small { font-size: 12px; }
.name { paint-order: stroke; stroke: #ffffff; stroke-width: 5px; }
.paper { fill: #ffffff; }
.bar { fill: #2f6f9f; }
.rest { fill: #2f6f9f; opacity: 0.5; }
.grid { stroke: currentColor; opacity: 0.15; }
.base { stroke: currentColor; opacity: 0.7; }
@media (prefers-color-scheme: dark) {
  svg { color: #e6edf3; background: #0d1117; }
  .name { stroke: #0d1117; }
  .paper { fill: #0d1117; }
  .bar, .rest { fill: #6cb0e0; }
}
`

// draw draws groups of bars, each with its name on the left and its figure at its end.
func (p *Plot) draw(groups []group, scale string) []byte {
	names := 0
	for _, g := range groups {
		for _, b := range g.bars {
			names = max(names, len(b.name)*letterWidth)
		}
	}
	x := p.axisOf(groups, float64(plotMargin+names+8), plotWidth-plotMargin-60)
	var body bytes.Buffer
	y := plotMargin + 24 + titleHeight + 10
	top := y
	for _, g := range groups {
		fmt.Fprintf(&body, "<text class=\"name\" x=\"%d\" y=\"%d\">%s</text>\n", plotMargin, y+13, html.EscapeString(g.title))
		y += titleHeight
		for _, b := range g.bars {
			x.bar(&body, b, y)
			y += barStep
		}
		y += groupGap
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%[1]d\" height=\"%[2]d\" role=\"img\" aria-labelledby=\"title\">\n", plotWidth, y+plotMargin)
	fmt.Fprintf(&out, "<title id=\"title\">%s</title>\n<!-- By bench -plot, from %s: %s. -->\n<style>%s</style>\n", html.EscapeString(p.Title), p.From, p.Section, plotStyle)
	fmt.Fprintf(&out, "<rect class=\"paper\" width=\"100%%\" height=\"100%%\"/>\n<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", plotMargin, plotMargin+12, html.EscapeString(p.Title))
	fmt.Fprintf(&out, "<text class=\"small\" x=\"%d\" y=\"%d\">%s</text>\n", plotMargin, plotMargin+30, html.EscapeString(scale))
	x.grid(&out, top, y)
	out.Write(body.Bytes())
	out.WriteString("</svg>\n")
	return out.Bytes()
}

// An axis says where on the page a figure is.
type axis struct {
	left, right float64
	low, high   float64 // the figures there
	linear      bool
	ticks       []float64
}

// axisOf returns an axis from left to right for all bars. Its ends are round figures.
func (p *Plot) axisOf(groups []group, left, right float64) *axis {
	x := &axis{left: left, right: right, linear: p.Linear, low: 1, high: 1}
	for _, g := range groups {
		for _, b := range g.bars {
			x.low, x.high = min(x.low, b.low), max(x.high, b.high)
		}
	}
	if p.Linear {
		x.low, x.high = 0, math.Ceil(x.high)
		for tick := range int(x.high) + 1 {
			x.ticks = append(x.ticks, float64(tick))
		}
		return x
	}
	rounds := []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}
	for i, tick := range rounds {
		above := i+1 == len(rounds) || rounds[i+1] > x.low
		below := i == 0 || rounds[i-1] < x.high
		if above && below {
			x.ticks = append(x.ticks, tick)
		}
	}
	x.low, x.high = x.ticks[0], x.ticks[len(x.ticks)-1]
	return x
}

func (x *axis) at(figure float64) float64 {
	share := (figure - x.low) / (x.high - x.low)
	if !x.linear {
		share = math.Log(figure/x.low) / math.Log(x.high/x.low)
	}
	return math.Round(10*(x.left+share*(x.right-x.left))) / 10
}

// base returns the figure at which bars begin: as fast as the other, or nothing.
func (x *axis) base() float64 {
	if x.linear {
		return 0
	}
	return 1
}

// bar draws a bar at y. The part of it that is only in a range is paler.
func (x *axis) bar(w *bytes.Buffer, b bar, y int) {
	fmt.Fprintf(w, "<text class=\"small\" x=\"%g\" y=\"%d\" text-anchor=\"end\">%s</text>\n", x.left-6, y+11, html.EscapeString(b.name))
	ends := []float64{x.at(x.base()), x.at(b.low), x.at(b.high)}
	sure, from := ends[1], ends[0]
	if b.high < x.base() { // to the left, so the end that is nearer is the higher one
		sure = ends[2]
	}
	rect := func(class string, from, to float64) {
		if from != to {
			fmt.Fprintf(w, "<rect class=\"%s\" x=\"%g\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n", class, min(from, to), y, math.Abs(to-from), barHeight)
		}
	}
	rect("bar", from, sure)
	rect("rest", ends[1], ends[2])
	fmt.Fprintf(w, "<text class=\"small\" x=\"%g\" y=\"%d\">%s</text>\n", slices.Max(ends)+5, y+11, html.EscapeString(b.text))
}

// grid draws the lines of the axis and their figures from top to bottom.
func (x *axis) grid(w *bytes.Buffer, top, bottom int) {
	for _, tick := range x.ticks {
		class := "grid"
		if tick == x.base() {
			class = "base"
		}
		at := x.at(tick)
		fmt.Fprintf(w, "<line class=\"%s\" x1=\"%g\" x2=\"%[2]g\" y1=\"%d\" y2=\"%d\"/>\n", class, at, top-4, bottom)
		fmt.Fprintf(w, "<text class=\"small\" x=\"%g\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", at, top-8, tick)
	}
}
