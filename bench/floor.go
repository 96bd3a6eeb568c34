package main

const mapsAlone = "the same maps of ready pieces"

// rebuilt is the floor under Unmarshal, the cost of Go's maps and slices: the result is built again
// from prepared pieces. Strings and numbers are shared, in interface values.
func rebuilt() Contender {
	return Contender{mapsAlone, Decoded, "reads nothing, copies no string", func(d *Document) Run {
		m, _, err := decodeStrict(d.Src, d.Structural)
		p := takeApart(m)
		return toValue(func() (any, error) { return p.rebuild(), err })
	}}
}

// A piece is a value taken apart.
type piece struct {
	name   string // of a member
	scalar any
	of     []piece // the members or elements
	kind   pieceKind
}

type pieceKind uint8

const (
	scalarPiece pieceKind = iota
	mapPiece
	slicePiece
)

func takeApart(v any) piece {
	switch v := v.(type) {
	case map[string]any:
		p := piece{kind: mapPiece}
		for name, value := range v {
			member := takeApart(value)
			member.name = name
			p.of = append(p.of, member)
		}
		return p
	case []any:
		p := piece{kind: slicePiece}
		for _, value := range v {
			p.of = append(p.of, takeApart(value))
		}
		return p
	}
	return piece{scalar: v}
}

func (p *piece) rebuild() any {
	switch p.kind {
	case mapPiece:
		m := make(map[string]any, len(p.of))
		for i := range p.of {
			m[p.of[i].name] = p.of[i].rebuild()
		}
		return m
	case slicePiece:
		s := make([]any, len(p.of))
		for i := range p.of {
			s[i] = p.of[i].rebuild()
		}
		return s
	}
	return p.scalar
}
