package yamlbridge_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

func TestAliases(t *testing.T) {
	for src, want := range map[string]string{
		"[&a x, *a]":                             `["x","x"]`,
		"[&a ! 5, *a]":                           `["5","5"]`,
		"[&a !!str 5, &b '5', &c 5, *a, *b, *c]": `["5","5",5,"5","5",5]`,
		"[&a , *a]":                              `[null,null]`,
		"{a: &a [1, {b: c}], b: *a, c: [*a]}":    `{"a":[1,{"b":"c"}],"b":[1,{"b":"c"}],"c":[[1,{"b":"c"}]]}`,
		"{a: &a [1, &b 2], b: [*b, *a]}":         `{"a":[1,2],"b":[2,[1,2]]}`,
		"&a [1]":                                 `[1]`,
		// An anchor on a key: the name and the value of the key differ.
		"{&k 1.50: x, v: *k, *k : z}":       `{"1.5":"x","v":1.5,"1.5":"z"}`,
		"{&k yes: x, v: [*k, *k], *k : z}":  `{"true":"x","v":[true,true],"true":"z"}`,
		"{&k 1e100: x, v: *k, w: *k}":       `{".inf":"x","v":1e+100,"w":1e+100}`,
		"{&k .inf: x, *k : z}":              `{".inf":"x",".inf":"z"}`,
		"{&k -.inf: x, *k : z}":             `{"-.inf":"x","-.inf":"z"}`,
		"{&k .nan: x, *k : z}":              `{".nan":"x",".nan":"z"}`,
		"[&k -5, {*k : x}]":                 `[-5,{"-5":"x"}]`,
		"[&k no, {*k : x}]":                 `[false,{"false":"x"}]`,
		"[&k 1_000.0, {*k : x}]":            `[1000,{"1000":"x"}]`,
		"[&k 1.0e30, {*k : x}]":             `[1e+30,{"1e+30":"x"}]`,
		"{a: &k 0x10, *k : z}":              `{"a":16,"16":"z"}`,
		"{x: {}, &k '': *k}":                `{"x":{},"":""}`,
		"{&m <<: {a: 1}, b: *m, *m : 2}":    `{"b":"<<","<<":2,"a":1}`,
		"{? &k a : &v b, *k : *v, *v : *k}": `{"a":"b","a":"b","b":"a"}`,
	} {
		got, err := convert(src)
		require.NoError(t, err, src)
		assert.Equal(t, want, got, src)
	}
	requireSyntaxError(t, "[&a {}, {*a : x}]", 1, 10, "no key")
	requireSyntaxError(t, "[&a ~, {*a : x}]", 1, 9, "null is no key")
	requireSyntaxError(t, "[{&a .inf: 1}, *a]", 1, 16, "no JSON values")
}

