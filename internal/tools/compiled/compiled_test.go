package compiled

import (
	"go/version"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMarks compares the marked functions of the root module with the compiler's output.
func TestMarks(t *testing.T) {
	skipOthers(t, "../../..")
	wd, err := os.Getwd()
	require.NoError(t, err)
	packages, err := List("../../..", "./...")
	require.NoError(t, err)
	// The go command takes an old result if the files that the test opened have not changed. It looks
	// only at names that start with the folder of the test's module. So do these, uncleaned.
	marked, err := Marked(os.DirFS(wd+"/../../.."), filepath.Join(wd, "../../.."), packages)
	require.NoError(t, err)
	noCalls, inline := 0, 0
	for _, f := range marked {
		if f.NoCalls {
			noCalls++
		}
		if f.Inline {
			inline++
		}
	}
	t.Logf("%d functions that make no calls, %d that are inlined", noCalls, inline)
	require.Positive(t, noCalls)
	require.Positive(t, inline)
	faults, err := Check("../../..", marked, "./...")
	require.NoError(t, err)
	for _, fault := range faults {
		t.Error(fault)
	}
}

// skipOthers skips a test for compilers that the marks are not about: code for other machines makes
// other calls, and each release of Go inlines in its own way.
func skipOthers(t *testing.T, dir string) {
	tools, err := ToolchainAt(dir)
	require.NoError(t, err)
	packages, err := List(dir, "./...")
	require.NoError(t, err)
	require.NotEmpty(t, packages)
	want := packages[0].Module.GoVersion
	if version.Lang(tools.GOVERSION) != version.Lang("go"+want) {
		t.Skipf("marks are about the compiler of Go %s, and this one is of %s", want, tools.GOVERSION)
	}
	if tools.GOARCH != "amd64" {
		t.Skipf("marks are about the code for amd64, and this is for %s", tools.GOARCH)
	}
}

// TestFaults has a package whose functions are not as their marks say.
func TestFaults(t *testing.T) {
	skipOthers(t, ".")
	wd, err := os.Getwd()
	require.NoError(t, err)
	packages, err := List(".", "./testdata/marks")
	require.NoError(t, err)
	marked, err := Marked(os.DirFS(wd), wd, packages)
	require.NoError(t, err)
	faults, err := Check(".", marked, "./testdata/marks")
	require.NoError(t, err)
	const file = "testdata/marks/marks.go:"
	require.Len(t, faults, 8, "%s", strings.Join(faults, "\n"))
	for i, want := range []string{
		"18: Calls must make no calls, and at " + file + "20 calls called",
		"26: (*node).Dynamic must make no calls, and at " + file + "27 calls a function value or",
		"26: (*node).Dynamic must make no calls, and at " + file + "28 calls a function value or",
		"32: Appends must make no calls, and at " + file + "32 calls runtime.growslice",
		"37: EndsInCall must make no calls, and at " + file + "37 calls called",
		"45: larger must be inlined, and cannot be: function too complex: cost ",
		"61: even must be inlined, and is called at " + file + "63 in odd",
		"61: even must be inlined, and is called at " + file + "63 in Even",
	} {
		assert.Contains(t, faults[i], file+want)
	}
}

// TestReadOutput has output that the package of TestFaults does not lead to.
func TestReadOutput(t *testing.T) {
	const can = "f.go:3:6: can inline f with cost 4 as: func() {}\n"
	const jump = "m.f STEXT size=40 args=0x8\n" +
		"\t0x0000 00000 (/m/f.go:4)\tJMP\tm.g(SB)\n\t0x0002 00002 (/m/f.go:4)\tJMP\t16\n"
	const literal = "f.go:3:6: can inline f.func1 with cost 4 as: func() {}\n" +
		"f.go:3:6: cannot inline f: recursive\n"
	for _, c := range []struct {
		name, output string
		want         []string
	}{
		{"nothing", "# m\n", []string{
			"f.go:3: f must make no calls, and has no machine code",
			"f.go:3: f must be inlined, and cannot be: the compiler does not say why",
		}},
		{"without code", "./" + can + "m.f STEXT size=0 args=0x0\n", []string{
			"f.go:3: f must make no calls, and has no machine code",
		}},
		{"a call at the end", "/m/" + can + jump, []string{
			"f.go:3: f must make no calls, and at f.go:4 calls g",
		}},
		{"a literal on its line", literal + jump, []string{
			"f.go:3: f must make no calls, and at f.go:4 calls g",
			"f.go:3: f must be inlined, and cannot be: recursive",
		}},
	} {
		marked := []*Function{{Package: "m", Name: "f", File: "/m/f.go", Line: 3, NoCalls: true, Inline: true}}
		o, err := readOutput(strings.NewReader(c.output), "/m", marked)
		require.NoError(t, err, c.name)
		assert.Equal(t, c.want, o.faults("/m", marked), c.name)
	}
}

// TestCheckFails has packages that do not compile.
func TestCheckFails(t *testing.T) {
	_, err := Check(".", nil, "./testdata/none")
	require.ErrorContains(t, err, "testdata/none")
	_, err = Check("testdata/none", nil, ".")
	require.Error(t, err)
	_, err = List(".", "./testdata/none/...", "-x")
	require.Error(t, err)
	_, err = ToolchainAt("testdata/none")
	require.Error(t, err)
}

// TestMarkedIn has marks where they may be, and where they may not.
func TestMarkedIn(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       []Function
		fault      string
	}{
		{"none", "func f() {}", nil, ""},
		{
			"a function", "// f is hot.\n//\n//espalier:inline\nfunc f() {}",
			[]Function{{Name: "f", Line: 6, Inline: true}}, "",
		},
		{
			"both", "//espalier:inline\n//espalier:nocalls\nfunc f[T any]() {}",
			[]Function{{Name: "f", Line: 5, Inline: true, NoCalls: true}}, "",
		},
		{
			"a method", "//espalier:inline\nfunc (T) f() {}",
			[]Function{{Name: "T.f", Line: 4, Inline: true}}, "",
		},
		{
			"methods of generic types",
			"//espalier:nocalls\nfunc (t *T[K, V]) f() {}\n\n//espalier:inline\nfunc (T[K]) g() {}",
			[]Function{{Name: "(*T).f", Line: 4, NoCalls: true}, {Name: "T.g", Line: 7, Inline: true}}, "",
		},
		{"not known", "//espalier:nocall\nfunc f() {}", nil, "f.go:3:1: //espalier:nocall is no mark"},
		{"with a space", "// espalier:inline\nfunc f() {}", nil, "f.go:3:1: // espalier:inline is no"},
		{"in a function", "func f() {\n\t//espalier:nocalls\n\tfor {\n\t}\n}", nil, "f.go:4:2: "},
		{"on a type", "//espalier:inline\ntype T int", nil, "not in the comment on a function"},
		{"apart from it", "//espalier:inline\n\nfunc f() {}", nil, "not in the comment on a function"},
		{"no code", "func", nil, "f.go:3:"},
	} {
		got, err := markedIn("f.go", []byte("package p\n\n"+c.code+"\n"))
		if c.fault != "" {
			require.ErrorContains(t, err, c.fault, c.name)
			continue
		}
		require.NoError(t, err, c.name)
		require.Len(t, got, len(c.want), c.name)
		for i, f := range got {
			c.want[i].File = "f.go"
			assert.Equal(t, c.want[i], *f, c.name)
		}
	}
}
