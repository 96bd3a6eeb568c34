package corpus

import (
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Dir returns the folder of the third-party data: the one that the variable ESPALIER_CORPUS names,
// or ../shared/corpus beside the module. If there is none, the test is skipped. The folder has crds
// and samples with manifests, json/JSONTestSuite, json/json_checker, and yaml/yaml-test-suite.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir, ok := find(tb)
	if !ok {
		tb.Skip("skipped: no third-party data (real definitions and resources, JSONTestSuite, " +
			"yaml-test-suite); set ESPALIER_CORPUS to a folder that has it")
	}
	return dir
}

// IsThere reports whether there is third-party data. It is for tests that can do without, such as
// the seeds of fuzz targets.
func IsThere(tb testing.TB) bool {
	tb.Helper()
	_, ok := find(tb)
	return ok
}

func find(tb testing.TB) (dir string, ok bool) {
	tb.Helper()
	dir, named := os.LookupEnv("ESPALIER_CORPUS")
	if !named {
		dir = filepath.Join(moduleRoot(tb), "..", "shared", "corpus")
	}
	info, err := os.Stat(dir)
	ok = err == nil && info.IsDir()
	if named && !ok {
		tb.Fatalf("ESPALIER_CORPUS=%s is no folder", dir)
	}
	return dir, ok
}

// A File is a file of the third-party data.
type File struct {
	Name string // the path below the folder that was searched
	Data []byte
}

// CRDs yields the files with custom resource definitions: JSON or YAML, with one definition or
// several.
func CRDs(tb testing.TB) iter.Seq[File] {
	return files(tb, filepath.Join(Dir(tb), "crds"), ".yaml", ".yml", ".json")
}

// Samples yields the files with custom resources: YAML, with one document or several, some of other
// kinds.
func Samples(tb testing.TB) iter.Seq[File] {
	return files(tb, filepath.Join(Dir(tb), "samples"), ".yaml", ".yml", ".json")
}

// A Verdict says whether a text must be accepted.
type Verdict uint8

// The verdicts of the JSON suites.
const (
	Accept Verdict = iota
	Refuse
	Open // left to the implementation
)

// A Text is a text of one of the JSON suites.
type Text struct {
	File
	Verdict Verdict
}

// JSONTestSuite yields the texts of nst/JSONTestSuite, test_parsing.
func JSONTestSuite(tb testing.TB) iter.Seq[Text] {
	verdicts := map[string]Verdict{"y_": Accept, "n_": Refuse, "i_": Open}
	return texts(files(tb, filepath.Join(Dir(tb), "json", "JSONTestSuite", "test_parsing"), ".json"), func(name string) (Verdict, bool) {
		v, ok := verdicts[name[:2]]
		return v, ok
	})
}

// JSONTestSuiteTransforms yields the texts of nst/JSONTestSuite, test_transform. All of them are
// JSON, but their meaning is up to the implementation.
func JSONTestSuiteTransforms(tb testing.TB) iter.Seq[Text] {
	return texts(files(tb, filepath.Join(Dir(tb), "json", "JSONTestSuite", "test_transform"), ".json"), func(string) (Verdict, bool) {
		return Open, true
	})
}

// JSONChecker yields the texts of json.org's JSON_checker, without the two whose verdict RFC 8259
// has overruled: a scalar as the whole text, and a depth of 20.
func JSONChecker(tb testing.TB) iter.Seq[Text] {
	return texts(files(tb, filepath.Join(Dir(tb), "json", "json_checker"), ".json"), func(name string) (Verdict, bool) {
		if strings.HasPrefix(name, "pass") {
			return Accept, true
		}
		return Refuse, !strings.Contains(name, "EXCLUDE")
	})
}

func texts(files iter.Seq[File], verdict func(name string) (Verdict, bool)) iter.Seq[Text] {
	return func(yield func(Text) bool) {
		for f := range files {
			v, ok := verdict(f.Name)
			if ok && !yield(Text{f, v}) {
				return
			}
		}
	}
}

// A YAMLTest is a test of yaml-test-suite.
type YAMLTest struct {
	ID    string // such as "229Q" or "4MUZ/01"
	Title string
	YAML  []byte
	// JSON has the value of each document, one after the other. It is nil if the suite has none, as
	// for keys that are not strings.
	JSON []json.RawMessage
	// Error says that the text is not YAML.
	Error bool
}

// YAMLTestSuite yields the tests of yaml-test-suite, in the form of its data branch.
func YAMLTestSuite(tb testing.TB) iter.Seq[YAMLTest] {
	root := filepath.Join(Dir(tb), "yaml", "yaml-test-suite")
	return func(yield func(YAMLTest) bool) {
		for f := range files(tb, root, "in.yaml") {
			if filepath.Base(f.Name) != "in.yaml" {
				continue
			}
			dir := filepath.Join(root, filepath.Dir(f.Name))
			t := YAMLTest{ID: filepath.ToSlash(filepath.Dir(f.Name)), YAML: f.Data}
			t.Title = strings.TrimSpace(string(readIfThere(tb, filepath.Join(dir, "==="))))
			t.Error = readIfThere(tb, filepath.Join(dir, "error")) != nil
			if js := readIfThere(tb, filepath.Join(dir, "in.json")); js != nil {
				t.JSON = []json.RawMessage{}
				for d := json.NewDecoder(strings.NewReader(string(js))); d.More(); {
					var v json.RawMessage
					if err := d.Decode(&v); err != nil {
						tb.Fatalf("%s: in.json: %v", t.ID, err)
					}
					t.JSON = append(t.JSON, v)
				}
			}
			if !yield(t) {
				return
			}
		}
	}
}

// readIfThere returns the content of a file, or nil if there is no such file.
func readIfThere(tb testing.TB, name string) []byte {
	data, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		tb.Fatal(err)
	}
	return append([]byte{}, data...)
}

// files yields the files below dir whose names end in one of the extensions, in
// the order of their paths.
func files(tb testing.TB, dir string, extensions ...string) iter.Seq[File] {
	tb.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		matches := func(ext string) bool { return strings.HasSuffix(name, ext) }
		if err == nil && d.Type().IsRegular() && slices.ContainsFunc(extensions, matches) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return func(yield func(File) bool) {
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				tb.Fatal(err)
			}
			rel, err := filepath.Rel(dir, name)
			if err != nil {
				tb.Fatal(err)
			}
			if !yield(File{rel, data}) {
				return
			}
		}
	}
}

// moduleRoot returns the folder of the root module. The package under test may be in a nested
// module below it.
func moduleRoot(tb testing.TB) string {
	tb.Helper()
	root, err := findRoot()
	if err != nil {
		tb.Fatal(err)
	}
	return root
}

// Testdata returns a file under testdata. It is for definitions that several packages test with. It
// panics if there is no such file.
func Testdata(name string) string {
	root, err := findRoot()
	if err != nil {
		panic(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "testdata", filepath.FromSlash(name)))
	if err != nil {
		panic(err)
	}
	return string(text)
}

func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module github.com/espalier-dev/espalier\n") {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod of github.com/espalier-dev/espalier above the working folder")
		}
		dir = parent
	}
}
