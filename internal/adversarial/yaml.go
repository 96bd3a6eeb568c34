package adversarial

import (
	"fmt"
	"strings"
)

func yamlFamily(name string, make func(n int) []byte) Family {
	return Family{Name: "YAML: " + name, YAML: true, Make: make}
}

func blocks() []Family {
	// Each level of a block has a line that is longer by one, so there are many small blocks.
	level := func(text string) string {
		var b strings.Builder
		for i := range 500 {
			b.WriteString(strings.Repeat(" ", i+1) + text + "\n")
		}
		return b.String()
	}
	mapping := func(i int) string {
		return fmt.Sprintf(" k%d:\n", i) + strings.ReplaceAll(level("a:"), "\n ", "\n  ") // below the key
	}
	return []Family{
		yamlFamily("deep blocks of mappings", fill("raw:\n", "", func(i int) string { return " " + strings.TrimPrefix(mapping(i), " ") })),
		yamlFamily("deep blocks of sequences", fill("raw:\n", "", same(level("-")))),
		yamlFamily("deep sequences on one line", fill("raw:\n", "", same(strings.Repeat("- ", deep)+"0\n"))),
		yamlFamily("a wide mapping", fill("map:\n", "", func(i int) string { return fmt.Sprintf(" k%d: v\n", i) })),
		yamlFamily("a wide sequence", fill("strings:\n", "", same("- v\n"))),
		yamlFamily("one key", fill("zz:\n", "", same(" k: v\n"))),
		yamlFamily("keys of other types", fill("raw:\n", "", func(i int) string { return fmt.Sprintf(" %d: 1\n %d.5: 2\n 0x%x: 3\n", i, i, i) })),
		yamlFamily("keys that are equal as strings", fill("raw:\n", "", func(i int) string { return fmt.Sprintf(" %d: 1\n '%d': 2\n", i, i) })),
		yamlFamily("keys that are zero", fill("raw:\n", "", same(" 0.0: 1\n -0.0: 2\n 0: 3\n"))),
		yamlFamily("keys with question marks", fill("raw:\n", "", func(i int) string { return fmt.Sprintf(" ? k%d\n : v\n ? |\n  l%d\n : w\n", i, i) })),
		yamlFamily("keys of 1000 characters", fill("raw:\n", "", func(i int) string { return fmt.Sprintf(" %s%d: v\n", strings.Repeat("k", 1000), i) })),
		yamlFamily("keys without values", fill("raw:\n", "", func(i int) string { return fmt.Sprintf(" k%d:\n", i) })),
		yamlFamily("tags", fill("raw:\n", "", same("- !!str 1\n- !!int \"2\"\n- !<tag:yaml.org,2002:str> x\n"))),
		yamlFamily("directives of tags", func(n int) []byte {
			head := fill("", "---\n", func(i int) string { return fmt.Sprintf("%%TAG !h%d! tag:yaml.org,2002:\n", i) })(n / 2)
			return append(head, fill("raw:\n", "", same("- !h0!str 1\n"))(n/2)...)
		}),
		yamlFamily("a long prefix of tags", func(n int) []byte {
			head := fill("%TAG !h! tag:", "\n---\n", same("x"))(n / 2)
			return append(head, fill("raw:\n", "", same("- !h!x 1\n"))(n/2)...)
		}).refused(),
		yamlFamily("numbers", fill("numbers:\n", "", same("- 1_000\n- 0x1f\n- 0b11\n- 1e3\n- .5\n- 190:20:30\n"))),
		yamlFamily("long numbers", fill("numbers:\n", "", same("- "+strings.Repeat("9", 300)+"\n"))),
		yamlFamily("defaults in items", fill("list:\n", "", same("- {}\n"))),
	}
}

func flows() []Family {
	return []Family{
		yamlFamily("deep flow sequences", fill("raw: [", "0]", same(nest("[", "0", "]", deep)+",\n"))),
		yamlFamily("deep flow mappings", fill("raw: [", "0]", same(nest("{a: ", "0", "}", deep)+",\n"))),
		yamlFamily("a wide flow sequence", fill("raw: [", "0]", same("a, 'b', \"c\", "))),
		yamlFamily("a wide flow mapping", fill("raw: {", "a: 0}", func(i int) string { return fmt.Sprintf("k%d: v, ", i) })),
		yamlFamily("pairs in a flow sequence", fill("raw: [", "0]", same("a: b, ? c : d, "))),
		yamlFamily("flow that never closes", fill("raw: [", "", same("{a: [b]}, "))).refused(),
		yamlFamily("JSON", fill(`{"raw": [`, "0]}", same(`{"a":[1,{"b":"c"}],"d":null},`))),
		yamlFamily("JSON with an odd escape", fill(`{"raw": ["\/",`, "0]}", same(`{"a":[1,{"b":"c"}],"d":null},`))),
		yamlFamily("JSON that is none at its end", fill(`{"raw": [`, "x]}", same(`{"a":[1,{"b":"c"}],"d":null},`))),
	}
}

