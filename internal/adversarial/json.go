package adversarial

import (
	"fmt"
	"strings"
)

// deep leaves room for two more levels below the limit.
const deep = 9_000

func nested() []Family {
	list := fields("deep arrays", func(before, after string) func(int) []byte {
		return fill(before+"[", "0]"+after, same(nest("[", "", "]", deep)+","))
	})
	list = append(list, fields("deep objects", func(before, after string) func(int) []byte {
		return fill(before+"[", "0]"+after, same(nest(`{"":`, "0", "}", deep)+","))
	})...)
	list = append(list, fields("duplicates at every level", func(before, after string) func(int) []byte {
		return fill(before+"[", "0]"+after, same(nest(`{"a":1,"a":`, "0", "}", deep)+","))
	})...)
	return append(list,
		Family{Name: "empty containers", Make: fill(`{"raw":[`, `0]}`, same(`[],{},`))},
		Family{Name: "an array that never closes", Fatal: true, Make: fill(`{"zz":[`, ``, same(`{"a":[]},`))},
	)
}

func objects() []Family {
	list := fields("one name", func(before, after string) func(int) []byte {
		return fill(before+"{", `"":""}`+after, same(`"":"",`))
	})
	list = append(list, fields("unknown fields, deep down", func(before, after string) func(int) []byte {
		return fill(before+nest(`{"a":`, "{", "", deep), `"":0`+nest("", "}", "}", deep)+after, func(i int) string { return fmt.Sprintf(`"u%d":0,`, i) })
	})...)
	list = append(list, fields("one name, deep down", func(before, after string) func(int) []byte {
		return fill(before+nest(`{"a":`, "{", "", deep), `"":0`+nest("", "}", "}", deep)+after, same(`"":0,`))
	})...)
	list = append(list, fields("distinct names", func(before, after string) func(int) []byte {
		return fill(before+"{", `"":""}`+after, func(i int) string { return fmt.Sprintf(`"%x":"",`, i) })
	})...)
	list = append(list, fields("each name twice", func(before, after string) func(int) []byte {
		return fill(before+"{", `"":""}`+after, func(i int) string { return fmt.Sprintf(`"%x":"",`, i/2) })
	})...)
	for _, f := range fields("names that come again much later", func(before, after string) func(int) []byte {
		return func(n int) []byte {
			return fill(before+"{", `"":""}`+after, func(i int) string { return fmt.Sprintf(`"%x":"",`, i%(n/20)) })(n)
		}
	}) {
		list = append(list, f.lookups())
	}
	list = append(list, fields("escaped names", func(before, after string) func(int) []byte {
		return fill(before+"{", `"":""}`+after, func(i int) string { return fmt.Sprintf(`"\u0061%x\u0062":"",`, i) })
	})...)
	list = append(list, fields("objects just too large for pairs", func(before, after string) func(int) []byte {
		var names strings.Builder
		for i := range 33 {
			fmt.Fprintf(&names, `"k%d":"",`, i)
		}
		return fill(before+`{"l":[`, `0]}`+after, same(`{`+names.String()+`"k0":""},`))
	})...)
	return append(list,
		Family{Name: "one declared name", Make: fill(`{`, `"s":""}`, same(`"s":"",`))},
		Family{Name: "repeated spec", Make: fill(`{`, `"spec":{}}`, same(`"spec":{"a":"x","b":7,"c":[1]},`))},
		Family{Name: "names in no order", Make: fill(`{"objects":{`, `"":{}}}`, func(i int) string { return fmt.Sprintf(`"%08x":{"a":"b"},`, uint32(i)*2654435761) })},
		Family{Name: "long names", Make: fill(`{"map":{`, `"":""}}`, func(i int) string { return fmt.Sprintf(`"%s%d":"",`, strings.Repeat("n", 40_000), i) })},
	)
}

