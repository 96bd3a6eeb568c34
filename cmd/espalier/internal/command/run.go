package command

// This file runs a command over its inputs, with an examiner for each worker. Results come in
// the order of the files.

import (
	"slices"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/parallel"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
)

// examiners returns an examiner for each worker.
func (o *options) examiners(set *examine.Settings) []*examine.Examiner {
	all := make([]*examine.Examiner, o.workers())
	for i := range all {
		all[i] = examine.New(set)
	}
	return all
}

// workers returns how many inputs are examined at the same time.
func (o *options) workers() int { return min(max(o.jobs, 1), 256) }

// divide lets all workers examine the input if there is only one.
func (o *options) divide(set *examine.Settings, names []string) {
	if len(names) == 1 {
		set.Workers = o.workers()
	}
}

// each calls work for the inputs in parallel, and take for the results in the order of the
// inputs. It shows a progress line if this takes long.
func (o *options) each(names []string, work func(worker int, name string, emit func(*finding.Outcome) bool), take func(name string, v *finding.Outcome) error) error {
	p := terminal.NewProgress(o.stderr, len(names))
	defer p.Clear()
	return parallel.InOrder(o.workers(), slices.Values(names), func(worker int, name string, emit func(*finding.Outcome) bool) {
		work(worker, name, emit)
		emit(nil) // the end of the input
	}, func(name string, v *finding.Outcome) error {
		if v == nil {
			p.Step()
			return nil
		}
		if o.cluster.lists[name] != nil {
			p.Count(name)
		}
		if len(v.Findings) > 0 || len(v.Output) > 0 {
			p.Clear()
		}
		return take(name, v)
	})
}