func TestMergeKeys(t *testing.T) {
	for src, want := range map[string]string{
		// An explicit key wins, wherever it is.
		"{x: &x {a: 1, b: 2}, v: {a: 9, <<: *x}}": `{"x":{"a":1,"b":2},"v":{"a":9,"b":2}}`,
		"{x: &x {a: 1, b: 2}, v: {<<: *x, a: 9}}": `{"x":{"a":1,"b":2},"v":{"a":9,"b":2}}`,
		// In a list the earlier mapping wins, and of several merge keys the later.
		"<<: [{a: 1, b: 1}, {a: 2, c: 2}]":           `{"a":1,"b":1,"c":2}`,
		"[&x {a: 1}, {<<: [{a: 2}, *x]}]":            `[{"a":1},{"a":2}]`,
		"[&x {a: 1}, {<<: [*x, {a: 2}]}]":            `[{"a":1},{"a":1}]`,
		"{<<: {a: 1, b: 1}, <<: {a: 2, c: 2}, d: 3}": `{"d":3,"a":2,"c":2,"b":1}`,
		"{<<: [], a: 1}":                             `{"a":1}`,
		"{<<: {}}":                                   `{}`,
		"{<<: [{}, {}]}":                             `{}`,
		// Names are compared as strings.
		"{16: a, <<: {0x10: b, '16': c, y: d}}": `{"16":"a","true":"d"}`,
		// Names that repeat in one mapping still do.
		"{1: a, '1': b, <<: {c: d}}":                             `{"1":"a","1":"b","c":"d"}`,
		"{<<: {a: 1, a: 2}}":                                     `{"a":1,"a":2}`,
		"{a: 3, <<: {a: 1, a: 2}}":                               `{"a":3}`,
		"{<<: {<<: {<<: {a: 1, b: 1, c: 1}, b: 2}, c: 3}, d: 4}": `{"d":4,"c":3,"b":2,"a":1}`,
		"[&x {<<: {a: 1}, b: 2}, &y {<<: *x, a: 3}, {<<: *y}]":   `[{"b":2,"a":1},{"a":3,"b":2},{"a":3,"b":2}]`,
		// Anchors in merged values, also in overridden ones.
		"{a: 1, <<: {a: &v [2]}, b: *v}":                        `{"a":1,"b":[2]}`,
		"{<<: &m {a: 1}, b: *m}":                                `{"b":{"a":1},"a":1}`,
		"{<<: &l [&m {a: &v {x: z}}, {b: 1}], c: [*l, *m, *v]}": `{"c":[[{"a":{"x":"z"}},{"b":1}],{"a":{"x":"z"}},{"x":"z"}],"a":{"x":"z"},"b":1}`,
		"[&m {a: 1}, {<<: &l [*m, *m], b: *l}]":                 `[{"a":1},{"b":[{"a":1},{"a":1}],"a":1}]`,
		"{<<: {a: &v 1, b: {<<: {c: *v}}}}":                     `{"a":1,"b":{"c":1}}`,
		"&r {a: {<<: {b: 1}}, <<: {c: {<<: {d: 1}}}}":           `{"a":{"b":1},"c":{"d":1}}`,
		// Mappings with merge keys within others with merge keys.
		"{e: &e {a: 1}, b: {<<: *e, b: {<<: *e, c: {a: 2, <<: *e}, a: [{<<: *e}]}, d: {a: 5}}}": `{"e":{"a":1},"b":{"b":{"c":{"a":2},"a":[{"a":1}]},"d":{"a":5},"a":1}}`,
		"{<<: {b: {<<: {a: 1}}, x: 3}, aaaaaaa: 1, x: 2}":                                       `{"aaaaaaa":1,"x":2,"b":{"a":1}}`,
		"{<<: &l [&m {a: 1}, *m ], b: *l }":                                                     `{"b":[{"a":1},{"a":1}],"a":1}`,
		"{<<: {b: {<<: {a: 1}}}, c: {<<: {a: 2}, d: {<<: {b: 3}}}, a: 4}":                       `{"c":{"d":{"b":3},"a":2},"a":4,"b":{"a":1}}`,
		"{x: &x {a: 1}, <<: [{b: 1}, *x, {}, *x, {c: 3}], b: 2}":                                `{"x":{"a":1},"b":2,"a":1,"c":3}`,
		// Keys that are merge keys.
		"{!!merge <<: {a: 1}}":           `{"a":1}`,
		"{!!merge '<<': {a: 1}}":         `{"a":1}`,
		"{! <<: {a: 1}}":                 `{"a":1}`,
		"{!!str <<: {a: 1}}":             `{"<<":{"a":1}}`,
		"{'<<': {a: 1}, b: <<}":          `{"<<":{"a":1},"b":"<<"}`,
		"{<<: !!map {a: 1}}":             `{"a":1}`,
		"<<:\n  a: 1\nb: 2\n<<:\n- c: 3": `{"b":2,"c":3,"a":1}`,
	} {
		got, err := convert(src)
		require.NoError(t, err, src)
		assert.Equal(t, want, got, src)
	}
	for _, src := range []string{"<<: 5", "<<: ", "<<: x", "<<: [[]]", "<<: [5]", "<<: [{}, ~]", "<<: [[{}]]"} {
		_, err := convert(src)
		require.ErrorContains(t, err, "map merge requires", src)
	}
	for _, v := range []string{"5", "[{}]"} {
		_, err := convert("[&x " + v + ", {<<: *x}]")
		require.ErrorContains(t, err, "map merge requires", v)
		_, err = convert("[&x " + v + ", {<<: [*x]}]")
		require.ErrorContains(t, err, "map merge requires", v)
	}
	requireSyntaxError(t, "<<: !foo {a: 1}", 1, 5, "unknown tag")
	requireSyntaxError(t, "a: 1\n<<: {a: .inf}", 2, 9, "no JSON values")
}

