package schemas

import (
	"maps"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/suggest"
	"github.com/espalier-dev/espalier/internal/fieldpath"
)

// A NearMiss says which type was probably meant by an object without a schema.
type NearMiss struct {
	// Known means that the group has schemas, if capitals are ignored. Such an object is not
	// accepted without a schema.
	Known bool
	Hint  string // ", did you mean ...?", or ""
}

// NearMiss compares the type of an object without a schema with those that have one.
func (s *Loaded) NearMiss(apiVersion, kind string) NearMiss {
	group, _, hasVersion := strings.Cut(apiVersion, "/")
	if !hasVersion && !s.groups[apiVersion] {
		// It is a core kind, unless it is a group without its version.
		if same := s.foldedGroup(apiVersion); same != "" {
			group = same
		} else {
			group = ""
		}
	}
	meant, ok := group, s.groups[group]
	if !ok {
		if meant = s.foldedGroup(group); meant == "" {
			return NearMiss{}
		}
	}
	m := NearMiss{Known: true}
	kinds := s.kinds[meant]
	meantKind := kind
	if !slices.Contains(kinds, kind) {
		meantKind = suggest.Closest(kind, kinds)
	}
	switch {
	case meantKind == "":
	case meant != group || meant != "" && !strings.HasPrefix(apiVersion, group+"/"):
		// If the kind does not have the version, its first version is meant.
		versions := s.Catalog.Versions(meant, meantKind)
		if len(versions) == 0 {
			break
		}
		_, version, _ := strings.Cut(apiVersion, "/")
		if !slices.Contains(versions, version) {
			version = versions[0]
		}
		m.Hint = didYouMean("apiVersion", meant+"/"+version)
	case meantKind != kind:
		m.Hint = didYouMean("kind", meantKind)
	}
	return m
}

func didYouMean(what, name string) string {
	return ", did you mean " + what + " " + fieldpath.Quoted(name) + "?"
}

// foldedGroup returns the group that differs from a name only in capitals, or "".
func (s *Loaded) foldedGroup(name string) string {
	for _, group := range slices.Sorted(maps.Keys(s.groups)) {
		if group != "" && group != name && strings.EqualFold(group, name) {
			return group
		}
	}
	return ""
}
