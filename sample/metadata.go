package sample

import (
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// resource adds the members that a resource has implicitly (KEP-2332, proposal 4). A schema may
// restrict them; for metadata it can specify more only where the resource is embedded.
func (b *builder) resource(v *value, g *goal) {
	apiVersion, kind := "v1", "ConfigMap"
	if len(b.open) == 1 {
		apiVersion, kind = b.apiVersion, b.kind
	}
	for _, m := range []member{{"apiVersion", text(apiVersion)}, {"kind", text(kind)}} {
		if given := g.member(m.name); len(b.open) > 1 && !b.fits(given, m.value) {
			m.value = b.value(given)
		}
		switch {
		case b.loose && b.in(30):
			continue
		case b.loose && b.in(30):
			m.value = b.any(2)
		}
		v.members = append(v.members, m)
	}
	switch {
	case b.loose && b.in(12):
	case b.loose && b.in(30):
		v.members = append(v.members, member{"metadata", b.any(2)})
	default:
		v.members = append(v.members, member{"metadata", b.metadata(g.member("metadata"))})
	}
}

// metadata makes an ObjectMeta. Its name is all that a client has to send. The server sets
// creationTimestamp, uid and the like itself.
func (b *builder) metadata(given []*schema.Structural) *value {
	g, _ := b.resolve(given, 0)
	v := object(member{"name", b.name(g.member("name"))})
	if b.full {
		if b.isNamespaced && len(b.open) == 1 {
			v.members = append(v.members, member{"namespace", text("default")})
		}
		return v
	}
	for _, f := range metadataFields {
		wanted := b.in(6)
		for _, s := range g.all {
			for _, name := range s.Required {
				wanted = wanted || name == f.name
			}
		}
		if wanted {
			v.members = append(v.members, member{f.name, b.metadataField(f, g.member(f.name))})
		}
	}
	if b.loose {
		for b.in(3) {
			v.set(one(&b.choices, metadataNames...), b.junk())
		}
		b.disorder(v, g)
	}
	return v
}

// metadataNames are all names that ObjectMeta has (k8s.io/apimachinery/pkg/apis/meta/v1).
var metadataNames = []string{
	"name", "creationTimestamp", "annotations", "labels", "finalizers", "ownerReferences", "managedFields", "namespace", "generateName",
	"uid", "resourceVersion", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
}

// junk makes a value that is rarely one for the field of ObjectMeta that gets it, but looks like
// those of another one.
func (b *builder) junk() *value {
	switch b.below(6) {
	case 1:
		return object(member{b.labelKey(), b.any(1)})
	case 2:
		return array(b.any(1))
	case 3:
		t, _ := formatText("date-time", &b.choices)
		return text(t)
	case 4:
		return array(object(member{"uid", b.any(1)}, member{one(&b.choices, "manager", "time", "fieldsV1", "x"), b.any(1)}))
	case 5:
		return b.any(2)
	}
	return null()
}

// name makes the name of a resource, which the schema may restrict.
func (b *builder) name(given []*schema.Structural) *value {
	for try := range uint64(perValue) {
		if v := text(b.resourceName()); b.fits(given, v) {
			return v
		}
		if v := b.value(given); v.kind == '"' && validate.IsName(v.text) {
			return v
		}
		b.data = noise(try, 64)
	}
	b.faults++
	return text("a")
}

// A metadataField is a field of ObjectMeta that a client may set.
type metadataField struct {
	name string
	make func(b *builder) *value
}

var metadataFields = []metadataField{
	{"annotations", func(b *builder) *value {
		return b.texts(func() string { return one(&b.choices, "", "a", "two words", "é") })
	}},
	{"finalizers", func(b *builder) *value {
		v := array()
		for i := range b.below(3) {
			v.members = append(v.members, member{value: text("example.com/finalizer" + string(rune('a'+i)))})
		}
		return v
	}},
	{"labels", func(b *builder) *value { return b.texts(b.labelValue) }},
	{"ownerReferences", func(b *builder) *value {
		owner := object(member{"apiVersion", text("example.com/v1")}, member{"kind", text("Owner")},
			member{"name", text(b.resourceName())}, member{"uid", text("6f3c7d9e-0b1a-4c2d-8e5f-a1b2c3d4e5f6")})
		if b.in(3) {
			owner.members = append(owner.members, member{"controller", boolean(b.in(2))})
		}
		return array(owner)
	}},
}

func (b *builder) metadataField(f metadataField, given []*schema.Structural) *value {
	v := f.make(b)
	if !b.loose && !b.fits(given, v) {
		return b.value(given)
	}
	return v
}

// texts makes a map of labels or annotations.
func (b *builder) texts(value func() string) *value {
	v := object()
	for range b.below(4) {
		if key := b.labelKey(); v.member(key) == nil {
			v.members = append(v.members, member{key, text(value())})
		}
	}
	return v
}
