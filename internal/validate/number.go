package validate

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
)

// This file has the checks of numbers (numberValidator of kube-openapi). A limit is compared in the
// type of the value if it fits there, and otherwise as float64.

func (c checker) checkNumber(x any) *result {
	v := new(result)
	v.merge(c.inRange(x, "", "Checked"))
	if c.MultipleOf != nil {
		v.merge(c.limit("multipleOf", "MultipleOf", x, *c.MultipleOf, c.multipleOf))
	}
	if c.Minimum != nil {
		v.merge(c.limit("minimum", "Minimum boundary", x, *c.Minimum, c.minimum))
	}
	if c.Maximum != nil {
		v.merge(c.limit("maximum", "Maximum boundary", x, *c.Maximum, c.maximum))
	}
	v.matches++
	return v
}

// limit compares x with a limit, which must be in the range of the type as well.
func (c checker) limit(
	rule, what string, x any, limit float64, compare func(v *result, x, limit any),
) *result {
	v := c.inRange(limit, rule, what)
	if i, ok := x.(int64); ok {
		if v.ok() {
			compare(v, i, truncate(limit))
		} else {
			compare(v, float64(i), limit)
		}
	} else {
		compare(v, x, limit)
	}
	return v
}

// truncate converts to an integer. A number that does not fit becomes the least integer, as it does
// on the machines that most servers run on.
func truncate(f float64) int64 {
	if f >= -1<<63 && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}

// less compares two values of the same type.
func less(x, y any) bool {
	if i, ok := x.(int64); ok {
		return i < y.(int64)
	}
	return x.(float64) < y.(float64)
}

func (c checker) minimum(v *result, x, limit any) {
	switch {
	case c.ExclusiveMinimum && !less(limit, x):
		v.fail("exclusiveMinimum", c.at, x, "should be greater than %v", limit)
	case less(x, limit):
		v.fail("minimum", c.at, x, "should be greater than or equal to %v", limit)
	}
}

func (c checker) maximum(v *result, x, limit any) {
	switch {
	case c.ExclusiveMaximum && !less(x, limit):
		v.fail("exclusiveMaximum", c.at, x, "should be less than %v", limit)
	case less(limit, x):
		v.fail("maximum", c.at, x, "should be less than or equal to %v", limit)
	}
}

func (c checker) multipleOf(v *result, x, factor any) {
	f, isFloat := factor.(float64)
	if isFloat && f <= 0 || !isFloat && !less(int64(0), factor) {
		text := fmt.Sprintf("factor MultipleOf declared for %s must be positive: %v", c.at, factor)
		v.add(Error{
			Kind: errors.SchemaInvalid, Rule: "multipleOf",
			Field: c.at.field(), Value: Render(factor), Msg: text, at: c.at, text: text,
		})
	} else if !isMultiple(x, factor) {
		v.fail("multipleOf", c.at, x, "should be a multiple of %v", factor)
	}
}

func isMultiple(x, factor any) bool {
	if i, ok := x.(int64); ok {
		return i%factor.(int64) == 0
	}
	f, by := x.(float64), factor.(float64)
	if by < 1 {
		return isJSONInteger(1 / by * f)
	}
	return isJSONInteger(f / by)
}

// isJSONInteger reports whether f is an integer that float64 holds exactly, or so close to one that
// the difference may be a rounding error (IsFloat64AJSONInteger of go-openapi).
func isJSONInteger(f float64) bool {
	const limit, epsilon = 1<<53 - 1, 1e-9
	if !(math.Abs(f) <= limit) {
		return false
	}
	rounded := math.Round(f)
	return f == rounded || math.Abs(f-rounded) < epsilon*math.Abs(rounded)
}

// inRange checks that a number fits the type and the format of the schema
// (IsValueValidAgainstRange). rule is the keyword that has the number, or empty for the value.
func (c checker) inRange(x any, rule, what string) *result {
	literal := fmt.Sprint(x)
	if f, ok := x.(float64); ok {
		literal = strconv.FormatFloat(f, 'f', -1, 64)
	}
	v, format, err := new(result), "", error(nil)
	switch c.types {
	case "integer":
		bits := 64
		if c.format == "int32" || c.format == "int64" {
			format = c.format
		}
		if format == "int32" {
			bits = 32
		}
		_, err = strconv.ParseInt(literal, 10, bits)
	case "number":
		if c.format == "float" {
			format = c.format
			_, err = strconv.ParseFloat(literal, 32)
		}
	}
	switch {
	case err == nil:
	case format != "":
		v.failWhole(cmp.Or(rule, "format"), c.at,
			"%s value must be of type %s with format %s in %s", what, c.types, format, c.at)
	default:
		v.failWhole(cmp.Or(rule, "type"), c.at,
			"%s value must be of type %s (default format) in %s", what, c.types, c.at)
	}
	return v
}