func TestDepthLimit(t *testing.T) {
	for name, nest := range map[string]func(n int) string{
		"sequences": func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) },
		"mappings":  func(n int) string { return strings.Repeat("{a: ", n-1) + "{" + strings.Repeat("}", n) },
		"block":     func(n int) string { return strings.Repeat("- ", n-1) + "{}" },
		"alias": func(n int) string {
			return "- &a " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "\n- " +
				strings.Repeat("[", n-9_001) + "*a" + strings.Repeat("]", n-9_001)
		},
		"alias of what is merged": func(n int) string {
			return "- &a {b: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}\n- &b {<<: *a}\n- " +
				strings.Repeat("[", n-9_002) + "*b" + strings.Repeat("]", n-9_002)
		},
		"alias of a merged list": func(n int) string {
			return "- &a {b: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}\n- {<<: &l [*a]}\n- " +
				strings.Repeat("[", n-9_003) + "*l" + strings.Repeat("]", n-9_003)
		},
		"alias of an alias": func(n int) string {
			return "- &a " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "\n- &b [*a]\n- " +
				strings.Repeat("[", n-9_002) + "*b" + strings.Repeat("]", n-9_002)
		},
		"merge": func(n int) string {
			return "- &a {b: " + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}\n- " +
				strings.Repeat("[", n-9_002) + "{<<: *a}" + strings.Repeat("]", n-9_002)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := convert(nest(yamlbridge.MaxDepth))
			require.NoError(t, err)
			_, err = convert(nest(yamlbridge.MaxDepth + 1))
			require.ErrorContains(t, err, "depth of nesting exceeds the limit of 10000")
		})
	}
}

func TestAliasLimit(t *testing.T) {
	const piece = 1 << 16
	fits := yamlbridge.MaxAliasBytes / piece
	// The JSON of the anchored string is just as long as a piece.
	anchor := "- &a " + strings.Repeat("x", piece-2) + "\n"
	_, err := convert(anchor + strings.Repeat("- *a\n", fits))
	require.NoError(t, err)
	requireLimit(t, anchor+strings.Repeat("- *a\n", fits+1), errors.LimitAliasBytes, fits+2)
	// One byte more.
	requireLimit(t, anchor+"- &b 1\n"+strings.Repeat("- *a\n", fits)+"- *b", errors.LimitAliasBytes, fits+3)

	// Overridden members of merge keys cost as much as looking at them.
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("name-%0100d: 1", i)
	}
	mapping := "{" + strings.Join(names, ", ") + "}"
	_, err = convert("- &a " + mapping + "\n- {<<: [" + strings.Repeat("*a, ", 50) + "]}")
	require.NoError(t, err)
	requireLimit(t, "- &a "+mapping+"\n- {<<: ["+strings.Repeat("*a, ", 200)+"]}", errors.LimitAliasBytes, 2)

	// Aliases as names, and aliases merged into a list that has an anchor.
	text := strings.Repeat("x", 60_000)
	requireLimit(t, "? &a |-\n "+text+"\n:\n  - "+strings.Repeat("\n  - *a : x", 200), errors.LimitAliasBytes, 179)
	requireLimit(t, "z: "+text+"\na: &a {b: "+text+"}\nc: {<<: &d ["+strings.Repeat("*a,\n ", 200)+"]}", errors.LimitAliasBytes, 177)
	_, err = convert("z: " + text + "\na: &a {b: 1}\nc: {<<: &d [" + strings.Repeat("*a,", 200) + "]}")
	require.NoError(t, err)
	requireLimit(t, "- &a {b: "+text+"}\n- ["+strings.Repeat("<<: *a,\n ", 200)+"]", errors.LimitAliasBytes, 176)
	// Each merge key looks at all copies within it.
	requireLimit(t, "a: &a 1\nb: "+strings.Repeat("{<<: ", 3000)+"{a: ["+strings.Repeat("*a,", 4000)+"]}"+strings.Repeat(", a: 1}", 3000), errors.LimitAliasBytes, 2)
	_, err = convert("a: &a 1\nc: {<<: {d: [" + strings.Repeat("*a,", 2000) + "]}}\nb: " +
		strings.Repeat("{<<: ", 1500) + "{a: [" + strings.Repeat("*a,", 4000) + "]}" + strings.Repeat(", a: 1}", 1500))
	require.NoError(t, err)
	// They are copied at once, as on the server.
	server := yamlbridge.Reader{Dialect: yamlbridge.Server}
	_, err = server.AppendJSON(nil, []byte("- &a {b: "+text+"}"+strings.Repeat("\n- {<<: *a}", 200)))
	require.ErrorContains(t, err, "alias bytes")
	_, err = server.AppendJSON(nil, []byte("- &a {b: "+text+"}\n- [<<: [["+strings.Repeat("*a, ", 200)+"]]]"))
	require.ErrorContains(t, err, "alias bytes")

	_, err = convert("- &a x\n- *a\n#" + strings.Repeat("-", 3<<20))
	require.NoError(t, err)

	// The error has the limit of a short document, which is lower.
	for src, most := range map[string]int{
		bomb(6): 64<<10 + len(bomb(6))*yamlbridge.MaxAliasFactor,
		anchor + strings.Repeat("- *a\n", fits+1): yamlbridge.MaxAliasBytes,
	} {
		_, err = convert(src)
		var limit *errors.LimitError
		require.ErrorAs(t, err, &limit)
		assert.Equal(t, int64(most), limit.Max)
	}

	_, err = convert("- &a {x: 1}\n" + strings.Repeat("- *a\n", 5000))
	require.NoError(t, err)
	_, err = convert(bomb(5))
	require.NoError(t, err)
}

