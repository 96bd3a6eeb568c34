// Package builtin has the schemas of Kubernetes' own kinds, of its last minor versions. They are in
// two files, which folder generate makes of the OpenAPI documents of k8s.io/kubernetes (Copyright
// The Kubernetes Authors, under the Apache License 2.0, which is also the licence of this
// repository):
//
// The second line of kinds.txt has the releases, the oldest first. Each of the others has a kind:
// its apiVersion, its name, the component with its schema, and the set of releases that have it. In
// such a set, a hexadecimal number, bit i is for the i-th release. Custom resource definitions have
// no component, because package definition knows more of them.
//
// schemas.zip has a file for each package of Kubernetes. A line of it has a component: its name,
// the set of releases that have it so, and its schema. A component that has changed has several
// lines. Schemas say what may be in an object; of values they have types and formats.
//
// Nothing of this is read before a kind is asked for, and then only what its group and version use.
package builtin

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/schema"
)

//go:generate go run ./generate -out .

//go:embed kinds.txt
var kinds string

//go:embed schemas.zip
var archive string

// releases returns the releases, the oldest first, and the lines with their kinds.
func releases() (versions []string, lines string) {
	_, rest, _ := strings.Cut(kinds, "\n")
	line, lines, _ := strings.Cut(rest, "\n")
	return strings.Fields(line), lines
}

// A Release is a minor version of Kubernetes. The nil Release has no kinds.
type Release struct {
	Version string // such as 1.37
	index   int
}

// Versions returns the minor versions of the releases, the oldest first.
func Versions() (minors []string) {
	all, _ := releases()
	for _, release := range all {
		minors = append(minors, minorOf(release))
	}
	return minors
}

// Newest returns the newest release.
func Newest() *Release {
	all := Versions()
	return &Release{all[len(all)-1], len(all) - 1}
}

// Name returns a name for messages.
func (r *Release) Name() string { return "Kubernetes " + r.Version }

// minorOf returns the major and the minor version of 1.37.2 or v1.37.
func minorOf(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// Find returns the release with the minor version of one such as 1.37, v1.37 or 1.37.2.
func Find(version string) (*Release, error) {
	all := Versions()
	i := slices.Index(all, minorOf(version))
	if i < 0 {
		return nil, fmt.Errorf("there are no schemas of Kubernetes %s, only of %s", version, strings.Join(all, ", "))
	}
	return &Release{all[i], i}, nil
}

// A Kind is a kind of a group in one version of it.
type Kind struct {
	APIVersion, Kind string
	component        string // or -
	releases         uint64
}

// Group returns the group of the kind.
func (k *Kind) Group() string { return GroupOf(k.APIVersion) }

// GroupOf returns the group of an apiVersion, which is empty for core kinds.
func GroupOf(apiVersion string) string {
	group, _, isNamed := strings.Cut(apiVersion, "/")
	if !isNamed {
		return ""
	}
	return group
}

// every returns the kinds of all releases, sorted by apiVersion and kind. They are read once.
var every = sync.OnceValue(func() (all []Kind) {
	_, lines := releases()
	for line := range strings.Lines(lines) {
		f := strings.Fields(line)
		set, err := strconv.ParseUint(f[3], 16, 64)
		if err != nil {
			panic(err) // a test reads all of it
		}
		all = append(all, Kind{f[0], f[1], f[2], set})
	}
	return all
})

// Kinds yields the kinds of the release, sorted by apiVersion and kind.
func (r *Release) Kinds() iter.Seq[Kind] {
	return func(yield func(Kind) bool) {
		if r == nil {
			return
		}
		for _, k := range every() {
			if k.releases>>r.index&1 != 0 && !yield(k) {
				return
			}
		}
	}
}

// HasGroup reports whether the release has kinds in a group.
func (r *Release) HasGroup(group string) bool {
	for k := range r.Kinds() {
		if k.Group() == group {
			return true
		}
	}
	return false
}

// HasKind reports whether the release has a kind in some group.
func (r *Release) HasKind(kind string) bool {
	for k := range r.Kinds() {
		if k.Kind == kind {
			return true
		}
	}
	return false
}

// SwitchedOff returns what to say about a kind without a schema if there is no release, which is
// what --kubernetes-version none asks for, and some release has the kind; or "".
func (r *Release) SwitchedOff(apiVersion, kind string) string {
	if r == nil {
		for _, k := range every() {
			if k.APIVersion == apiVersion && k.Kind == kind {
				return "; built-in kinds are not known because of --kubernetes-version none"
			}
		}
	}
	return ""
}

// Elsewhere returns the other releases that have a kind, the oldest first.
func (r *Release) Elsewhere(apiVersion, kind string) (versions []string) {
	if r == nil {
		return nil
	}
	for _, k := range every() {
		for i, version := range Versions() {
			if k.APIVersion == apiVersion && k.Kind == kind && i != r.index && k.releases>>i&1 != 0 {
				versions = append(versions, version)
			}
		}
	}
	return versions
}

// Definitions returns the kinds of a group and version in the release, in the form of definitions.
func (r *Release) Definitions(apiVersion string) ([]*schema.CRD, error) {
	var roots []string
	for k := range r.Kinds() {
		if k.APIVersion == apiVersion && k.component != "-" {
			roots = append(roots, k.component)
		}
	}
	if len(roots) == 0 {
		return nil, nil
	}
	document, err := r.document(roots)
	if err != nil {
		return nil, err
	}
	all, err := schema.ParseOpenAPI(document)
	if err != nil {
		return nil, err
	}
	// The volume claims in a StatefulSet are of a kind of another group.
	all = slices.DeleteFunc(all, func(crd *schema.CRD) bool { return !slices.Contains(roots, crd.Name) })
	for _, crd := range all {
		crd.File = r.Name()
	}
	return all, nil
}

// document returns an OpenAPI document with components, and with those that they refer to.
func (r *Release) document(names []string) ([]byte, error) {
	files, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	read := map[string]bool{}
	isTaken := map[string]bool{}
	b := []byte(`{"components":{"schemas":{`)
	for names = slices.Clone(names); len(names) > 0; {
		name := names[len(names)-1]
		names = names[:len(names)-1]
		if isTaken[name] {
			continue
		}
		if pkg := name[:strings.LastIndexByte(name, '.')]; !read[pkg] {
			read[pkg] = true
			if err := r.read(files, pkg, texts); err != nil {
				return nil, err
			}
		}
		if len(isTaken) > 0 {
			b = append(b, ',')
		}
		isTaken[name] = true
		b = append(strconv.AppendQuote(b, name), ':')
		b = append(b, texts[name]...)
		names = appendReferences(names, texts[name])
	}
	return append(b, "}}}"...), nil
}

// read adds the components of a package.
func (r *Release) read(files *zip.Reader, pkg string, to map[string][]byte) error {
	f, err := files.Open(pkg)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(text) {
		parts := bytes.SplitN(bytes.TrimSuffix(line, []byte("\n")), []byte(" "), 3)
		set, err := strconv.ParseUint(string(parts[1]), 16, 64)
		if err != nil {
			return err
		}
		if set>>r.index&1 != 0 {
			to[string(parts[0])] = parts[2]
		}
	}
	return nil
}

// appendReferences appends the names of the components that a schema refers to.
func appendReferences(names []string, text []byte) []string {
	for {
		_, after, found := bytes.Cut(text, []byte(`"$ref":"#/components/schemas/`))
		if !found {
			return names
		}
		name, rest, _ := bytes.Cut(after, []byte(`"`))
		names, text = append(names, string(name)), rest
	}
}
