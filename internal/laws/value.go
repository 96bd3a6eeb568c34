package laws

import (
	"bytes"
	"slices"

	"github.com/stretchr/testify/require"

	"testing"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// A value is a JSON value, read slowly and completely.
type value struct {
	kind     jsonv2.Kind // of its first token: one of n t f " 0 { [
	at       int         // where it starts
	text     []byte      // of a scalar
	members  []member
	elements []*value
}

// A member is a member of an object, in which names may repeat.
type member struct {
	*value
	name   string
	nameAt int
	quoted []byte // the name as it is spelled
	loses  bool   // a later one has the same name
}

// read reads a text, which must be JSON, but need not be UTF-8: in names, invalid bytes become
// U+FFFD.
func read(t testing.TB, src []byte) *value {
	t.Helper()
	d := jsonv2.NewDecoder(bytes.NewBuffer(src), jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
	token := func() (text []byte, at int) {
		if k := d.PeekKind(); k == '{' || k == '}' || k == '[' || k == ']' {
			_, err := d.ReadToken()
			require.NoError(t, err, "%q", src)
			return nil, int(d.InputOffset()) - 1
		}
		v, err := d.ReadValue()
		require.NoError(t, err, "%q", src)
		return bytes.Clone(v), int(d.InputOffset()) - len(v)
	}
	var next func() *value
	next = func() *value {
		v := &value{kind: d.PeekKind()}
		v.text, v.at = token()
		switch v.kind {
		case '{':
			last := make(map[string]int)
			for d.PeekKind() != '}' {
				var m member
				m.quoted, m.nameAt = token()
				m.name = unquote(m.quoted)
				m.value = next()
				if i, repeats := last[m.name]; repeats {
					v.members[i].loses = true
				}
				last[m.name] = len(v.members)
				v.members = append(v.members, m)
			}
			token()
		case '[':
			for d.PeekKind() != ']' {
				v.elements = append(v.elements, next())
			}
			token()
		}
		return v
	}
	return next()
}

// unquote returns the text of a JSON string, with U+FFFD for invalid UTF-8.
func unquote(quoted []byte) string {
	text, _ := jsonv2.AppendUnquote(nil, quoted)
	return string(text)
}

// repeats reports whether a name is twice in the object.
func (v *value) repeats() bool {
	return slices.ContainsFunc(v.members, func(m member) bool { return m.loses })
}

// walk calls see for each value below v that stays if the last of equal names wins, with its path
// and, if it has one, its member.
func (v *value) walk(see func(path path, m *member, v *value)) { v.walkBelow(nil, false, see) }

// walkAll is walk that includes the values that lose.
func (v *value) walkAll(see func(path path, m *member, v *value)) { v.walkBelow(nil, true, see) }

func (v *value) walkBelow(at path, all bool, see func(path path, m *member, v *value)) {
	for i := range v.members {
		m := &v.members[i]
		if m.loses && !all {
			continue
		}
		below := append(at, step{name: []byte(m.name)})
		see(below, m, m.value)
		m.walkBelow(below, all, see)
	}
	for i, e := range v.elements {
		below := append(at, step{index: i})
		see(below, nil, e)
		e.walkBelow(below, all, see)
	}
}

// A path is the way to a value.
type path []step

type step struct {
	name  []byte // nil for an element
	index int
}

// path returns the path in the form of findings.
func (p path) path() errors.Path {
	return errors.PathOf(fieldpath.Encode(len(p), func(i int) ([]byte, int) { return p[i].name, p[i].index }))
}

// equal reports whether two values are the same, apart from the order of members and the spelling
// of strings. Of equal names, the last one counts.
func equal(a, b *value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case '{':
		x, y := a.byName(), b.byName()
		if len(x) != len(y) {
			return false
		}
		for name, v := range x {
			if w, ok := y[name]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case '[':
		return slices.EqualFunc(a.elements, b.elements, equal)
	case '"':
		return unquote(a.text) == unquote(b.text)
	}
	return bytes.Equal(a.text, b.text)
}

// byName returns the members that stay.
func (v *value) byName() map[string]*value {
	members := make(map[string]*value, len(v.members))
	for _, m := range v.members {
		members[m.name] = m.value
	}
	return members
}
