//go:build purego

package decoder

func boxString(p *string) any { return *p }

func boxInt(p *int64) any { return *p }

func boxFloat(p *float64) any { return *p }
