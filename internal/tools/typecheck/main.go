// Typecheck checks the types of packages and their tests, as a compiler for another system would, and of what
// they import only the declarations. go vet has all of these packages built, which takes ten times as long.
//
//	GOOS=windows GOARCH=amd64 typecheck ./cmd/espalier/...
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"golang.org/x/tools/go/packages"
)

func main() {
	if err := check(os.Stdout, "", os.Args[1:]...); err != nil {
		fmt.Fprintln(os.Stderr, "typecheck:", err)
		os.Exit(1)
	}
}

// check loads the packages that patterns name in a folder, for the system of the environment, and writes
// how many there are.
func check(out io.Writer, dir string, patterns ...string) error {
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo,
		Dir:   dir,
		Tests: true,
	}, patterns...)
	if err != nil {
		return err
	}
	if len(loaded) == 0 {
		return fmt.Errorf("no packages: %q", patterns)
	}
	var faults []error
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, fault := range p.Errors {
			faults = append(faults, fault)
		}
	})
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	_, err = fmt.Fprintf(out, "%s/%s: the types of %d packages and tests fit\n", system("GOOS", runtime.GOOS), system("GOARCH", runtime.GOARCH), len(loaded))
	return err
}

// system returns what the environment says, or what this program was built for.
func system(variable, otherwise string) string {
	if s := os.Getenv(variable); s != "" {
		return s
	}
	return otherwise
}
