package screen

import (
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/steps"
)

// junctors checks the junctors of the value b[start:end]. seen has the fields that an object has.
func (m *Machine) junctors(c *program.Checks, b []byte, start, end int, seen uint64, sp int) program.Verdict {
	verdict := program.Valid
	for i := range c.Rules.Junctors {
		j := &c.Rules.Junctors[i]
		var fit, doubtful, misfit int
		for k := range j.Alternatives {
			switch m.alternative(&j.Alternatives[k], c.Alternatives[i][k], b, start, end, seen, sp) {
			case program.Valid:
				fit++
			case program.Unsure:
				doubtful++
			case program.Invalid:
				misfit++
			}
			if j.Kind == program.AnyOf && fit > 0 || j.Kind == program.OneOf && fit > 1 {
				break
			}
		}
		if verdict = max(verdict, j.Kind.Combine(fit, doubtful, misfit)); verdict == program.Invalid {
			break
		}
	}
	return verdict
}

// alternative checks the value b[start:end] by a schema below a junctor. required are the fields
// that it requires, if it requires nothing else.
func (m *Machine) alternative(
	a *program.Alternative, required uint64, b []byte, start, end int, seen uint64, sp int,
) program.Verdict {
	size := 1
	if a.Node != nil {
		size = end - start
	}
	if !m.mayLookAt(size) {
		return program.Unsure
	}
	switch {
	case a.Node != nil:
		return m.run(b[:end], start, a.Node, sp, 0)
	case b[start] == '{' && required&^seen != 0:
		return program.Invalid
	}
	return program.Valid
}

// mayLookAt reports whether so many more bytes may be looked at again.
func (m *Machine) mayLookAt(n int) bool {
	steps.Add(n)
	m.left -= n
	return m.left >= 0
}
