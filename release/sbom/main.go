// Command sbom writes the bill of materials of a Go binary in CycloneDX: the modules that are
// linked into it, as recorded by the go command.
//
//	go run ./sbom BINARY FILE VERSION
//
// VERSION is the version of this repository's modules, which the go command does not know when it
// builds them in a clone.
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY FILE VERSION")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(binary, to, version string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	for _, m := range append(info.Deps, &info.Main) {
		if strings.HasPrefix(m.Path, "github.com/espalier-dev/") {
			m.Version, m.Replace = version, nil
		}
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	if err := cdx.NewBOMEncoder(file, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bill(filepath.Base(binary), info)); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

// bill returns the bill of materials of a binary. It has no serial number and no time, so that a
// binary always has the same bill.
func bill(name string, info *buildinfo.BuildInfo) *cdx.BOM {
	application := component(cdx.ComponentTypeApplication, info.Main.Path, info.Main.Version)
	components := []cdx.Component{{
		Type: cdx.ComponentTypeLibrary, BOMRef: "std", Name: "std", Version: info.GoVersion,
		PackageURL: "pkg:golang/std@" + info.GoVersion[len("go"):],
	}}
	needs := []string{"std"}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component(cdx.ComponentTypeLibrary, m.Path, m.Version)
		if m.Sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
		}
		components = append(components, c)
		needs = append(needs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &application, Properties: &[]cdx.Property{{Name: "binary", Value: name}}}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: application.BOMRef, Dependencies: &needs}}
	return bom
}

// component returns a module as a component, with a package URL of the type golang.
func component(kind cdx.ComponentType, path, version string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cdx.Component{Type: kind, BOMRef: url, Name: path, Version: version, PackageURL: url}
}
