package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// report prints the passes of each package in each variant, the first of which is stock. The error says
// which tests have not been run, and which a variant has lost.
func report(out io.Writer, tests map[string][]string, results []*result) error {
	packages := make(map[string]bool)
	for _, r := range results {
		for t := range r.outcomes {
			packages[t.pkg] = true
		}
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(name string, cell func(*result) any) {
		fmt.Fprint(table, name, "\t")
		for _, r := range results {
			fmt.Fprint(table, cell(r), "\t")
		}
		fmt.Fprintln(table)
	}
	row("tests that pass", func(r *result) any { return r.variant })
	for _, pkg := range slices.Sorted(maps.Keys(packages)) {
		row(pkg, func(r *result) any { return r.passes(pkg) })
	}
	row("all", func(r *result) any {
		sum := 0
		for pkg := range packages {
			sum += r.passes(pkg)
		}
		return sum
	})
	row("time", func(r *result) any { return r.took.Round(time.Second) })
	if err := table.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		for _, t := range r.flaky {
			fmt.Fprintf(out, "%s: %s failed, and passed when it was run again\n", r.variant, t)
		}
	}
	var errs []error
	for _, t := range results[0].without(tests) {
		errs = append(errs, fmt.Errorf("%s: %s has not been run", stock, t))
	}
	for _, pkg := range slices.Sorted(maps.Keys(tests)) {
		if results[0].passes(pkg) == 0 {
			errs = append(errs, fmt.Errorf("%s: no test of %s passes", stock, pkg))
		}
	}
	for _, r := range results {
		errs = append(errs, judge(out, results[0], r)...)
	}
	return errors.Join(errs...)
}

// judge compares a variant with stock, and prints what failed, and what our tests in it say.
func judge(out io.Writer, base, r *result) (errs []error) {
	for _, t := range missing(base, r) {
		if outcome := r.outcomes[t]; outcome != "" {
			errs = append(errs, fmt.Errorf("%s: %s is skipped: it passes on stock", r.variant, t))
			continue
		}
		errs = append(errs, fmt.Errorf("%s: %s is lost: it passes on stock", r.variant, t))
	}
	for _, t := range r.failed() {
		if r == base || base.outcomes[t] == "fail" {
			fmt.Fprintf(out, "%s: %s fails\n", r.variant, t)
			continue
		}
		errs = append(errs, fmt.Errorf("%s: %s fails, and not on stock", r.variant, t))
		fmt.Fprintln(out, r.output[t])
	}
	if r == base {
		return errs
	}
	for _, pkg := range slices.Sorted(maps.Keys(r.beside)) {
		if !base.beside[pkg] {
			errs = append(errs, fmt.Errorf("%s: %s fails beside its tests, and not on stock", r.variant, pkg))
		}
	}
	return append(errs, proven(out, base, r)...)
}

// proven says whether the variant has really decoded, and validated, with our packages: tests of ours
// have looked at counters.
func proven(out io.Writer, base, r *result) (errs []error) {
	proofs := map[string][]string{
		integration:                 {"TestEspalierDecodes"},
		integration + "/conversion": {"TestEspalierDecodes"},
		fieldValidation:             {"TestEspalierDecodes"},
	}
	if r.variant == "validation" {
		proofs[integration] = append(proofs[integration], "TestEspalierValidates")
	}
	for pkg, names := range proofs {
		if base.passes(pkg) == 0 {
			continue
		}
		for _, name := range names {
			t := test{pkg, name}
			if r.outcomes[t] != "pass" {
				errs = append(errs, fmt.Errorf("%s: %s did not pass: it is not shown that the server used Espalier", r.variant, t))
			}
			for _, line := range sums(r.output[t]) {
				fmt.Fprintf(out, "%s: %s: %s\n", r.variant, pkg, line)
			}
		}
	}
	return errs
}

// number matches what sums adds.
var number = regexp.MustCompile(`\d+`)

// sums returns what a test of ours has logged in all processes, with the sums of its numbers.
func sums(output string) (lines []string) {
	totals := make(map[string][]int)
	for line := range strings.Lines(output) {
		at := strings.Index(line, "Espalier ")
		if at < 0 {
			continue
		}
		line = strings.TrimSpace(line[at:])
		form := number.ReplaceAllString(line, "%d")
		if totals[form] == nil {
			lines = append(lines, form)
			totals[form] = make([]int, strings.Count(form, "%d"))
		}
		for i, digits := range number.FindAllString(line, -1) {
			n, _ := strconv.Atoi(digits)
			totals[form][i] += n
		}
	}
	for i, form := range lines {
		for _, n := range totals[form] {
			form = strings.Replace(form, "%d", strconv.Itoa(n), 1)
		}
		lines[i] = form
	}
	return lines
}