// Escapes and aliases make the JSON longer than the text.
func TestJSONLimit(t *testing.T) {
	const most = 10_000
	defer yamlbridge.SetMaxJSONBytes(most)()
	nuls := strings.Repeat(`\0`, most/6+1)
	for src, line := range map[string]int{
		"a: \"" + nuls + "\"\nx: &x {q: 1}\nb:\n  <<: *x\n  c: 1": 2,
		"a: \"" + nuls + "\"": 1,
		"{a: \"" + nuls + "\",\n x: &x {q: 1},\n b: {<<: *x}}":                     1,
		"? \"" + nuls + "\"\n: b\nc: d":                                            2,
		"- |\n" + strings.Repeat("  \"\n", most/2) + "- b":                         most/2 + 2,
		strings.Repeat("- a\n", most):                                              2_502,
		"[" + strings.Repeat("a,\n", most) + "]":                                   2_501,
		"- &a " + strings.Repeat("x", most/4) + "\n" + strings.Repeat("- *a\n", 5): 5,
		// Before the names in a mapping are looked up, after each source, and in the side buffer.
		"x: &x {a: 1}\nm:\n <<:\n - *x\n k: \"" + nuls + "\"":                                                                 4,
		"x: &x {a: \"" + nuls[:most/6] + "\"}\nm:\n <<:\n - *x\n -\n  {a: \"" + nuls[:most/10] + "\",\n  c: 1}\n -\n  {b: 1}": 4,
		"<<: {a: \"" + nuls[:most/6] + "\"}\n<<: {a: \"" + nuls[:most/6] + "\"}\na: 1\nd: 2":                                  4,
		// Not after the last source, and not for a list of none.
		"x: &x {a: \"" + nuls[:most/5] + "\"}\nm: {<<:\n *x}\nn:\n  1": 4,
		"<<: []\nk: \"" + nuls + "\"":                                  2,
	} {
		requireLimit(t, src, errors.LimitJSONBytes, line)
	}
	whole := strings.Repeat("x", most-len(`""`))
	requireJSON(t, whole, `"`+whole+`"`)
	requireLimit(t, whole+"x", errors.LimitJSONBytes, 1)
	fits := "[" + strings.Repeat("1,", most/2-2) + "12]" // [1,1,12]
	requireJSON(t, fits, fits)
	requireLimit(t, strings.Replace(fits, "12]", "123]", 1), errors.LimitJSONBytes, 1)
	yamlbridge.SetMaxJSONBytes(1000)
	requireLimit(t, `"`+strings.Repeat(`\0`, 200)+`": []`, errors.LimitJSONBytes, 1)
	yamlbridge.SetMaxJSONBytes(most)
	got, err := yamlbridge.AppendJSON(make([]byte, most), []byte("[a]"))
	require.NoError(t, err)
	assert.Len(t, got, most+len(`["a"]`))
}

