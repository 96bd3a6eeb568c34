// Cover compares the coverage of tests with a list of exceptions: each statement of the profiled
// packages is covered in one of the profiles, or is in the list with a reason.
//
//	cover -list testdata/coverage/uncovered.txt default.out purego.out
//
// The profiles are those of go test -coverprofile, of builds with different tags. Cover fails if a
// statement is neither covered nor listed, and if a listed statement is covered or gone. Statements
// are identified by file, function and text, so that they may move.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/espalier-dev/espalier/internal/tools/source"
)

func main() {
	list := flag.String("list", "testdata/coverage/uncovered.txt", "the `file` that lists what is not covered")
	flag.Parse()
	if err := run(*list, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "cover:", err)
		os.Exit(1)
	}
}

func run(list string, profiles []string) error {
	if len(profiles) == 0 {
		return fmt.Errorf("no profiles: name the files that go test -coverprofile has written")
	}
	blocks, err := readProfiles(profiles)
	if err != nil {
		return err
	}
	missing, err := uncovered(".", blocks)
	if err != nil {
		return err
	}
	listed, err := source.ReadList(list)
	if err != nil {
		return err
	}
	for _, line := range summary(blocks) {
		fmt.Println(line)
	}
	unlisted, stale := compare(missing, listed)
	for _, key := range unlisted {
		fmt.Printf("not covered: %s\n", key)
	}
	for _, key := range stale {
		fmt.Printf("listed, but covered or gone: %s\n", key)
	}
	if len(unlisted)+len(stale) > 0 {
		return fmt.Errorf("%d blocks are not covered, and %d of the list are not there: "+
			"write tests, or change %s, where each needs a reason",
			len(unlisted), len(stale), list)
	}
	return nil
}