func aliases() []Family {
	return []Family{
		yamlFamily("anchors", fill("raw:\n", "", func(i int) string { return fmt.Sprintf("- &a%d x\n", i) })),
		yamlFamily("one anchor again and again", fill("raw:\n", "", same("- &a x\n- *a\n"))),
		yamlFamily("aliases", fill("raw:\n- &a [1, {b: c}]\n", "", same("- *a\n"))),
		yamlFamily("anchors and aliases", fill("raw:\n", "", func(i int) string { return fmt.Sprintf("- &a%d [x]\n- *a%d\n", i, i/2) })),
		yamlFamily("aliases of aliases", fill("raw:\n- &a0 x\n", "", func(i int) string { return fmt.Sprintf("- &a%d [*a%d]\n- &b%d y\n", i+1, i*i%97*i/97, i) })).lookups(),
		yamlFamily("aliases for keys", fill("raw:\n- &a k\n", "", same("- *a : v\n"))),
		yamlFamily("an alias that refers to nothing", fill("raw:\n", "- *no\n", same("- &a x\n- *a\n"))).refused(),
	}
}

func merges() []Family {
	return []Family{
		yamlFamily("merge keys", fill("zz: &a {b: c, d: e}\nraw:\n", "", same("- {<<: *a, b: x}\n"))),
		yamlFamily("merge keys of lists", fill("zz: [&a {b: c}, &b {b: d, e: f}]\nraw:\n", "", same("- <<: [*a, *b]\n  b: x\n"))),
		yamlFamily("nested merge keys", fill("raw:\n", "", same("- "+nest("{<<: ", "{a: b}", ", c: d}", 40)+"\n"))),
		yamlFamily("deep merge keys", fill("zz: &a {b: c}\nraw:\n", "", same("- "+nest("{<<: *a, x: ", "0", "}", 2000)+"\n"))),
		yamlFamily("merge keys of what has one", fill("raw:\n- &a0 {b: c}\n", "", func(i int) string { return fmt.Sprintf("- &a%d {<<: *a%d}\n", i+1, i) })),
		yamlFamily("merge keys around anchors", fill("raw:\n", "", func(i int) string {
			return "- " + nest("{<<: ", fmt.Sprintf("{a: 1, <<: {a: [&a%d 1, &b%d 2]}}", i, i), "}", 40) + "\n"
		})),
		yamlFamily("a list to merge of mappings and aliases", fill("zz: &a {}\nraw:\n <<: [", "*a]\n", same("{},  *a, \n  "))),
		yamlFamily("merge keys in one mapping", fill("zz: &a {b: c}\nraw:\n", "", same(" <<: *a\n"))),
		yamlFamily("a wide mapping that is merged into", fill("zz: &a {k1: c, x: d}\nraw:\n <<: *a\n", "", func(i int) string { return fmt.Sprintf(" k%d: v\n", i) })),
		yamlFamily("a wide mapping that is merged", func(n int) []byte {
			return append(fill("zz: &a\n", "", func(i int) string { return fmt.Sprintf(" k%d: v\n", i) })(n), "raw:\n <<: *a\n k1: w\n"...)
		}),
	}
}

func lines() []Family {
	var list []Family
	for _, end := range [][2]string{{"LF", "\n"}, {"CRLF", "\r\n"}, {"CR", "\r"}} {
		list = append(list, yamlFamily("lines that end in "+end[0], fill("raw:"+end[1], "", same("- \"a"+end[1]+"  b\""+end[1]))))
	}
	for _, end := range [][2]string{{"NEL", "\u0085"}, {"LS", "\u2028"}} {
		list = append(list,
			yamlFamily(end[0]+" in quotes", fill("raw:\n", "", same("- \"a"+end[1]+"  b\"\n- 'a"+end[1]+"'\n"))),
			yamlFamily(end[0]+" in one scalar", fill(`s: "`, "\"\n", same("a"+end[1]))))
	}
	return append(list,
		yamlFamily("comments", fill("s: a\n", "", same("# a comment\n  # another\n"))),
		yamlFamily("comments after values", fill("raw:\n", "", same("- a # comment\n- 'b'  # another\n"))),
		yamlFamily("one long comment", fill("s: a # ", "\n", same("comment "))),
		yamlFamily("blank lines", fill("s: a\n", "", same("\n  \n"))),
		yamlFamily("blank lines between values", fill("raw:\n", "", same("- a\n\n  \n\n"))),
		yamlFamily("spaces", fill("s: a\nzz:", "\n", same("          "))),
		yamlFamily("tabs", fill("raw:\n", "", same("- a\t\n"))),
		yamlFamily("literals", fill("raw:\n", "", same("- |\n  a\n  b\n\n"))),
		yamlFamily("one literal", fill("s: |\n", "", same("  a line\n\n"))),
		yamlFamily("one literal of blank lines", fill("s: |+\n", "  x\n", same("\n"))),
		yamlFamily("folded", fill("raw:\n", "", same("- >-\n  a\n  b\n\n   c\n"))),
		yamlFamily("one folded", fill("s: >\n", "", same("  a line\n  b\n   c\n\n"))),
		yamlFamily("plain over lines", fill("s: a\n", "", same("  b\n\n  c\n"))),
		yamlFamily("plain over lines, many", fill("raw:\n", "", same("- a\n  b\n"))),
		yamlFamily("single quotes", fill("s: '", "'\n", same("it''s\n  "))),
		yamlFamily("double quotes", fill(`s: "`, "\"\n", same("a\\n\\u00e9\\\n  \\x41 é\n  "))),
		yamlFamily("one long plain line", fill("s: a", "\n", same(" b#c"))),
		yamlFamily("not ASCII", fill("raw:\n", "", same("- é日😀: ü\n"))),
		yamlFamily("ends of documents", fill("s: a\n", "", same("...\n# comment\n"))),
	)
}

// lookups returns the family with Lookups set.
func (f Family) lookups() Family {
	f.Lookups = true
	return f
}

// refused returns the family with Fatal set.
func (f Family) refused() Family {
	f.Fatal = true
	return f
}