func TestNumberLimit(t *testing.T) {
	digits := strings.Repeat("1", yamlbridge.MaxNumberBytes-2)
	requireJSON(t, "[0."+digits+"]", "[0.1111111111111111]")
	requireLimit(t, "a: 0."+digits+"1", errors.LimitNumberBytes, 1)
	requireLimit(t, "a: "+strings.Repeat("1", 1001), errors.LimitNumberBytes, 1)
	requireLimit(t, "a: 0x"+strings.Repeat("0", 1001), errors.LimitNumberBytes, 1)
	requireLimit(t, "'a': 0\n? 0."+digits+"1\n: x", errors.LimitNumberBytes, 2)
	requireJSON(t, "["+digits+"111e]", `["`+digits+`111e"]`)
	hash := "1" + strings.Repeat("a", 2000)
	requireJSON(t, "["+hash+"]", `["`+hash+`"]`)
}

// TestKeyLimit holds that all keys have one limit, except those in braces in Core.
func TestKeyLimit(t *testing.T) {
	for _, char := range []string{"é", "x"} {
		checkKeyLimit(t, char)
	}
}

func checkKeyLimit(t *testing.T, char string) {
	fits, tooLong := strings.Repeat(char, yamlbridge.MaxKeyChars), strings.Repeat(char, yamlbridge.MaxKeyChars+1)
	for _, c := range []struct {
		format, path string
		quotes       int // the characters that the format adds to the key
		braces       bool
	}{
		{"%s: 1", "", 0, false},
		{"a:\n- b\n- %s: 1", "a[1]", 0, false},
		{"a: 1\n%s: 1", "", 0, false},
		{"'%s': 1", "", 2, false},
		{"a: 1\n'%s': 1", "", 2, false},
		{"!t %s: 1", "", 3, false},
		{"a: 1\n&b %s: 1", "", 3, false},
		{"a: [x, %s: 1]", "a[1]", 0, false},
		{"a: [x, '%s': 1]", "a[1]", 2, false},
		{"a: [x, \"%s\": 1]", "a[1]", 2, false},
		{"a: [x, &b %s: 1]", "a[1]", 3, false},
		{"a: {%s: 1}", "a", 0, true},
		{"a: {x: 1, '%s': 1}", "a", 2, true},
		{"a: {\"%s\":1}", "a", 2, true},
		{"a: {&b %s: 1}", "a", 3, true},
	} {
		c.format = strings.Replace(c.format, "!t", "! ", 1)
		for kind, r := range readers() {
			_, err := r.AppendJSON(nil, fmt.Appendf(nil, c.format, fits[len(char)*c.quotes:]))
			require.NoError(t, err, "%s, %s", kind, c.format)
			_, err = r.AppendJSON(nil, fmt.Appendf(nil, c.format, tooLong[len(char)*c.quotes:]))
			if c.braces && r.Dialect == yamlbridge.Core {
				require.NoError(t, err, "%s, %s", kind, c.format)
				continue
			}
			var limit *errors.LimitError
			require.ErrorAs(t, err, &limit, "%s, %s", kind, c.format)
			assert.Equal(t, errors.LimitKeyChars, limit.Limit)
			assert.Equal(t, c.path, limit.Path.String(), "%s, %s", kind, c.format)
		}
	}
	requireJSON(t, "{? "+tooLong+" : 1}", `{"`+tooLong+`":1}`)
	requireJSON(t, "["+tooLong+", {"+tooLong+"}]", `["`+tooLong+`",{"`+tooLong+`":null}]`)
}

// TestManyAnchors holds that anchors are found with and without the table.
func TestManyAnchors(t *testing.T) {
	for n := 1; n < 300; n += 1 + n/40 {
		var src, want strings.Builder
		for i := range n {
			fmt.Fprintf(&src, "- &a%d %d\n- *a%d\n- *a0\n", i, i, i)
			fmt.Fprintf(&want, "%d,%d,0,", i, i)
		}
		fmt.Fprintf(&src, "- &a0 x\n- *a0\n- *a%d", n)
		_, err := convert(src.String())
		require.ErrorContains(t, err, "unknown anchor", n)
		got, err := convert(strings.TrimSuffix(src.String(), fmt.Sprintf("\n- *a%d", n)))
		require.NoError(t, err)
		assert.Equal(t, "["+want.String()+`"x","x"]`, got)
	}
}

