package command

// This file takes a command over its inputs: workers with examiners, results in the
// order of the files.

import (
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/parallel"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
)

// examiners returns one for each worker.
func (o *options) examiners(set *examine.Settings) []*examine.Examiner {
	all := make([]*examine.Examiner, o.workers())
	for i := range all {
		all[i] = examine.New(set)
	}
	return all
}

// workers returns how many inputs are worked on at the same time.
func (o *options) workers() int { return min(max(o.jobs, 1), 256) }

// each works on inputs and takes what comes of them in their order, with a progress
// line where it takes long.
func (o *options) each(names []string, work func(worker int, name string, emit func(*finding.Outcome) bool), take func(name string, v *finding.Outcome) error) error {
	p := terminal.NewProgress(o.stderr, len(names))
	defer p.Clear()
	return parallel.InOrder(o.workers(), names, func(worker int, name string, emit func(*finding.Outcome) bool) {
		work(worker, name, emit)
		emit(nil) // the input is done
	}, func(name string, v *finding.Outcome) error {
		if v == nil {
			p.Step()
			return nil
		}
		if len(v.Findings) > 0 || len(v.Output) > 0 {
			p.Clear()
		}
		return take(name, v)
	})
}
