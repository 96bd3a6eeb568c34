// Upstream runs the tests of k8s.io/apiextensions-apiserver on its handler of custom resources as it is,
// and on one that decodes and validates with Espalier, and compares them:
//
//	go run .                 all suites, in all variants; about a quarter of an hour on two cores
//	go run . -short          pruning, defaults, values, ratcheting, YAML, list types, metadata, subresources
//	go run . -diff decoding  prints what a variant changes, as a patch
//	go run . -documents N    compares the handler's decoders, stock and ours, on generated documents
//	go run . -load 3         what a server takes with 200 definitions and 10 000 objects, in three turns
//	go run . -bench 10       upstream's BenchmarkFieldValidation, in ten turns
//
// A variant is a handler:
//
//	stock       as released
//	decoding    package kube decodes requests and stored objects
//	validation  the same, and kube.Validator judges in the strategy's place
//
// The released source comes out of the module cache. It is copied to a cache of its own, because Go
// replaces no files of the module cache, and never changed there: each variant is an overlay, which is made
// from the syntax tree at every run. An edit whose place is not found exactly once is an error.
//
// A table says how many tests pass in each package. It is an error if a test passes on stock and fails or
// is missing in a variant. Tests that fail are run up to twice again, and those that pass then are named.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "upstream:", err)
		}
		stop()
		os.Exit(1)
	}
}

// run does what the arguments say.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("upstream", flag.ContinueOnError)
	short := flags.Bool("short", false, "run a selection of the integration tests")
	diff := flags.String("diff", "", "print what this `variant` changes, and run nothing")
	only := flags.String("variants", "stock,decoding,validation", "run these variants; stock is always run")
	documents := flags.Int("documents", 0, "compare the decoders on this `many` generated documents, and run no tests")
	from := flags.Uint64("from", 0, "the `seed` of the first document")
	loads := flags.Int("load", 0, "measure servers under load in this many `turns`, and run no tests")
	rounds := flags.Int("bench", 0, "run upstream's BenchmarkFieldValidation in this many `turns`, and no tests")
	packages := flags.String("packages", "", "run the tests of packages whose `path` within the module starts so")
	verbose := flags.Bool("v", false, "print what the tests print")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	t, err := openTree(ctx)
	if err != nil {
		return err
	}
	defer t.close()
	if *diff != "" {
		return t.printDiff(ctx, out, *diff)
	}
	names := []string{stock}
	for name := range strings.SplitSeq(*only, ",") {
		if _, ok := variants[name]; !ok {
			return fmt.Errorf("there is no variant %q", name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if *documents > 0 {
		return differential(ctx, out, &suite{tree: t}, *documents, *from)
	}
	if *loads > 0 {
		return measureLoad(ctx, out, &suite{tree: t}, names, *loads, fullLoad)
	}
	if !*short {
		if err := t.download(ctx); err != nil {
			return err
		}
	}
	if *rounds > 0 {
		return benchmark(ctx, out, &suite{tree: t}, names, *rounds)
	}
	s, err := newSuite(t, *short, *packages)
	if err != nil {
		return err
	}
	if *verbose {
		s.log = os.Stderr
	}
	started := time.Now()
	results, err := s.runAll(ctx, names)
	if err != nil {
		return err
	}
	err = report(out, s.tests, results)
	fmt.Fprintf(out, "\n%s, %s in all\n", t.version(), time.Since(started).Round(time.Second))
	return err
}
