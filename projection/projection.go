package projection

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strings"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// A Rule says what is kept of the objects of a resource, in all its versions.
type Rule struct {
	// Group and Resource name the resource as the paths of requests do:
	// "example.com" and "widgets". The group "" is the core group.
	Group, Resource string
	// Type is a Go type whose fields are kept, or nil: see schema.Project.
	Type reflect.Type
	// Keep are the paths of fields that are kept, such as
	// "spec.containers[].image": see schema.Project. What a path leads to is
	// kept whole. Status updates by PUT need the path "status".
	Keep []string
	// Schema is the schema of the resource, or nil. If it is there, [New]
	// fails where it does not specify a field of Type or Keep: see
	// schema.CheckProjection.
	Schema *schema.Structural
}

// Options are limits. The zero value of each is its default.
type Options struct {
	// MaxObjectBytes is how many bytes an object may have that is read by
	// itself, an event of a watch, and the body of a write. Each of them is
	// held as a whole while it is looked at. The default is
	// DefaultMaxObjectBytes.
	MaxObjectBytes int
	// MaxListBytes is how many bytes a list may have in one response, after
	// decompression. They are not held. The default is DefaultMaxListBytes.
	MaxListBytes int64
}

// These are the limits that apply where [Options] does not set others.
const (
	// DefaultMaxObjectBytes is 64 MiB, far more than a server stores.
	DefaultMaxObjectBytes = 64 << 20
	// DefaultMaxListBytes is 16 GiB.
	DefaultMaxListBytes = 16 << 30
)

// A Projection is a set of rules. Any number of goroutines can use it. Its
// [Projection.Counts] are those of all its transports.
type Projection struct {
	opts  Options
	rules map[groupResource]*rule
	count counters
}

type groupResource struct{ group, resource string }

// String returns the name as kubectl has it, such as widgets.example.com.
func (r groupResource) String() string {
	if r.group == "" {
		return r.resource
	}
	return r.resource + "." + r.group
}

// A rule is a Rule with the decoders for its objects.
type rule struct {
	name   groupResource
	schema *schema.Structural
	object *decoder.Pool // for single objects
	list   *decoder.Pool // for lists
	event  *decoder.Pool // for events of watches
}

// New returns a projection with the rules. It fails where a rule is incomplete
// or not readable, where there are two for a resource, and where a limit is
// negative.
func New(opts Options, rules ...Rule) (*Projection, error) {
	if opts.MaxObjectBytes < 0 || opts.MaxListBytes < 0 {
		return nil, fmt.Errorf("projection: no limit can be less than 0: %+v", opts)
	}
	opts.MaxObjectBytes = min(cmp.Or(opts.MaxObjectBytes, DefaultMaxObjectBytes), math.MaxInt32)
	opts.MaxListBytes = cmp.Or(opts.MaxListBytes, DefaultMaxListBytes)
	p := &Projection{opts: opts, rules: make(map[groupResource]*rule, len(rules))}
	p.count.passed = map[string]uint64{}
	for _, from := range rules {
		r, err := newRule(from, opts)
		switch {
		case err != nil:
			return nil, fmt.Errorf("projection: the rule for %q of group %q: %w", from.Resource, from.Group, err)
		case p.rules[r.name] != nil:
			return nil, fmt.Errorf("projection: there are two rules for %s", r.name)
		}
		p.rules[r.name] = r
	}
	return p, nil
}

func newRule(from Rule, opts Options) (*rule, error) {
	r := &rule{name: groupResource{from.Group, from.Resource}}
	if !isPlain(from.Resource) || from.Group != "" && !isPlain(from.Group) {
		return nil, fmt.Errorf("the name is not one: Resource is a plural in lower case, such as widgets, and Group a domain, such as example.com")
	}
	var err error
	if r.schema, err = schema.Project(from.Type, from.Keep...); err != nil {
		return nil, err
	}
	if from.Schema != nil {
		if err := schema.CheckProjection(r.schema, from.Schema); err != nil {
			return nil, err
		}
	}
	for to, s := range map[**decoder.Pool]*schema.Structural{
		&r.object: r.schema,
		&r.list: {
			Type:                 "object",
			Nullable:             true,
			Properties:           map[string]*schema.Structural{"items": {Type: "array", Nullable: true, Items: &schema.SchemaOrArray{Schema: r.schema}}},
			AdditionalProperties: &schema.SchemaOrBool{Allows: true, Schema: whole},
		},
		&r.event: {
			Type:                 "object",
			Properties:           map[string]*schema.Structural{"object": r.schema},
			AdditionalProperties: &schema.SchemaOrBool{Allows: true, Schema: whole},
		},
	} {
		program, err := schema.Compile(s, schema.ResourceRoot(false), schema.CheckTypes(true))
		if err != nil {
			return nil, err
		}
		*to = decoder.NewPool(program, decoder.Ignore, decoder.Limits{
			NumberBytes: opts.MaxObjectBytes, NameBytes: opts.MaxObjectBytes, HeldBytes: opts.MaxObjectBytes,
		})
	}
	return r, nil
}

// whole keeps a value with everything in it.
var whole = &schema.Structural{XPreserveUnknownFields: new(true), Nullable: true}

// keepsWhole reports whether a projection keeps what it is for with everything in it.
func keepsWhole(s *schema.Structural) bool {
	return s != nil && s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

// isPlain reports whether a text has only characters of the names of groups and resources.
func isPlain(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") == "" && strings.Trim(text, ".") == text
}

// Transport returns a transport that projects what next reads. It is a function
// for Wrap of rest.Config. Closing the body of a response early frees what is
// held for it; the transport starts no goroutines. Transport panics if next is
// nil.
func (p *Projection) Transport(next http.RoundTripper) http.RoundTripper {
	if next == nil {
		panic("projection: Transport: the next transport is nil")
	}
	return &transport{Projection: p, next: next}
}
