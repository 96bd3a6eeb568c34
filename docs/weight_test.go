package docs

import (
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/espalier-dev/espalier/"

// linked are the packages outside of the standard library that a program has because of decoder, where
// there are no kernels.
var linked = []string{
	"github.com/go-json-experiment/json",
	"github.com/go-json-experiment/json/internal",
	"github.com/go-json-experiment/json/internal/jsonflags",
	"github.com/go-json-experiment/json/internal/jsonopts",
	"github.com/go-json-experiment/json/internal/jsonwire",
	"github.com/go-json-experiment/json/jsontext",
	module + "decoder",
	module + "errors",
	module + "internal/apiserver",
	module + "internal/bounded",
	module + "internal/fieldpath",
	module + "internal/findings",
	module + "internal/jsonv2",
	module + "internal/jsonwire",
	module + "internal/kernel",
	module + "internal/memory",
	module + "internal/names",
	module + "internal/position",
	module + "internal/program",
	module + "internal/schemapath",
	module + "internal/screen",
	module + "internal/skip",
	module + "internal/steps",
	module + "internal/syntax",
	module + "internal/values",
	module + "internal/walk",
	module + "schema",
	module + "yamlbridge",
	"sigs.k8s.io/json",
	"sigs.k8s.io/json/internal/golang/encoding/json",
}

// kernels is what only these need: it knows the processor.
const kernels = "golang.org/x/sys/cpu"

// older is what github.com/go-json-experiment/json is made of before Go 1.27, whose encoding/json/v2 it stands
// for since.
const older = "github.com/go-json-experiment/json/internal"

// TestWeight holds what a program links because it decodes. Of the standard library it is not what formats and
// patterns are validated with, and nothing of networks, cryptography, logs and processes.
func TestWeight(t *testing.T) {
	for _, machine := range []struct {
		os, arch, tags string
		kernels        bool
	}{
		{"linux", "amd64", "", true},
		{"linux", "amd64", "purego", false},
		{"linux", "arm64", "", false},
		{"windows", "amd64", "", true},
		{"wasip1", "wasm", "", false},
	} {
		t.Run(machine.os+"/"+machine.arch+"/"+machine.tags, func(t *testing.T) {
			want := slices.Clone(linked)
			if machine.kernels {
				want = append(want, kernels)
			}
			if slices.Contains(build.Default.ReleaseTags, "go1.27") {
				want = slices.DeleteFunc(want, func(name string) bool { return strings.HasPrefix(name, older) })
			}
			got := dependencies(t, "decoder", machine.os, machine.arch, machine.tags)
			t.Logf("%d packages", len(got))
			assert.ElementsMatch(t, want, slices.DeleteFunc(slices.Clone(got), isStandard))
			if machine.tags == "purego" {
				return // the standard library knows this tag, too: hash/maphash has its seeds from package crypto then
			}
			for _, name := range got {
				assert.False(t, isStandard(name) && notLinked.MatchString(name), "decoder links %s", name)
			}
		})
	}
	if !slices.Contains(build.Default.ReleaseTags, "go1.27") {
		all := dependencies(t, "decoder", "linux", "amd64", "")
		page, err := os.ReadFile("performance.md")
		require.NoError(t, err)
		want := fmt.Sprintf("links %d packages, %d of them from outside the\nstandard library", len(all), len(all)-countStandard(all))
		assert.True(t, strings.Contains(string(page), want), "docs/performance.md: %s", want)
	}

	// What the pattern is made for is there.
	validation := dependencies(t, "schema/validation", "linux", "amd64", "")
	for _, name := range []string{"net", "net/mail", "net/url", "regexp", "regexp/syntax", "mime", "log"} {
		assert.Contains(t, validation, name)
		assert.Regexp(t, notLinked, name)
	}
}

// notLinked are packages of the standard library.
var notLinked = regexp.MustCompile(`^(net|regexp|mime|bufio|log|flag|html|text|go|crypto|database|archive|compress|image|testing|os/\w+|encoding/(gob|xml|pem|csv|asn1))(/|$)`)

func countStandard(names []string) (n int) {
	for _, name := range names {
		if isStandard(name) {
			n++
		}
	}
	return n
}

func isStandard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

// dependencies returns what a package of the module links on a machine, itself included.
func dependencies(t *testing.T, of, system, arch, tags string) []string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-tags", tags, module+of)
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "GOEXPERIMENT=", "GOFLAGS=", "CGO_ENABLED=0")
	out, err := list.Output()
	require.NoError(t, err)
	names := strings.Fields(string(out))
	require.Contains(t, names, module+of)
	return names
}
