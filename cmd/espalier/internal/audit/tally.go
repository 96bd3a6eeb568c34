package audit

// This file counts effects by field.

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

const (
	// maxExamples is how many objects are examples of an effect.
	maxExamples = 3
	// maxFields is how many fields of a kind are told apart. Names below maps are not, but objects
	// may have any number of names that no schema declares.
	maxFields = 1000
	// maxValue is how much of a value an example shows.
	maxValue = 60
)

// A Tally counts the effects on the objects of a kind.
type Tally struct {
	*Kind
	Objects int
	// Affected is how many objects have an effect of each kind, and Affected[0] how many have any.
	Affected [Defaulted + 1]int
	Others   int // effects on fields beyond maxFields
	byKey    map[fieldKey]*Field
}

// A Field is what happens to a field in some of the objects.
type Field struct {
	Effect   EffectKind
	Version  string
	Path     string // with [*] for all elements of an array and all keys of a map
	Rule     string // that refuses values
	MayStay  bool   // in all of the objects
	Created  bool
	Objects  int
	Values   int
	Examples []Example
}

// An Example is one of the objects with an effect.
type Example struct {
	finding.Identity
	finding.Place
	Path     string // of this object
	Old, New string
	Text     string // of the server
}

type fieldKey struct {
	effect        EffectKind
	version, path string
	rule          string
	created       bool
}

// NewTally returns a tally without objects.
func NewTally(k *Kind) *Tally { return &Tally{Kind: k, byKey: map[fieldKey]*Field{}} }

// Add counts the effects on an object. locate returns where a path is in its file.
func (t *Tally) Add(of finding.Identity, version string, effects []Effect, locate func(errors.Path) finding.Place) {
	t.Objects++
	var kinds [Defaulted + 1]bool
	seen := map[*Field]bool{}
	for i := range effects {
		e := &effects[i]
		kinds[0], kinds[e.Kind] = true, true
		f := t.field(e, version)
		if f == nil {
			t.Others++
			continue
		}
		f.Values++
		f.MayStay = f.MayStay && e.MayStay
		if seen[f] {
			continue
		}
		seen[f] = true
		if f.Objects++; len(f.Examples) < maxExamples {
			x := Example{Identity: of, Place: locate(e.Path), Path: e.Path.String(), Old: brief(e.Old), New: brief(e.New)}
			if e.Why != nil {
				x.Text = e.Why.Error()
			}
			f.Examples = append(f.Examples, x)
		}
	}
	for kind, is := range kinds {
		if is {
			t.Affected[kind]++
		}
	}
}

func (t *Tally) field(e *Effect, version string) *Field {
	key := fieldKey{effect: e.Kind, version: version, created: e.Created, path: t.pattern(version, e.Path)}
	if e.Why != nil {
		key.rule = e.Why.Rule
	}
	f := t.byKey[key]
	if f == nil && len(t.byKey) < maxFields {
		f = &Field{Effect: e.Kind, Version: version, Path: key.path, Rule: key.rule, Created: e.Created, MayStay: true}
		t.byKey[key] = f
	}
	return f
}

// Fields returns what has happened to which field, by effect, version and path.
func (t *Tally) Fields() []*Field {
	return slices.SortedFunc(maps.Values(t.byKey), func(a, b *Field) int {
		return cmp.Or(
			cmp.Compare(a.Effect, b.Effect), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(bit(a.Created), bit(b.Created)),
		)
	})
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pattern returns a path without indices, and without the keys of maps.
func (t *Tally) pattern(version string, path errors.Path) string {
	var b strings.Builder
	schemas := t.schemas(version)
	for s := range path.Segments() {
		if s.Gap > 0 {
			b.WriteString("...")
			schemas = nil
			continue
		}
		if !s.IsName {
			b.WriteString("[*]")
			schemas = below(schemas, func(s *schema.Structural) *schema.Structural {
				if s.Items == nil {
					return nil
				}
				return s.Items.Schema
			})
			continue
		}
		declared := below(schemas, func(of *schema.Structural) *schema.Structural { return of.Properties[s.Name] })
		values := below(schemas, func(of *schema.Structural) *schema.Structural {
			if of.AdditionalProperties == nil {
				return nil
			}
			return of.AdditionalProperties.Schema
		})
		if len(declared) == 0 && len(values) > 0 {
			b.WriteString("[*]")
			schemas = values
			continue
		}
		schemas = declared
		name := errors.Path{}.Child(s.Name).String()
		if b.Len() > 0 && !strings.HasPrefix(name, "[") {
			b.WriteByte('.')
		}
		b.WriteString(name)
	}
	return b.String()
}

// schemas returns the schemas of a version before and after the change.
func (t *Tally) schemas(version string) (all []*schema.Structural) {
	for _, s := range []*side{t.from, t.to} {
		if s == nil || s.versions[version] == nil || s.versions[version].Schema == nil {
			continue
		}
		all = append(all, s.versions[version].Schema)
	}
	return all
}

// below returns the schemas to which a step leads.
func below(all []*schema.Structural, step func(*schema.Structural) *schema.Structural) (next []*schema.Structural) {
	for _, s := range all {
		if s = step(s); s != nil {
			next = append(next, s)
		}
	}
	return next
}

// brief returns the start of a value.
func brief(value []byte) string {
	text := strings.ToValidUTF8(string(value[:min(len(value), maxValue)]), "")
	if len(value) > maxValue {
		text += "..."
	}
	return text
}

// Merge adds what another tally of the kind has counted, whose objects come after those of this one.
func (t *Tally) Merge(other *Tally) {
	t.Objects += other.Objects
	t.Others += other.Others
	for i, n := range other.Affected {
		t.Affected[i] += n
	}
	for key, of := range other.byKey {
		f := t.byKey[key]
		switch {
		case f != nil:
			f.Objects += of.Objects
			f.Values += of.Values
			f.MayStay = f.MayStay && of.MayStay
			f.Examples = append(f.Examples, of.Examples[:min(len(of.Examples), maxExamples-len(f.Examples))]...)
		case len(t.byKey) < maxFields:
			t.byKey[key] = of
		default:
			t.Others += of.Values
		}
	}
}
