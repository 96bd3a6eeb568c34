package apiserver

// NOTE: how metadata is found that a round trip through ObjectMeta would not change.
// That is most metadata, as servers have written it.

import (
	"time"

	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// isCanonical reports whether a round trip through ObjectMeta would leave metadata, which
// is valid JSON without repeated names, as it is, but for the order of members, white
// space, and escapes in strings. It may report false for such metadata, too.
func isCanonical(b []byte, needsGeneration bool) bool {
	s := scanner{b: b}
	return s.object(s.meta) && (s.hasGeneration || !needsGeneration)
}

// A scanner reads JSON that is known to be valid. Each of its methods reads one value,
// and reports whether it is canonical.
type scanner struct {
	b             []byte
	i             int
	hasGeneration bool
	required      int // of the members of the last owner
	members       int // of the last object
}

// next returns the next byte that is not white space.
func (s *scanner) next() byte {
	s.i = jsonwire.Blanks(s.b, s.i)
	return jsonwire.At(s.b, s.i)
}

// object reads an object, whose values value reads.
func (s *scanner) object(value func(name []byte) bool) bool {
	if s.next() != '{' {
		return false
	}
	members := 0
	for s.i++; s.next() != '}'; members++ {
		if members > 0 {
			s.i++ // the comma
			s.next()
		}
		end, escaped, _ := jsonwire.ScanString(s.b, s.i+1)
		name := s.b[s.i+1 : end]
		s.i = end + 1
		s.next()
		s.i++ // the colon
		if escaped || !value(name) {
			return false
		}
	}
	s.i++
	s.members = members
	return true
}

// list reads an array that is not empty, whose elements element reads.
func (s *scanner) list(element func() bool) bool {
	if s.next() != '[' {
		return false
	}
	elements := 0
	for s.i++; s.next() != ']'; elements++ {
		if elements > 0 {
			s.i++ // the comma
		}
		if !element() {
			return false
		}
	}
	s.i++
	return elements > 0
}

func (s *scanner) meta(name []byte) bool {
	switch string(name) {
	case "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion":
		return s.text()
	case "generation":
		s.hasGeneration = true
		lit, ok := s.integer()
		return ok && string(lit) != "0"
	case "deletionGracePeriodSeconds":
		_, ok := s.integer()
		return ok
	case "creationTimestamp", "deletionTimestamp":
		return s.time()
	case "labels", "annotations":
		return s.object(s.mapped) && s.members > 0
	case "finalizers":
		return s.list(s.anyText)
	case "ownerReferences":
		return s.list(s.ownerReference)
	case "managedFields":
		return s.list(func() bool { return s.object(s.managed) })
	}
	return false
}

func (s *scanner) ownerReference() bool {
	s.required = 0
	return s.object(s.owner) && s.required == 4
}

func (s *scanner) owner(name []byte) bool {
	switch string(name) {
	case "apiVersion", "kind", "name", "uid":
		s.required++
		return s.anyText()
	case "controller", "blockOwnerDeletion":
		return s.boolean()
	}
	return false
}

func (s *scanner) managed(name []byte) bool {
	switch string(name) {
	case "manager", "operation", "apiVersion", "fieldsType", "subresource":
		return s.text()
	case "time":
		return s.time()
	case "fieldsV1":
		return s.next() == '{' && s.anyObject()
	}
	return false
}

// string reads a string, and returns it without its quotes.
func (s *scanner) string() (text []byte, ok bool) {
	if s.next() != '"' {
		return nil, false
	}
	end, _, _ := jsonwire.ScanString(s.b, s.i+1)
	text = s.b[s.i+1 : end]
	s.i = end + 1
	return text, true
}

func (s *scanner) anyText() bool {
	_, ok := s.string()
	return ok
}

func (s *scanner) mapped([]byte) bool { return s.anyText() }

// text reads a string that is not empty.
func (s *scanner) text() bool {
	text, ok := s.string()
	return ok && len(text) > 0
}

// integer reads a number that the server writes as it was sent.
func (s *scanner) integer() (lit []byte, ok bool) {
	if c := s.next(); c != '-' && (c < '0' || c > '9') {
		return nil, false
	}
	end, kind, _, _ := jsonwire.ScanNumber(s.b, s.i)
	lit = s.b[s.i:end]
	s.i = end
	return lit, kind == jsonwire.Integer && !jsonwire.IsOddNumber(lit, kind)
}

func (s *scanner) boolean() bool {
	switch s.next() {
	case 't':
		s.i += len("true")
		return true
	case 'f':
		s.i += len("false")
		return true
	}
	return false
}

// time reads a time in UTC and in seconds that is not zero.
func (s *scanner) time() bool {
	text, ok := s.string()
	if !ok || len(text) != len("2006-01-02T15:04:05Z") || text[len(text)-1] != 'Z' {
		return false
	}
	t, err := time.Parse(time.RFC3339, string(text))
	return err == nil && !t.IsZero()
}

// anyObject reads an object without numbers: the server may write some otherwise.
func (s *scanner) anyObject() bool {
	for depth := 0; ; {
		switch c := s.b[s.i]; {
		case c == '"':
			end, _, _ := jsonwire.ScanString(s.b, s.i+1)
			s.i = end
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				s.i++
				return true
			}
		case c == '-' || c >= '0' && c <= '9':
			return false
		}
		s.i++
	}
}
