package yamlbridge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Places of nodes, each of which is a $.
var (
	valuePlaces = strings.Split("$|--- $|\n# c\n\n $|- $|- x\n-   $|-\n  $|- - $|- - x\n  - $|- a: $|a: $|a: x\nb: $|a:\n  $|a:\n\n  # c\n  $|"+
		"a:\n  b: $\nc: d|a: $\nb: c|- $\n- x|a:\n- $|a:\n- x\n-\n  $|a:\n  b: x\n  c: $|? a\n: $|? a\n:\n  $|'a': $|&a a: $|- ? a\n  : $|"+
		"[$]|[x, $]|[x,\n $]|[[$]]|[{a: $}]|{a: $}|{a:\n $}|{x: 1, a: $ }|{\"a\":$}|{'a': $}|{? a : $}|{? a\n : $, b: c}|[a: $]|['a': $]|[? a : $]|- [x, {a: $}]", "|")
	flowKeyPlaces  = strings.Split("{$: v}|{x: 1, $: v}|{x: 1,\n $: v}|{? $ : v}|{?\n $ : v}|[? $ : v]|[x, ? $ ]|{$}|{? $}|- {$: v}|{a: {$: v}}", "|")
	pairPlaces     = []string{"[$: v]", "[x, $: v]"}
	blockKeyPlaces = strings.Split("$: v|x: 1\n$: v|'x': 1\n$: v|- $: v|- x: 1\n  $: v|a:\n  $: v|a:\n  x: 1\n\n  $: v|"+
		"? $\n: v|?\n  $\n: v|x: 1\n? $\n|- ? $\n  : v|- x: 1\n  ? $", "|")
)

// TestFaultsInAllPlaces holds that the fault of a node is found wherever the node is, and that the
// error has its place.
func TestFaultsInAllPlaces(t *testing.T) {
	keyPlaces := slices.Concat(flowKeyPlaces, pairPlaces, blockKeyPlaces)
	allPlaces := slices.Concat(valuePlaces, keyPlaces)
	for _, c := range []struct {
		node   string
		places []string
		at     int // where the fault is in the node
		text   string
		but    string // the readers for which it is no fault
	}{
		{"*u ", allPlaces, 0, `unknown anchor "u"`, ""},
		{"* ", allPlaces, 0, "did not find expected alphabetic or numeric character of an alias", ""},
		{"& x", allPlaces, 0, "did not find expected alphabetic or numeric character of an anchor", ""},
		{"&a &b x", valuePlaces, 3, "a node has one tag and one anchor", ""},
		{"!!str !!str x", valuePlaces, 6, "a node has one tag and one anchor", ""},
		{"!!int x", allPlaces, 0, `cannot decode !!str "x" as !!int`, ""},
		{"!!int 'x'", allPlaces, 0, `cannot decode !!str "x" as !!int`, ""},
		{`!!int "x\x41"`, allPlaces, 0, `cannot decode !!str "xA" as !!int`, ""},
		{"!!int ", allPlaces, 0, `cannot decode !!null "" as !!int`, ""},
		{"!e!x y", allPlaces, 0, `undefined tag handle "!e!"`, ""},
		{"!<x y", allPlaces, 3, "'>' of a tag", ""},
		{"!a%zz y", allPlaces, 2, "did not find URI escaped octet", ""},
		{"!!seq {}", valuePlaces, 0, `unknown tag "!!seq" of a mapping`, "as the server"},
		{"!!map []", valuePlaces, 0, `unknown tag "!!map" of a sequence`, "as the server"},
		{"!!seq {}", flowKeyPlaces, 6, "a mapping or sequence is no key", ""},
		{"[a]", flowKeyPlaces, 0, "a mapping or sequence is no key", ""},
		{`"\q"`, allPlaces, 1, "found unknown escape character", ""},
		{`"a\x4"`, allPlaces, 2, "did not find expected hexadecimal number", ""},
		{`"\ud800"`, allPlaces, 1, "found invalid Unicode character escape code", ""},
		{".inf", valuePlaces, 0, "infinity and NaN are no JSON values", ""},
		{"!!float .inf", valuePlaces, 0, "infinity and NaN are no JSON values", ""},
		{"1e400", allPlaces, 0, "is beyond a float64", "as the server"},
		{"&a 1e400", allPlaces, 0, "is beyond a float64", "as the server"},
		{"~", keyPlaces, 0, "null is no key", ""},
		{"&a ~", keyPlaces, 0, "null is no key", ""},
		{"&a ", keyPlaces, 0, "null is no key", ""},
		{"@a", allPlaces, 0, "", ""},
		{"&a @a", allPlaces, 3, "", ""},
	} {
		for _, place := range c.places {
			src := strings.Replace(place, "$", c.node, 1)
			for kind, r := range readers() {
				if kind == c.but {
					continue
				}
				out, err := r.AppendJSON(nil, []byte(src))
				var syntax *errors.SyntaxError
				require.ErrorAs(t, err, &syntax, "%s: %q gave %s", kind, src, out)
				assert.Contains(t, syntax.Msg, c.text, "%s: %q", kind, src)
				assert.Equal(t, strings.Index(place, "$")+c.at, int(syntax.Position.Offset), "%s: %q: %v", kind, src, err)
			}
		}
	}
}

// TestDepthLimitInAllPlaces holds that everything that opens a collection counts.
func TestDepthLimitInAllPlaces(t *testing.T) {
	dashes, brackets := strings.Repeat("- ", yamlbridge.MaxDepth-1), strings.Repeat("[", yamlbridge.MaxDepth-1)
	for _, c := range []struct{ before, fits, tooDeep, after string }{
		{dashes, "[]", "[[]]", ""},
		{dashes, "[]", "[{}]", ""},
		{dashes, "[a]", "[a: b]", ""},
		{dashes, "[a]", "[? a ]", ""},
		{dashes, "[a]", "['a': b]", ""},
		{dashes, "{a: b}", "{a: {}}", ""},
		{dashes, "- b", "- - b", ""},
		{dashes, "- b", "- a: b", ""},
		{dashes, "- b", "- 'a': b", ""},
		{dashes, "- b", "- &a a: b", ""},
		{dashes, "- b", "- ? b", ""},
		{dashes, "- &a b", "- &a b\n" + strings.Repeat(" ", 2*yamlbridge.MaxDepth-2) + "- *a : c", ""},
		{dashes + "a:\n" + strings.Repeat(" ", 2*yamlbridge.MaxDepth-2), "  b", "- b", ""},
		{dashes + "a:\n" + strings.Repeat(" ", 2*yamlbridge.MaxDepth-2), "  b", "  b: c", ""},
		{brackets, "[]", "[[]]", strings.Repeat("]", yamlbridge.MaxDepth-1)},
		{brackets, "a: b", "a: []", strings.Repeat("]", yamlbridge.MaxDepth-1)},
		{brackets, "a: b", "a: {}", strings.Repeat("]", yamlbridge.MaxDepth-1)},
		{brackets, "&a {}, *a ", "&a {}, [*a ]", strings.Repeat("]", yamlbridge.MaxDepth-1)},
	} {
		for kind, r := range readers() {
			_, err := r.AppendJSON(nil, []byte(c.before+c.fits+c.after))
			require.NoError(t, err, "%s: %s", kind, c.fits)
			_, err = r.AppendJSON(nil, []byte(c.before+c.tooDeep+c.after))
			var limit *errors.LimitError
			require.ErrorAs(t, err, &limit, "%s: %s", kind, c.tooDeep)
			assert.Equal(t, errors.LimitDepth, limit.Limit)
		}
	}
}