func scalars() []Family {
	list := []Family{
		{Name: "short numbers", Make: fill(`{"numbers":[`, `0]}`, same(`1,-0,22,`))},
		{Name: "long numbers", Make: fill(`{"numbers":[`, `0]}`, same(strings.Repeat("9", 300)+","))},
		{Name: "exponents", Make: fill(`{"numbers":[`, `0]}`, func(i int) string { return fmt.Sprintf(`1e%d,`, i%300) })},
		{Name: "long exponents", Make: fill(`{"numbers":[`, `0]}`, same(`1e-`+strings.Repeat("9", 900)+","))},
		{Name: "long fractions", Make: fill(`{"numbers":[`, `0]}`, same(`0.`+strings.Repeat("1", 900)+"e10,"))},
		{Name: "numbers, dropped", Make: fill(`{"zz":[`, `0]}`, same(`1.5e3,-0.25,`))},
		{Name: "literals", Make: fill(`{"raw":[`, `0]}`, same(`true,false,null,`))},
		{Name: "short strings", Make: fill(`{"strings":[`, `""]}`, same(`"","a",`))},
	}
	for _, s := range [][2]string{
		{"plain", "plain "}, {"escapes", `\n\"`}, {"escapes of four digits", `\u00e9`}, {"surrogate pairs", `\ud83d\ude00`},
		{"not ASCII", "é日😀"}, {"a mix", `a\u00e9é`}, {"long steps and one escape", strings.Repeat("x", 70) + `\n`},
	} {
		list = append(list,
			Family{Name: "one long string, " + s[0], Make: fill(`{"s":"`, `"}`, same(s[1]))},
			Family{Name: "strings, " + s[0], Make: fill(`{"zz":["`, `"]}`, same(strings.Repeat(s[1], 20)+`","`))})
	}
	return append(list,
		Family{Name: "what is not UTF-8", Make: fill(`{"raw":["`, `"]}`, same("ab\xff\",\"")), Fatal: true})
}

// places returns documents that have work between their values.
func places() []Family {
	return []Family{
		{Name: "nulls that are dropped", Make: fill(`{"map":{`, `"":""}}`, func(i int) string { return fmt.Sprintf(`"%x":null,`, i) })},
		{Name: "nulls of items", Make: fill(`{"list":[`, `null]}`, same(`{"a":null,"o":null},`))},
		{Name: "defaults in items", Make: fill(`{"list":[`, `{}]}`, same(`{},`))},
		{Name: "wrong types", Make: fill(`{"list":[`, `{}]}`, same(`[{"a":{"b":[1]}}],"a",`))},
		{Name: "names like declared ones", Make: fill(`{"list":[`, `{}]}`, func(i int) string { return fmt.Sprintf(`{"long-name-of-x-field-%d-declared":""},`, i%10) })},
		{Name: "a dropped array", Make: fill(`{"zz":[`, `0]}`, same(`{"a":[1,{"b":"c"}],"d":null},`))},
		{Name: "a kept tree", Make: fill(`{"raw":[`, `0]}`, same(`{"a":[1,{"b":"c"}],"d":null},`))},
		{Name: "dropped and kept in turns", Make: fill(`{"list":[`, `{}]}`, same(`{"zz":1,"a":"","yy":[2]},`))},
		{Name: "white space", Make: fill(`{"raw":[`, `0]}`, same(" \t 1 ,\r\n"))},
		{Name: "line feeds", Make: fill(`{"zz":0,"raw":`, `0}`, same("\n"))},
		{Name: "line feeds between findings", Make: fill(`{"objects":{`, `"":{}}}`, func(i int) string { return fmt.Sprintf("\"%x\":{\n\r\"zz\":0},", i) })},
		{Name: "labels", Make: fill(`{"metadata":{"labels":{`, `"":""}}}`, func(i int) string { return fmt.Sprintf(`"%x":"b",`, uint32(i)*2654435761) })},
		{Name: "owners", Make: fill(`{"metadata":{"ownerReferences":[`, `{}]}}`, same(`{"name":"a","uid":"b","x":1},`))},
		{Name: "a fault at the end", Fatal: true, Make: fill(`{"objects":{`, `"":}`, func(i int) string { return fmt.Sprintf("\"%x\":{\"zz\":\n[0]},", i) })},
	}
}
