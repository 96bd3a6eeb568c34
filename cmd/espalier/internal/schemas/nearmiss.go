package schemas

import (
	"maps"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/builtin"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/suggest"
)

// A NearMiss says which type was probably meant by an object without a schema.
type NearMiss struct {
	// Known means that the group has schemas, if capitals are ignored, that a group with nearly this
	// name has the kind, or that a definition of the kind is refused. Such an object is not accepted
	// without a schema. The definitions among the inputs need not be all of a group.
	Known bool
	Hint  string // ", did you mean ...?", or ""
}

// NearMiss compares the type of an object without a schema with those that have one.
func (s *Loaded) NearMiss(apiVersion, kind string) NearMiss {
	group, _, hasVersion := strings.Cut(apiVersion, "/")
	if file, ok := s.refused[groupKind{group, kind}]; ok {
		return NearMiss{Known: true, Hint: "; its definition in " + sanitize.Name(file) + " is refused"}
	}
	if !hasVersion && kind == "" || apiVersion == "" && len(s.groupsOf[kind]) == 0 {
		return NearMiss{} // many files have a version that is none of Kubernetes
	}
	if !hasVersion && s.kinds[apiVersion] == nil {
		// It is a core kind, unless it is a group without its version.
		if same := s.foldedGroup(apiVersion); same != "" {
			group = same
		} else {
			group = ""
		}
	}
	meant := group
	if s.kinds[group] == nil {
		if meant = s.foldedGroup(group); meant == "" {
			meant = s.nearGroup(group, kind)
		}
		if meant == "" {
			return s.moved(group, kind)
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
		m = s.moved(group, kind)
		m.Known = true
	case meant != group || meant != "" && !strings.HasPrefix(apiVersion, group+"/"):
		// If the kind does not have the version, its first version is meant.
		versions := s.versions(meant, meantKind)
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
	if others := s.Release.Elsewhere(apiVersion, kind); len(others) > 0 {
		m.Hint += "; it is in Kubernetes " + strings.Join(others, ", ") + ", but not in " + s.Release.Version
	}
	if meantKind == "" && s.inputGroups[meant] {
		m.Known = false
	}
	return m
}

// moved is for a kind that its group does not have. It may be in another group of Kubernetes: the
// group is often forgotten, and the kinds of extensions have moved.
func (s *Loaded) moved(group, kind string) (m NearMiss) {
	if m.Known = s.Release != nil && group == "extensions"; !m.Known && !s.Release.HasGroup(group) {
		return m
	}
	var meant []string
	for b := range s.Release.Kinds() {
		if b.Kind == kind {
			meant = append(meant, b.APIVersion)
		}
	}
	if len(meant) > 0 && builtin.GroupOf(meant[0]) == builtin.GroupOf(meant[len(meant)-1]) {
		m.Hint = didYouMean("apiVersion", meant[0])
	}
	return m
}

// nearGroup returns the group with a kind whose name is close to another, or "". Without the same
// kind, two groups with nearly the same name may both exist.
func (s *Loaded) nearGroup(group, kind string) string {
	candidates := s.groupsOf[kind]
	if len(candidates) > 0 && candidates[0] == "" {
		candidates = candidates[1:]
	}
	return suggest.Closest(group, candidates)
}

func didYouMean(what, name string) string {
	return ", did you mean " + what + " " + fieldpath.Quoted(name) + "?"
}

// foldedGroup returns the group that differs from a name only in capitals, or "".
func (s *Loaded) foldedGroup(name string) string {
	for _, group := range s.folded[strings.ToLower(name)] {
		if group != "" && group != name {
			return group
		}
	}
	return ""
}

// indexGroups makes what NearMiss looks up, as the groups may be many, and the objects, too.
func (s *Loaded) indexGroups() {
	s.groupsOf, s.folded = map[string][]string{}, map[string][]string{}
	for _, group := range slices.Sorted(maps.Keys(s.kinds)) {
		lower := strings.ToLower(group)
		s.folded[lower] = append(s.folded[lower], group)
		for _, kind := range s.kinds[group] {
			s.groupsOf[kind] = append(s.groupsOf[kind], group)
		}
	}
}
