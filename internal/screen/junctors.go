package screen

import "github.com/espalier-dev/espalier/internal/program"

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
		if verdict = max(verdict, combine(j.Kind, fit, doubtful, misfit)); verdict == program.Invalid {
			break
		}
	}
	return verdict
}

// combine returns what follows from how many alternatives fit, are doubtful, and do not fit.
func combine(k program.JunctorKind, fit, doubtful, misfit int) program.Verdict {
	var holds, fails bool
	switch k {
	case program.AllOf:
		holds, fails = doubtful+misfit == 0, misfit > 0
	case program.AnyOf:
		holds, fails = fit > 0, fit+doubtful == 0
	case program.OneOf:
		holds, fails = fit == 1 && doubtful == 0, fit > 1 || fit+doubtful == 0
	case program.Not:
		holds, fails = misfit == 1, fit == 1
	}
	switch {
	case holds:
		return program.Valid
	case fails:
		return program.Invalid
	}
	return program.Unsure
}

// alternative checks the value b[start:end] by a schema below a junctor. required are the fields
// that it requires, if it requires nothing else.
func (m *Machine) alternative(
	a *program.Alternative, required uint64, b []byte, start, end int, seen uint64, sp int,
) program.Verdict {
	if a.Node == nil {
		if b[start] == '{' && required&^seen != 0 {
			return program.Invalid
		}
		return program.Valid
	}
	if m.left -= end - start; m.left < 0 {
		return program.Unsure
	}
	return m.run(b[:end], start, a.Node, sp, 0)
}
