package screen

import (
	"bytes"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
)

// IsValidUpdate reports whether an object of the program is surely valid that replaces old. Without
// doubt, the walk over the object has found it valid.
func (m *Machine) IsValidUpdate(p *program.Program, object, old []byte, doubt bool) bool {
	var is, was [2][]byte
	m.members(object, ofRoot, is[:])
	m.members(old, ofRoot, was[:])
	if isResource(p) && !m.fits(is[0], was[0]) {
		return false
	}
	if c := p.Root.Checks; c != nil && c.Rules.Skip != "" && !m.passesMember(p, "status", was[1]) {
		return false // the object gets the stored status
	}
	return !doubt || m.IsValid(p, object, program.Update)
}

// IsValidStatusUpdate reports whether a stored object is surely valid that gets the status of
// another one. Without doubt, the walk over that has found it valid.
func (m *Machine) IsValidStatusUpdate(p *program.Program, object, old []byte, doubt bool) bool {
	if !isResource(p) { // there is no status
		return !doubt || m.IsValid(p, object, program.StatusUpdate)
	}
	var is, was [2][]byte
	m.members(object, ofRoot, is[:])
	m.members(old, ofRoot, was[:])
	if !m.fits(was[0], was[0]) || doubt && !m.passesMember(p, "status", is[1]) {
		return false
	}
	return m.IsValid(p, old, program.StatusUpdate)
}

var ofRoot = []string{"metadata", "status"}

// isResource reports whether objects of the program have metadata.
func isResource(p *program.Program) bool {
	f := p.Root.Find([]byte("metadata"))
	return f != nil && f.Node.Group == program.RootMetadata
}

// passesMember reports whether a member of the root is surely valid, or absent.
func (m *Machine) passesMember(p *program.Program, name string, value []byte) bool {
	f := p.Root.Find([]byte(name))
	return value == nil || f != nil && m.Passes(f.Node, value)
}

// members finds members of the object in a text.
func (m *Machine) members(text []byte, names []string, values [][]byte) {
	i := jsonwire.Blanks(text, 0)
	if text[i] != '{' {
		return
	}
	for i = jsonwire.Blanks(text, i+1); text[i] != '}'; {
		end, escaped := StringEnd(text, i+1)
		name := text[i+1 : end-1]
		if escaped {
			name = m.unescape(name)
		}
		start := jsonwire.Blanks(text, jsonwire.Blanks(text, end)+1)
		end = ValueEnd(text, start)
		for k := range names {
			if names[k] == string(name) {
				values[k] = text[start:end]
			}
		}
		if i = jsonwire.Blanks(text, end); text[i] == ',' {
			i = jsonwire.Blanks(text, i+1)
		}
	}
}

// inMetadata are the members of metadata by which an object fits the stored one, in the order of the
// constants in fits.
var inMetadata = []string{
	"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
	"deletionGracePeriodSeconds", "generation", "finalizers",
}

// fits reports whether metadata surely fits that of the stored object. What the server takes from
// there may be absent.
func (m *Machine) fits(metadata, old []byte) bool {
	if metadata == nil || old == nil {
		return false
	}
	var is, was [8][]byte
	m.members(metadata, inMetadata, is[:])
	m.members(old, inMetadata, was[:])
	const (
		name = iota
		namespace
		uid
		created
		deleted
		grace
		generation
		finalizers
	)
	same := func(member int) bool { return bytes.Equal(is[member], was[member]) }
	absent := func(value []byte) bool { return value == nil || string(value) == "null" }
	isText := func(value []byte) bool { return len(value) > len(`""`) && value[0] == '"' }
	n, isWhole := Whole(was[generation])
	return isText(is[name]) && same(name) &&
		(is[namespace] == nil || same(namespace)) &&
		(is[uid] == nil || same(uid)) &&
		(absent(is[created]) || isText(was[created])) &&
		(absent(is[deleted]) || isText(was[deleted])) &&
		(is[grace] == nil || same(grace)) &&
		(was[generation] == nil || isWhole && n >= 0) &&
		(absent(was[deleted]) || is[finalizers] == nil || same(finalizers))
}
