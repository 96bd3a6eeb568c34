package layout

// This file reads the files that say what others are for. What it cannot read says nothing: the
// examination of the file itself reports why.

import (
	"path/filepath"
	"slices"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/internal/bounded"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// maxBytes is the limit for a file that is read.
const maxBytes = 4 << 20

// kustomizations are the names under which kustomize looks for its file.
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// IsKustomization reports whether kustomize reads a file as its own because of its name.
func IsKustomization(name string) bool { return slices.Contains(kustomizations, filepath.Base(name)) }

// documents returns the documents of a YAML file that are mappings.
func documents(name string) (all []map[string]any) {
	content, err := bounded.ReadFile(name, maxBytes)
	if err != nil {
		return nil
	}
	for doc, err := range new(input.Reader).Texts("a.yaml", content) {
		var one map[string]any
		if err == nil && jsonv2.Unmarshal(doc.JSON, &one, jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true)) == nil {
			all = append(all, one)
		}
	}
	return all
}

// elements returns the elements of a list, of which there are none in another value.
func elements(value any) []any {
	list, _ := value.([]any)
	return list
}

// member returns a member of a mapping if it is a text, or else "".
func member(value any, name string) string {
	mapping, _ := value.(map[string]any)
	text, _ := mapping[name].(string)
	return text
}

// readKustomization remembers the files that a kustomization names (kubectl.docs.kubernetes.io,
// The Kustomization File).
func (l *Layout) readKustomization(dir, name string) {
	for _, k := range documents(filepath.Join(dir, name)) {
		set := func(field string, role Role) {
			for _, e := range elements(k[field]) {
				path, isText := e.(string)
				if !isText {
					path = member(e, "path")
				}
				l.set(dir, path, role)
			}
		}
		for _, field := range []string{"resources", "bases"} {
			set(field, Object)
		}
		for _, field := range []string{"patches", "patchesStrategicMerge", "patchesJson6902"} {
			set(field, Patch)
		}
		for _, field := range []string{"configurations", "transformers", "generators", "validators", "replacements"} {
			set(field, Settings)
		}
		l.set(dir, member(k["openapi"], "path"), Settings)
	}
}

// readChainsaw remembers the files that the steps of a test name (kyverno.github.io/chainsaw,
// Operations).
func (l *Layout) readChainsaw(dir, name string) {
	for _, test := range documents(filepath.Join(dir, name)) {
		spec, _ := test["spec"].(map[string]any)
		for _, step := range elements(spec["steps"]) {
			parts, _ := step.(map[string]any)
			for _, part := range []string{"try", "catch", "finally", "cleanup"} {
				for _, operation := range elements(parts[part]) {
					l.operation(dir, operation)
				}
			}
		}
	}
}

// operation remembers the file of one operation.
func (l *Layout) operation(dir string, operation any) {
	fields, _ := operation.(map[string]any)
	for name, role := range map[string]Role{
		"assert": Assertion, "error": Assertion, "delete": Assertion, "patch": Assertion,
		"apply": Step, "create": Step, "update": Step,
	} {
		path := member(fields[name], "file")
		if known := l.roles[filepath.Join(dir, path)]; known == Assertion || path == "" {
			continue // of a file that is both, not all may be there
		}
		l.set(dir, path, role)
	}
}
