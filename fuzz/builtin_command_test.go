package fuzz

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	kserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/espalier-dev/espalier/decoder"
)

// typedDecoder is the decoder of API servers and clients for built-in kinds. It is strict: it names
// unknown and duplicate fields.
var typedDecoder = kserializer.NewSerializerWithOptions(kserializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kserializer.SerializerOptions{Strict: true})

// TestBuiltinCommand compares what check says of built-in kinds with the typed decoder of the same
// release: which objects it refuses, and which fields it calls unknown or duplicate. The objects
// are the fixtures of k8s.io/api and examples that the command makes, as they are, with mistakes,
// and with odd values.
func TestBuiltinCommand(t *testing.T) {
	objects := slices.Concat(apiFixtures(t), builtinExamples(t))
	var documents [][]byte
	for i, js := range objects {
		documents = append(documents, js)
		r := rand.New(rand.NewPCG(uint64(i), 1))
		spans := scalarSpans(t, js)
		for range 18 {
			at, odd := spans[r.IntN(len(spans))], oddScalars[r.IntN(len(oddScalars))]
			for _, mutant := range [][]byte{Mutate(js, r), slices.Concat(js[:at[0]], []byte(odd), js[at[1]:])} {
				v, k, err := decoder.PeekType(js)
				require.NoError(t, err)
				if mv, mk, err := decoder.PeekType(mutant); err == nil && v == mv && k == mk {
					documents = append(documents, mutant)
				}
			}
		}
	}
	said := checkDocuments(t, documents)
	refused, fields, repeated, empty, arrays := 0, 0, 0, 0, 0
	for i, js := range documents {
		_, _, err := typedDecoder.Decode(js, nil, nil)
		strict, isStrict := runtime.AsStrictDecodingError(err)
		isRefused := err != nil && !isStrict
		if isRefused {
			refused++
		}
		switch {
		case repeatsName(js):
			// The typed decoder decodes every value of a name that repeats, also those that do not
			// win, and does not look for repetitions in what it drops or keeps as it is.
			repeated++
			if err != nil {
				assert.NotEmpty(t, said[i].all, "server: %v\n%s", err, js)
			}
			continue
		case bytes.Contains(js, []byte(`"":`)):
			// It spells empty names in another way.
			empty++
			assert.Equal(t, err != nil, len(said[i].fields) > 0 || said[i].refused, "server: %v\nhere: %v\n%s", err, said[i].all, js)
			continue
		case err == nil && said[i].refused && slices.ContainsFunc(said[i].all, isArrayOfBytes):
			// It takes an array of numbers for bytes, unlike the schema, which asks for base64.
			arrays++
			continue
		}
		if !assert.Equal(t, isRefused, said[i].refused, "server: %v\nhere: %v\n%s", err, said[i].all, js) || isRefused {
			continue
		}
		var want []string
		if isStrict {
			for _, err := range strict.Errors() {
				want = append(want, err.Error())
			}
		}
		slices.Sort(want)
		fields += len(want)
		assert.Equal(t, want, said[i].fields, "%s", js)
	}
	t.Logf("%d objects, %d documents, %d refused, %d unknown or duplicate fields; %d repeat names, %d have empty ones, %d have arrays of bytes",
		len(objects), len(documents), refused, fields, repeated, empty, arrays)
	assert.Greater(t, len(objects), 250)
	assert.Greater(t, refused, 1000)
	assert.Greater(t, fields, 1000)
}

// repeatsName reports whether an object in a document repeats a name.
func repeatsName(js []byte) bool {
	return jsontext.Value(js).IsValid(jsontext.AllowDuplicateNames(true)) && !jsontext.Value(js).IsValid()
}

// isArrayOfBytes reports whether a finding is of an array where bytes are meant.
func isArrayOfBytes(message string) bool {
	return strings.HasSuffix(message, "must be a string, not an array")
}

// apiFixtures returns the fixtures of k8s.io/api for kinds that the newest release has.
func apiFixtures(t *testing.T) (all [][]byte) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	require.NoError(t, err)
	names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "testdata/HEAD/*.json"))
	require.NoError(t, err)
	known := map[string]bool{}
	for _, k := range builtinKinds(t) {
		known[k.APIVersion+" "+k.Kind] = true
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		apiVersion, kind, err := decoder.PeekType(text)
		require.NoError(t, err)
		if known[apiVersion+" "+kind] {
			all = append(all, compacted(t, text))
		}
	}
	return all
}

type builtinKind struct{ APIVersion, Kind string }

// builtinKinds returns the kinds that the command knows without being given any.
func builtinKinds(t *testing.T) (all []builtinKind) {
	for line := range bytes.Lines(espalier(t, 0, "schema", "list", "--config=", "--kubernetes-version", "1.37", "-o", "json")) {
		var k builtinKind
		require.NoError(t, json.Unmarshal(line, &k))
		all = append(all, k)
	}
	return all
}

// builtinExamples returns an object of each kind that the command makes, with all fields and with
// as few as there may be.
func builtinExamples(t *testing.T) (all [][]byte) {
	for _, k := range builtinKinds(t) {
		if !scheme.Scheme.Recognizes(kschema.FromAPIVersionAndKind(k.APIVersion, k.Kind)) {
			continue
		}
		for _, args := range [][]string{nil, {"--smallest"}} {
			args = append([]string{"schema", "example", "--config=", "-o", "json"}, args...)
			all = append(all, compacted(t, espalier(t, 0, append(args, k.APIVersion, k.Kind)...)))
		}
	}
	return all
}

func compacted(t *testing.T, js []byte) []byte {
	var b bytes.Buffer
	require.NoError(t, json.Compact(&b, js))
	return b.Bytes()
}

// A saidOf is what check says of a document.
type saidOf struct {
	refused bool
	fields  []string // that are unknown or duplicate, in the server's words
	all     []string
}

// checkDocuments checks documents in one run.
func checkDocuments(t *testing.T, documents [][]byte) []saidOf {
	name := filepath.Join(t.TempDir(), "objects.ndjson")
	require.NoError(t, os.WriteFile(name, bytes.Join(documents, []byte("\n")), 0o666))
	var report struct {
		Findings []struct {
			Document int
			Rule     string
			Message  string
		}
	}
	require.NoError(t, json.Unmarshal(espalier(t, 1, "check", "--config=", "--values=false", "-o", "json", name), &report))
	said := make([]saidOf, len(documents))
	for _, f := range report.Findings {
		s := &said[f.Document-1]
		s.all = append(s.all, f.Message)
		switch f.Rule {
		case "unknown-field", "duplicate-field":
			quoted := strings.SplitAfterN(f.Message, `"`, 3)
			s.fields = append(s.fields, strings.Join(quoted[:2], ""))
		case "dropped-null":
		default:
			s.refused = true
		}
	}
	for i := range said {
		slices.Sort(said[i].fields)
	}
	return said
}