// TestAnchorsOfDocuments holds that a reader forgets the anchors of a document, however many that had.
func TestAnchorsOfDocuments(t *testing.T) {
	for kind, r := range readers() {
		for document, n := range []int{40, 20, 30, 17, 100, 18, 40} {
			var anchors, aliases strings.Builder
			for i := range n {
				fmt.Fprintf(&anchors, "- &a%d-%d x\n", document, i)
				if i == 16 || i == n-1 {
					alias := fmt.Sprintf("- *a%d-%d\n", document, i)
					aliases.WriteString(alias)
					if document%2 == 0 { // when there are few, and once more when there are many more
						anchors.WriteString(alias)
					}
				}
			}
			for i := range 100 {
				earlier := fmt.Sprintf("a%d-%d", document-1, i)
				_, err := r.AppendJSON(nil, []byte(anchors.String()+"- *"+earlier))
				require.ErrorContains(t, err, "unknown anchor \""+earlier+"\"", "%s, %d anchors", kind, n)
			}
			_, err := r.AppendJSON(nil, []byte(anchors.String()+aliases.String()))
			require.NoError(t, err, kind)
		}
	}
}

// TestMergedNames compares the members that merge keys add to a mapping with the rules: for few and
// many members, in the mapping itself and in the sources, with names in several spellings.
func TestMergedNames(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	names := []string{"0", "-0", "a", "tab\t", "\b", "back\\", "quo\"te", "é", "\x01", strings.Repeat("long ", 30)}
	for i := range 200 {
		names = append(names, fmt.Sprintf("name-%d", i))
	}
	spelled := func(name string) string {
		quoted, err := json.Marshal(name)
		require.NoError(t, err)
		return []string{"", "!!str ", "!!str ", "? "}[r.IntN(4)] + string(quoted)
	}
	type member struct{ name, value string }
	some := func(most, kinds int) (list []member) {
		for range r.IntN(most) {
			list = append(list, member{names[r.IntN(min(kinds, len(names)))], fmt.Sprint(r.IntN(1000))})
		}
		return list
	}
	flow := func(list []member) string {
		var b strings.Builder
		for i, m := range list {
			fmt.Fprintf(&b, "%s%s: %s", ", "[:2*min(i, 1)], spelled(m.name), m.value)
		}
		return "{" + b.String() + "}"
	}
	for range 2000 {
		kinds := 1 + r.IntN(len(names))
		own := some(1<<r.IntN(8), kinds)
		var before, in strings.Builder
		var sources [][]member // the ones that win first
		for key := range 1 + r.IntN(3) {
			var list []string
			var listed [][]member
			for i := range 1 + r.IntN(3) {
				s := some(1<<r.IntN(8), kinds)
				listed = append(listed, s)
				text := flow(s)
				if r.IntN(2) == 0 {
					fmt.Fprintf(&before, "- &s%d-%d %s\n", key, i, text)
					text = fmt.Sprintf("*s%d-%d ", key, i)
				}
				list = append(list, text)
			}
			fmt.Fprintf(&in, "<<: [%s], ", strings.Join(list, ", "))
			sources = append(listed, sources...)
		}
		src := before.String() + "- {" + in.String() + strings.TrimPrefix(flow(own), "{") + "\n"

		want := slices.Clone(own)
		taken := make(map[string]bool)
		for _, m := range own {
			taken[m.name] = true
		}
		for _, s := range sources {
			for _, m := range s {
				if !taken[m.name] {
					want = append(want, m)
				}
			}
			for _, m := range s {
				taken[m.name] = true
			}
		}
		out, err := convert(src)
		require.NoError(t, err, src)
		var all []jsontext.Value
		require.NoError(t, jsonv2.Unmarshal([]byte(out), &all, jsontext.AllowDuplicateNames(true)), src)
		var got []member
		dec := jsontext.NewDecoder(bytes.NewReader(all[len(all)-1]), jsontext.AllowDuplicateNames(true))
		_, err = dec.ReadToken()
		require.NoError(t, err)
		for dec.PeekKind() == '"' {
			name, err := dec.ReadToken()
			require.NoError(t, err)
			m := member{name: name.String()}
			value, err := dec.ReadToken()
			require.NoError(t, err)
			m.value = value.String()
			got = append(got, m)
		}
		require.Equal(t, want, got, src)
	}
}
