// Package stored holds the old state: objects as a server would have stored them,
// which new ones are compared with.
package stored

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/errors"
)

// maxBytes is how much memory old objects may take.
const maxBytes = 512 << 20

// objectBytes is what an object takes apart from its text.
const objectBytes = 512

// ErrTooLarge is the error for an old state that takes too much memory.
var ErrTooLarge = stderrors.New("the old state is too large: its objects take more than 512 MiB of " +
	"memory; check fewer folders at a time")

// An Object is an object of the old state.
type Object struct {
	APIVersion string
	JSON       []byte // pruned and defaulted
	File       string // for messages
	Key        string // tells which file it is in both states
	At         errors.Position
}

// Place returns where the object is.
func (o *Object) Place() finding.Place { return finding.Place{File: o.File, At: o.At} }

// An id is what objects of both states have in common. The version is no part of it: a server
// converts.
type id struct{ group, kind, namespace, name string }

func idOf(of finding.Identity) id {
	group, _, ok := strings.Cut(of.APIVersion, "/")
	if !ok {
		group = ""
	}
	return id{group, of.Kind, of.Namespace, of.Name}
}

// Objects are the old state. The zero Objects is empty.
type Objects struct {
	byID  map[id][]*Object // those of one file are one
	bytes int
	most  int // for tests; 0 means maxBytes
}

// Add adds an object. Of those of one file with one identity the last one counts, as if the file
// were applied from its start to its end.
func (s *Objects) Add(of finding.Identity, o *Object) error {
	if of.Name == "" {
		return nil // its name is generated, so nothing replaces it
	}
	if s.byID == nil {
		s.byID = map[id][]*Object{}
	}
	most := s.most
	if most == 0 {
		most = maxBytes
	}
	if s.bytes += len(o.JSON) + objectBytes; s.bytes > most {
		return ErrTooLarge
	}
	key := idOf(of)
	all := s.byID[key]
	if n := len(all); n > 0 && all[n-1].File == o.File {
		s.bytes -= len(all[n-1].JSON) + objectBytes
		all[n-1] = o
		return nil
	}
	s.byID[key] = append(all, o)
	return nil
}

// Find returns the object that one with an identity replaces: that in the same file, or else the
// only one. It is nil if there is none. Of several that differ, none is chosen, and the error names
// two of them.
func (s *Objects) Find(of finding.Identity, key string) (*Object, error) {
	all := s.byID[idOf(of)]
	if slices.ContainsFunc(all, func(o *Object) bool { return o.Key == key }) {
		all = slices.DeleteFunc(slices.Clone(all), func(o *Object) bool { return o.Key != key })
	}
	if len(all) == 0 {
		return nil, nil
	}
	for _, o := range all[1:] {
		if o.APIVersion != all[0].APIVersion || !bytes.Equal(o.JSON, all[0].JSON) {
			return nil, fmt.Errorf("several files of the old state have it, and differ: %s and %s", all[0].Place(), o.Place())
		}
	}
	return all[0], nil
}
