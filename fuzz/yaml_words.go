package fuzz

// The meaning of scalars, by the rules and not by any reader: section 8.1 to 8.3 of the server's
// semantics, and for Core section 10.3 of YAML 1.2.

// A plainScalar is the spelling of a plain scalar, with its value in the two dialects, and its
// value as a key on the server.
type plainScalar struct {
	text       string
	kubernetes any
	core       any
	name       string // "" if it cannot be a key, or the dialects disagree about it
	key        any
}

var plainScalars = []plainScalar{
	{"true", true, true, "true", true},
	{"True", true, true, "true", true},
	{"TRUE", true, true, "true", true},
	{"yes", true, "yes", "true", true},
	{"Yes", true, "Yes", "true", true},
	{"on", true, "on", "true", true},
	{"ON", true, "ON", "true", true},
	{"y", true, "y", "true", true},
	{"Y", true, "Y", "true", true},
	{"false", false, false, "false", false},
	{"False", false, false, "false", false},
	{"no", false, "no", "false", false},
	{"NO", false, "NO", "false", false},
	{"off", false, "off", "false", false},
	{"n", false, "n", "false", false},
	{"yEs", "yEs", "yEs", "yEs", "yEs"},
	{"tRUE", "tRUE", "tRUE", "tRUE", "tRUE"},
	{"null", nil, nil, "", nil},
	{"Null", nil, nil, "", nil},
	{"NULL", nil, nil, "", nil},
	{"~", nil, nil, "", nil},
	{"nULL", "nULL", "nULL", "nULL", "nULL"},
	{"~x", "~x", "~x", "~x", "~x"},

	{"0", jsonNumber("0"), jsonNumber("0"), "0", 0},
	{"7", jsonNumber("7"), jsonNumber("7"), "7", 7},
	{"-31", jsonNumber("-31"), jsonNumber("-31"), "-31", -31},
	{"+12", jsonNumber("12"), jsonNumber("12"), "12", 12},
	{"1000", jsonNumber("1000"), jsonNumber("1000"), "1000", 1000},
	{"0777", jsonNumber("511"), jsonNumber("777"), "511", 511},
	{"-037", jsonNumber("-31"), jsonNumber("-37"), "-31", -31},
	{"0o777", jsonNumber("511"), jsonNumber("511"), "511", 511},
	{"0O17", jsonNumber("15"), "0O17", "15", 15},
	{"0x1F", jsonNumber("31"), jsonNumber("31"), "31", 31},
	{"0X1f", jsonNumber("31"), "0X1f", "31", 31},
	{"-0x1F", jsonNumber("-31"), "-0x1F", "-31", -31},
	{"0b101", jsonNumber("5"), "0b101", "5", 5},
	{"1_000", jsonNumber("1000"), "1_000", "1000", 1000},
	{"0x_1_F", jsonNumber("31"), "0x_1_F", "31", 31},
	{"9223372036854775807", jsonNumber("9223372036854775807"), jsonNumber("9223372036854775807"), "9223372036854775807", 9223372036854775807},
	{"9223372036854775808", jsonNumber("9223372036854775808"), jsonNumber("9223372036854775808"), "", nil},
	{"18446744073709551615", jsonNumber("18446744073709551615"), jsonNumber("18446744073709551615"), "", nil},
	{"-9223372036854775808", jsonNumber("-9223372036854775808"), jsonNumber("-9223372036854775808"), "-9223372036854775808", -9223372036854775808},
	{"08", jsonNumber("8"), jsonNumber("8"), "8", 8.0},
	{"1e3", jsonNumber("1000"), jsonNumber("1000"), "1000", 1e3},
	{"1E+3", jsonNumber("1000"), jsonNumber("1000"), "1000", 1e3},
	{"-1.5e+3", jsonNumber("-1500"), jsonNumber("-1500"), "-1500", -1.5e3},
	{"1.0", jsonNumber("1"), jsonNumber("1"), "1", 1.0},
	{"1.50", jsonNumber("1.5"), jsonNumber("1.5"), "1.5", 1.5},
	{".5", jsonNumber("0.5"), jsonNumber("0.5"), "0.5", 0.5},
	{"+.5", jsonNumber("0.5"), jsonNumber("0.5"), "0.5", 0.5},
	{"5.", jsonNumber("5"), jsonNumber("5"), "5", 5.0},
	{"1_0.5_0", jsonNumber("10.5"), "1_0.5_0", "10.5", 10.5},
	{"1e-7", jsonNumber("1e-7"), jsonNumber("1e-7"), "1e-07", 1e-7},
	{"1e21", jsonNumber("1e+21"), jsonNumber("1e+21"), "1e+21", 1e21},
	{"3.14159265358979", jsonNumber("3.14159265358979"), jsonNumber("3.14159265358979"), "3.1415927", 3.14159265358979},
	{"1e100", jsonNumber("1e+100"), jsonNumber("1e+100"), ".inf", 1e100},
	{"123456789012345678901234567890", jsonNumber("1.2345678901234568e+29"), jsonNumber("1.2345678901234568e+29"), "1.2345679e+29", 123456789012345678901234567890.0},

	{"_1", "_1", "_1", "_1", "_1"},
	{"0x", "0x", "0x", "0x", "0x"},
	{"0b2", "0b2", "0b2", "0b2", "0b2"},
	{"0o8", "0o8", "0o8", "0o8", "0o8"},
	{"1e", "1e", "1e", "1e", "1e"},
	{"1e+", "1e+", "1e+", "1e+", "1e+"},
	{"0x1p3", "0x1p3", "0x1p3", "0x1p3", "0x1p3"},
	{"1.2.3", "1.2.3", "1.2.3", "1.2.3", "1.2.3"},
	{"10Gi", "10Gi", "10Gi", "10Gi", "10Gi"},
	{"+", "+", "+", "+", "+"},
	{".", ".", ".", ".", "."},
	{"..", "..", "..", "..", ".."},
	{"--", "--", "--", "--", "--"},
	{"190:20:30", "190:20:30", "190:20:30", "190:20:30", "190:20:30"},
	{"2001-01-01", "2001-01-01", "2001-01-01", "2001-01-01", "2001-01-01"},
	{"2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"},
	{"=", "=", "=", "=", "="},
	{"nan", "nan", "nan", "nan", "nan"},
	{"infinity", "infinity", "infinity", "infinity", "infinity"},
}

