package laws

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/respell"
)

// Respell rewrites a text, which must be JSON in UTF-8, so that it means the same: with other white
// space, with the members of objects in another order if no name repeats, nor kind or apiVersion in
// another case, and with strings spelled differently. Numbers stay as they are. The seed selects the
// spelling.
func Respell(t testing.TB, text []byte, seed uint64) []byte {
	t.Helper()
	return respelled(read(t, text), seed)
}

// respelled is [Respell] for a value.
func respelled(v *value, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	style := respell.RandomStyle(r)
	m := mover{r, r.IntN(3) > 0}
	return style.Append(nil, m.append(nil, v), r)
}

// A mover writes values. If it moves members, it does so in all objects.
type mover struct {
	*rand.Rand
	moves bool
}

func (m *mover) append(b []byte, v *value) []byte {
	switch v.kind {
	case '{':
		order := make([]int, len(v.members))
		for i := range order {
			order[i] = i
		}
		if m.moves && !v.repeats() && !v.repeatsType() {
			order = m.Perm(len(order))
		}
		b = append(b, '{')
		for i, at := range order {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(jsonwire.AppendQuoted(b, v.members[at].name), ':')
			b = m.append(b, v.members[at].value)
		}
		return append(b, '}')
	case '[':
		b = append(b, '[')
		for i, e := range v.elements {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.append(b, e)
		}
		return append(b, ']')
	case '"':
		return jsonwire.AppendQuoted(b, unquote(v.text))
	}
	return append(b, v.text...)
}

// repeatsType reports whether an object has kind or apiVersion in several spellings of case, of which a
// server takes the last.
func (v *value) repeatsType() bool {
	kinds, versions := 0, 0
	for _, m := range v.members {
		if strings.EqualFold(m.name, "kind") {
			kinds++
		}
		if strings.EqualFold(m.name, "apiVersion") {
			versions++
		}
	}
	return kinds > 1 || versions > 1
}
