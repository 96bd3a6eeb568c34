//go:build purego

package values

type boxes struct{}

func (c *chunks) boxString(s string) any { return s }

func (c *chunks) boxInt(x int64) any { return x }

func (c *chunks) boxFloat(x float64) any { return x }
