package sample

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/schema"
)

// string makes a string. It is as short as possible where the bytes are used up.
func (b *builder) string(g *goal) *value {
	least, most := g.atLeast(minLength), g.atMost(maxLength)
	if least > maxText {
		b.faults++
		return text("")
	}
	b.work -= least
	var patterns []*pattern
	format := ""
	for _, s := range g.all {
		if s.Pattern != "" {
			if p := b.pattern(s.Pattern); p != nil {
				patterns = append(patterns, p)
			}
		}
		if s.Format != "" {
			format = s.Format
		}
	}
	if format != "" && (len(patterns) == 0 || b.in(2)) {
		if t, known := formatLoose(format, &b.choices); known && b.in(6) {
			return text(t)
		}
		if t, known := formatText(format, &b.choices); known {
			return text(t)
		}
	}
	if len(patterns) > 0 {
		if t, ok := matchingAll(patterns, &b.choices, least, most, &b.work); ok {
			return text(t)
		}
		b.faults++
	}
	return text(b.words(least, most))
}

// words returns a text whose length, in code points, is within bounds.
func (b *builder) words(least, most int) string {
	if most <= maxLongText && b.in(8) && (most <= 1000 || b.in(8)) {
		least = most // at the bound
	}
	t := one(&b.choices, "", "a", "hello", "two words", "é", "true", "0", "日本語", "🌳", "sixteen bytes 16", "longer than sixteen bytes, by a few", "\"", "line\nbreak")
	n := utf8.RuneCountInString(t)
	if n < least {
		t += strings.Repeat("a", least-n)
	}
	if n > most {
		t = string([]rune(t)[:most])
	}
	return t
}

// number makes a number: the one that is nearest to 0 where the bytes are used up, otherwise often
// one at a bound.
func (b *builder) number(g *goal, integer bool) *value {
	lo, hi, step := g.bounds(integer)
	if lo > hi {
		b.faults++
	}
	if b.full || !b.in(3) {
		f := min(max(0, lo), hi)
		if lo <= hi && b.in(2) {
			f = min(max(float64(b.below(100)), lo), hi)
		}
		return numeral(multiple(f, lo, hi, step), integer)
	}
	if integer && g.isUnbounded() && b.in(3) { // the least, the greatest, and one that no float64 has
		return number(one(&b.choices, "9223372036854775807", "-9223372036854775808", "9007199254740993"))
	}
	f := one(&b.choices, lo, hi, lo+1, hi-1, 1, -1, 7, 123456, 1<<31, math.Floor(lo/2+hi/2))
	if !integer && b.in(2) {
		f = one(&b.choices, 0.5, -0.25, 1e3, lo+0.5, hi-0.5)
	}
	return numeral(multiple(min(max(f, lo), hi), lo, hi, step), integer)
}

// isUnbounded reports whether numbers need not be between bounds.
func (g *goal) isUnbounded() bool {
	return !slices.ContainsFunc(g.all, func(s *schema.Structural) bool {
		return s.Minimum != nil || s.Maximum != nil || s.MultipleOf != nil || s.Format == "int32"
	})
}

// bounds returns the least and the greatest number that the goal allows, and of what they are
// multiples, or 0. Where there is no bound, they are those of integers that are exact as float64.
func (g *goal) bounds(integer bool) (lo, hi, step float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	for _, s := range g.all {
		if s.Format == "int32" {
			lo, hi = max(lo, math.MinInt32), min(hi, math.MaxInt32)
		}
		if s.Minimum != nil {
			lo = max(lo, above(*s.Minimum, s.ExclusiveMinimum, integer))
		}
		if s.Maximum != nil {
			hi = min(hi, -above(-*s.Maximum, s.ExclusiveMaximum, integer))
		}
		if s.MultipleOf != nil {
			step = *s.MultipleOf
		}
	}
	const exact = 1 << 53
	if math.IsInf(lo, -1) {
		lo = min(hi, -exact)
	}
	if math.IsInf(hi, 1) {
		hi = max(lo, exact)
	}
	return lo, hi, step
}

// above returns the least number that a lower bound allows.
func above(bound float64, exclusive, integer bool) float64 {
	switch {
	case integer && exclusive:
		return math.Floor(bound) + 1
	case integer:
		return math.Ceil(bound)
	case exclusive:
		return math.Nextafter(bound, math.Inf(1))
	}
	return bound
}

// multiple returns the multiple of step next to f that is within bounds.
func multiple(f, lo, hi, step float64) float64 {
	if step <= 0 || math.IsInf(f/step, 0) {
		return f
	}
	// The conversions round, on machines that would otherwise do so only after the next operation.
	if up := float64(math.Ceil(f/step) * step); up <= hi {
		return up
	}
	return float64(math.Floor(f/step) * step)
}

// numeral returns a number, or the one next to it that JSON, or an integer, can have.
func numeral(f float64, integer bool) *value {
	switch {
	case math.IsNaN(f):
		f = 0
	case math.IsInf(f, 0):
		f = math.Copysign(math.MaxFloat64, f)
	}
	switch {
	case integer && f >= 1<<63:
		return number("9223372036854775807")
	case integer:
		return number(strconv.FormatInt(int64(max(f, -1<<63)), 10))
	case math.Abs(f) < 1e15:
		return number(strconv.FormatFloat(f+0, 'f', -1, 64))
	}
	return number(strconv.FormatFloat(f, 'g', -1, 64))
}