// valueOnly are plain scalars with another meaning as a key, or none.
var valueOnly = []plainScalar{
	{"<<", "<<", "<<", "", nil},
}

// keyOnly are plain scalars that have no value in JSON.
var keyOnly = []plainScalar{
	{".inf", nil, nil, ".inf", "+inf"},
	{"-.Inf", nil, nil, "-.inf", "-inf"},
}

// A taggedScalar is a scalar with a tag, which determines its value.
type taggedScalar struct {
	tag, text string
	value     any
	name      string
	key       any
	traits    YAMLTraits
}

var taggedScalars = []taggedScalar{
	{"!!str", "5", "5", "5", "5", 0},
	{"!!str", "~", "~", "~", "~", 0},
	{"!!str", "yes", "yes", "yes", "yes", 0},
	{"!!str", "'a b'", "a b", "a b", "a b", 0},
	{"!!str", "", "", "", "", 0},
	{"!", "5", "5", "5", "5", 0},
	{"!", "\"a\"", "a", "a", "a", 0},
	{"!!int", "5", jsonNumber("5"), "5", 5, 0},
	{"!!int", "0x1F", jsonNumber("31"), "31", 31, 0},
	{"!!int", "'7'", jsonNumber("7"), "7", 7, 0},
	{"!!float", "5", jsonNumber("5"), "5", 5.0, 0},
	{"!!float", "'1.50'", jsonNumber("1.5"), "1.5", 1.5, 0},
	{"!!bool", "true", true, "true", true, 0},
	{"!!bool", "\"false\"", false, "false", false, 0},
	{"!!null", "~", nil, "", nil, 0},
	{"!!null", "", nil, "", nil, 0},
	{"!!null", "''", nil, "", nil, 0},
	{"!!timestamp", "2001-01-01", "2001-01-01", "2001-01-01", "2001-01-01", 0},
	{"!!binary", "YQ==", "a", "a", "a", Unsettled},
	{"!!binary", "\"w6k=\"", "é", "é", "é", Unsettled},
	{"!!binary", "/w==", "\uFFFD", "", nil, BinaryTag},
	{"!foo", "5", "5", "5", "5", CustomTag},
	{"!foo:bar", "'x'", "x", "x", "x", CustomTag},
	{"!!python/object:os.system", "x", "x", "x", "x", CustomTag},
}

// plainWords begin plain scalars, and are strings on their own. They are also safe within flow
// collections.
var plainWords = []string{
	"a", "b", "abc", "name", "spec", "exactly-16-bytes", "a-b", "x:y", "a#b", "http://example.com/x", "v1.2.3", "-x", "é", "日本語", "🌳",
	"naïve", "a\u00a0b", "it's", "50%", "a=b", "a|b", "x&y", "a*", "a!", "q\"t", "a@b", "c:\\dir", "<a>", "$HOME", "(x)", ";", "a~",
	"a-rather-long-word-that-does-not-fit-into-any-one-machine-word",
}

// blockWords are safe only outside of flow collections.
var blockWords = []string{"a,b", "a[0]", "a{b}", "?x", ":x", "a?b", "x,", "b]", "c}"}

// innerWords follow the first word of a plain scalar.
var innerWords = []string{"-", "--", "&x", "*y", "!z", "'q'", "\"q\"", "|", ">", "%", "@", "`", "=", "<<", "1", "true", "~", "a#b"}

// keyWords are the names of most members: few, so that they repeat.
var keyWords = []string{"a", "b", "c", "d", "e", "f", "spec", "kind", "name", "items", "metadata", "longer-than-sixteen-bytes", "é", "🌳", "a.b", "x/y"}

// escapes are the escapes of double-quoted scalars. JSON lacks some of them.
var escapes = []struct{ text, value string }{
	{`\n`, "\n"}, {`\t`, "\t"}, {`\"`, `"`}, {`\\`, `\`}, {`\0`, "\x00"}, {`\a`, "\a"}, {`\b`, "\b"}, {`\e`, "\x1b"}, {`\f`, "\f"}, {`\r`, "\r"},
	{`\v`, "\v"}, {`\ `, " "}, {`\_`, "\u00a0"}, {`\N`, "\u0085"}, {`\L`, "\u2028"}, {`\P`, "\u2029"}, {`\x41`, "A"}, {`\x7f`, "\x7f"},
	{`\xe9`, "é"}, {`\u00e9`, "é"}, {`\u2028`, "\u2028"}, {`\uFEFF`, "\uFEFF"}, {`\U0001F600`, "😀"}, {"\\\t", "\t"},
}
