// Generate writes the schemas of Kubernetes' own kinds for package builtin: kinds.txt and
// schemas.zip, whose format the comment of that package describes. Run it by go generate in that
// folder:
//
//	go run ./generate -out .
//
// It reads the OpenAPI documents in the modules k8s.io/kubernetes of the releases below, which it
// fetches through the module proxy. No go.mod requires them. A newer release replaces the oldest.
package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// releases are the last four minor versions of Kubernetes, the oldest first.
var releases = []string{"1.34.4", "1.35.4", "1.36.3", "1.37.2"}

func main() {
	log.SetFlags(0)
	out := flag.String("out", ".", "the folder to write to")
	flag.Parse()
	files, err := generate()
	if err != nil {
		log.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(*out, name), content, 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// generate returns the files by their names.
func generate() (map[string][]byte, error) {
	all := &collection{kinds: map[string]uint{}, components: map[string]map[string]uint{}}
	for i, release := range releases {
		dir, err := module(release)
		if err != nil {
			return nil, err
		}
		documents, err := filepath.Glob(filepath.Join(dir, "api/openapi-spec/v3/*.json"))
		if err != nil {
			return nil, err
		}
		if len(documents) == 0 {
			return nil, fmt.Errorf("%s has no OpenAPI documents", dir)
		}
		if err := all.addRelease(documents, 1<<i); err != nil {
			return nil, fmt.Errorf("release %s of Kubernetes: %w", release, err)
		}
	}
	archive, err := all.archive()
	return map[string][]byte{"kinds.txt": all.index(), "schemas.zip": archive}, err
}

// module returns the folder of a release in the module cache.
func module(release string) (string, error) {
	name := "k8s.io/kubernetes@v" + release
	out, err := exec.Command("go", "mod", "download", "-json", name).Output()
	var found struct{ Dir, Error string }
	if json.Unmarshal(out, &found) == nil && found.Dir != "" {
		return found.Dir, nil
	}
	if found.Error != "" {
		err = errors.New(found.Error) // that of the process is its exit code
	}
	return "", fmt.Errorf("module %s: %w", name, err)
}

// A collection has kinds and components, each with the set of releases that have it: bit i is for
// the i-th one.
type collection struct {
	kinds      map[string]uint            // by apiVersion, kind and component
	components map[string]map[string]uint // by name, and by the JSON of the schema
}

// A component is a schema of an OpenAPI document, as far as package builtin needs it. Defaults,
// descriptions and the rest are for clients; the server has code in their place.
type component struct {
	Type                 string                `json:"type,omitempty"`
	Format               string                `json:"format,omitempty"`
	Ref                  string                `json:"$ref,omitempty"`
	Properties           map[string]*component `json:"properties,omitempty"`
	AdditionalProperties *component            `json:"additionalProperties,omitempty"`
	Items                *component            `json:"items,omitempty"`
	AllOf                []*component          `json:"allOf,omitempty"`
	OneOf                []*component          `json:"oneOf,omitempty"` // of a quantity
	Preserve             *bool                 `json:"x-kubernetes-preserve-unknown-fields,omitempty"`
	Kinds                []groupVersionKind    `json:"x-kubernetes-group-version-kind,omitempty"`
}

type groupVersionKind struct {
	Group   string `json:"group"`
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

const refPrefix = "#/components/schemas/"

// addRelease adds the kinds in the documents of a release, and the components that they use.
func (c *collection) addRelease(documents []string, release uint) error {
	schemas := map[string]*component{}
	for _, name := range documents {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var document struct {
			Components struct{ Schemas map[string]*component }
		}
		if err := json.Unmarshal(text, &document); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for name, s := range document.Components.Schemas {
			if err := s.reduce(name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if !s.isResource() {
				s.Kinds = nil // documents differ in those of meta.v1.DeleteOptions and the like
			}
			if known := schemas[name]; known != nil && !bytes.Equal(known.json(), s.json()) {
				return fmt.Errorf("%s differs between documents", name)
			}
			schemas[name] = s
		}
	}
	for name, s := range schemas {
		for _, k := range s.Kinds {
			apiVersion := strings.TrimPrefix(k.Group+"/"+k.Version, "/")
			if k.Kind == definition {
				c.kinds[apiVersion+" "+k.Kind+" -"] |= release
				continue
			}
			c.kinds[apiVersion+" "+k.Kind+" "+name] |= release
			if err := c.addComponent(name, schemas, release); err != nil {
				return err
			}
		}
	}
	return nil
}

// definition is a kind without a component: package definition knows more of it than a schema.
const definition = "CustomResourceDefinition"

// isResource reports whether a schema is of a kind that files may have.
func (s *component) isResource() bool {
	metadata := s.Properties["metadata"]
	return metadata != nil && !strings.HasSuffix(metadata.Ref, ".ListMeta") && len(s.Kinds) > 0
}

// reduce rewrites a schema within a component to what package builtin needs.
func (s *component) reduce(name string) error {
	if len(s.AllOf) > 0 {
		// It gives a reference a description or a default.
		if len(s.AllOf) > 1 || s.AllOf[0].Ref == "" || s.Properties != nil || s.Items != nil {
			return fmt.Errorf("an allOf that is more than a reference")
		}
		s.Ref, s.AllOf = s.AllOf[0].Ref, nil
	}
	if s.Ref != "" {
		*s = component{Ref: s.Ref}
		return nil
	}
	isEmpty := s.Type == "object" && s.Properties == nil && s.AdditionalProperties == nil
	if isEmpty && strings.HasPrefix(name, "io.k8s.api.") {
		s.Preserve = new(bool) // a struct without fields, unlike RawExtension and FieldsV1
	}
	for _, child := range s.Properties {
		if err := child.reduce(""); err != nil {
			return err
		}
	}
	for _, child := range []*component{s.AdditionalProperties, s.Items} {
		if child != nil {
			if err := child.reduce(""); err != nil {
				return err
			}
		}
	}
	return nil
}

// addComponent adds a component with those that it refers to.
func (c *collection) addComponent(name string, from map[string]*component, release uint) error {
	s := from[name]
	if s == nil {
		return fmt.Errorf("there is no component %s", name)
	}
	text := string(s.json())
	if c.components[name] == nil {
		c.components[name] = map[string]uint{}
	}
	if c.components[name][text]&release != 0 {
		return nil
	}
	c.components[name][text] |= release
	return s.each(func(ref string) error { return c.addComponent(ref, from, release) })
}

// each calls visit for the names in the references of a schema.
func (s *component) each(visit func(name string) error) error {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		return visit(strings.TrimPrefix(s.Ref, refPrefix))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if err := s.Properties[name].each(visit); err != nil {
			return err
		}
	}
	if err := s.AdditionalProperties.each(visit); err != nil {
		return err
	}
	return s.Items.each(visit)
}

func (s *component) json() []byte {
	text, err := json.Marshal(s)
	if err != nil {
		log.Fatal(err) // it has been read from JSON
	}
	return text
}

// index returns kinds.txt.
func (c *collection) index() []byte {
	b := []byte("# Made by go generate of the OpenAPI documents in k8s.io/kubernetes, Copyright The Kubernetes Authors, Apache-2.0.\n" + strings.Join(releases, " ") + "\n")
	for _, kind := range slices.Sorted(maps.Keys(c.kinds)) {
		b = fmt.Appendf(b, "%s %x\n", kind, c.kinds[kind])
	}
	return b
}

// archive returns schemas.zip.
func (c *collection) archive() ([]byte, error) {
	packages := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(c.components)) {
		dot := strings.LastIndexByte(name, '.')
		for _, text := range slices.Sorted(maps.Keys(c.components[name])) {
			packages[name[:dot]] = fmt.Appendf(packages[name[:dot]], "%s %x %s\n", name, c.components[name][text], text)
		}
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(packages[name])
		}
		if err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
