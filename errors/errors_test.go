package errors

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/fieldpath"
)

func TestPath(t *testing.T) {
	root := Path{}
	for _, c := range []struct {
		path          Path
		text, pointer string
	}{
		{root, ``, ``},
		{root.Child("spec"), `spec`, `/spec`},
		{root.Child("spec").Child("containers").Element(0).Child("image"), `spec.containers[0].image`, `/spec/containers/0/image`},
		{root.Element(12).Element(345), `[12][345]`, `/12/345`},
		{root.Child("metadata").Child("annotations").Child("example.com/a~b"), `metadata.annotations.example.com/a~b`, `/metadata/annotations/example.com~1a~0b`},
		{root.Child("a.b"), `a.b`, `/a.b`},
		{root.Child("a").Child("b"), `a.b`, `/a/b`},
		{root.Child(""), `[""]`, `/`},
		{root.Child("a").Child(""), `a[""]`, `/a/`},
		{root.Child("日本🌳 x"), `日本🌳 x`, `/日本🌳 x`},
		{root.Child("x\r\nWarning: 299\x1b[31m"), `["x\r\nWarning: 299\x1b[31m"]`, "/x\r\nWarning: 299\x1b[31m"},
		{root.Child("\u202e\u2028"), `["\u202e\u2028"]`, "/\u202e\u2028"},
		{root.Child(`q"t\`), `["q\"t\\"]`, `/q"t\`},
		{root.Child("\xff\ufffd"), "[\"\\xff\ufffd\"]", "/\xff\ufffd"},
	} {
		assert.Equal(t, c.text, c.path.String())
		assert.Equal(t, c.pointer, c.path.Pointer())
	}
	assert.True(t, root.IsRoot())
	one, same := root.Child("a").Element(1), root.Child("a").Element(1)
	assert.Equal(t, one, same, "paths are comparable")
	assert.NotEqual(t, root.Child("a.b"), root.Child("a").Child("b"))
}

// TestPathsAreOfThisModule holds that nobody else can make the arguments of PathOf and Spell, by a
// literal, a constant or a conversion.
func TestPathsAreOfThisModule(t *testing.T) {
	for _, argument := range []reflect.Type{reflect.TypeOf(PathOf).In(0), reflect.TypeOf(Spell).In(1)} {
		assert.Contains(t, argument.PkgPath(), "/internal/")
		require.Equal(t, reflect.Struct, argument.Kind())
		require.Equal(t, 1, argument.NumField())
		assert.False(t, argument.Field(0).IsExported())
	}
}

func TestPathSegments(t *testing.T) {
	var got []Segment
	for s := range (Path{}).Child("a").Element(300).Child("").Segments() {
		got = append(got, s)
	}
	assert.Equal(t, []Segment{{Name: "a", IsName: true}, {Index: 300}, {IsName: true}}, got)
	for range (Path{}).Child("a").Child("b").Segments() {
		break // the iterator stops when it is told
	}
}

func TestPathIsWithin(t *testing.T) {
	items := Path{}.Child("items")
	for path, want := range map[Path]bool{
		items: false, items.Element(0): true, items.Child("a").Child("b"): true,
		{}: false, Path{}.Child("items2").Child("a"): false, Path{}.Child("item").Child("s"): false,
	} {
		assert.Equal(t, want, path.IsWithin(items), path.Pointer())
	}
	assert.True(t, items.IsWithin(Path{}))
}

func TestPathCompare(t *testing.T) {
	root := Path{}
	ascending := []Path{
		root, root.Element(2), root.Element(10), root.Child(""), root.Child("a"), root.Child("a").Element(0),
		root.Child("a").Child("b"), root.Child("a-b"), root.Child("a.b"), root.Child("b"),
	}
	for i, p := range ascending {
		for j, q := range ascending {
			switch c := p.Compare(q); {
			case i < j:
				assert.Negative(t, c, "%s and %s", p, q)
			case i > j:
				assert.Positive(t, c, "%s and %s", p, q)
			default:
				assert.Zero(t, c)
			}
		}
	}
}

func TestLongPaths(t *testing.T) {
	assert.Equal(t, MaxPathBytes, fieldpath.MaxBytes)
	name := func(text string) func(int) ([]byte, int) {
		return func(int) ([]byte, int) { return []byte(text), 0 }
	}
	for _, c := range []struct {
		name    string
		depth   int
		segment func(int) ([]byte, int)
	}{
		{"deep", 10_000, name("n")},
		{"deep array", 10_000, func(i int) ([]byte, int) { return nil, i }},
		{"deep and long", 10_000, name(strings.Repeat("n", 1000))},
		{"long leaf", 1, name(strings.Repeat("n", 50_000))},
		{"long, to be escaped", 3, name(strings.Repeat("\x00", 50_000))},
		{"deep, to be escaped", 10_000, name("\u202e")},
		{"long characters", 2, name(strings.Repeat("🌳", 1000))},
	} {
		calls := 0
		encoded, bound := fieldpath.Append(nil, c.depth, func(i int) ([]byte, int) {
			calls++
			return c.segment(i)
		})
		text := PathOf(fieldpath.Of(string(encoded))).String()
		assert.LessOrEqual(t, len(text), bound, c.name)
		assert.LessOrEqual(t, bound, MaxPathBytes, c.name)
		assert.Greater(t, len(text), 100, c.name)
		assert.Less(t, calls, 2*MaxPathBytes, c.name)
		assert.NotContains(t, text, "\ufffd", "cut between characters")
	}
	deep := PathOf(fieldpath.Encode(5000, name("n"))).String()
	assert.Regexp(t, `^n(\.n)+\[\.\.\. \d+ more \.\.\.\](\.n)+$`, deep)

	// Segments are kept whole up to the last one that fits.
	exact := PathOf(fieldpath.Encode(100, name("nine-long"))).String()
	assert.NotContains(t, exact, "more")
	assert.Equal(t, 100, strings.Count(exact, "nine-long"))
	past := PathOf(fieldpath.Encode(101, name("nine-long"))).String()
	assert.Contains(t, past, "more")
}

func TestMessages(t *testing.T) {
	spec := Path{}.Child("spec")
	at := func(line, column int) Position { return Position{Line: line, Column: column} }
	for _, c := range []struct {
		finding      Finding
		text, detail string
	}{
		{Finding{Kind: UnknownField, Path: spec.Child("b"), Position: at(4, 3)},
			`unknown field "spec.b"`, `4:3: unknown field "spec.b"`},
		{Finding{Kind: DuplicateField, Path: spec.Child("a"), Position: at(4, 3), First: at(3, 3), Count: 1},
			`duplicate field "spec.a"`, `4:3: duplicate field "spec.a", first at 3:3`},
		{Finding{Kind: DuplicateField, Path: spec.Child("a"), Position: at(4, 3), First: at(3, 3), Count: 2},
			`duplicate field "spec.a"`, `4:3: duplicate field "spec.a", first at 3:3, repeated 2 times`},
		{Finding{Kind: TypeMismatch, Path: spec, Want: "object", Got: "string", Position: at(1, 1)},
			`field "spec" must be an object, not a string`, `1:1: field "spec" must be an object, not a string`},
		{Finding{Kind: TypeMismatch, Want: "object", Got: "null"},
			`the document must be an object, not null`, `-: the document must be an object, not null`},
		{Finding{Kind: TypeMismatch, Path: spec, Want: "", Got: "array"},
			`field "spec" must be anything, not an array`, `-: field "spec" must be anything, not an array`},
		{Finding{Kind: TypeMismatch, Path: spec, Want: "integer or string", Got: "number"},
			`field "spec" must be an integer or string, not a number`, `-: field "spec" must be an integer or string, not a number`},
		{Finding{Kind: TypeMismatch, Path: spec, Want: "integer", Got: "boolean"},
			`field "spec" must be an integer, not a boolean`, `-: field "spec" must be an integer, not a boolean`},
		{Finding{Kind: DroppedNull, Path: spec.Element(1)},
			`dropped null field "spec[1]"`, `-: dropped null field "spec[1]"`},
	} {
		assert.Equal(t, c.text, c.finding.Error())
		assert.Equal(t, c.detail, c.finding.Detail())
	}
}

// TestWithPrefix holds that a finding in a part of a document becomes one in the whole, however its
// path is spelled.
func TestWithPrefix(t *testing.T) {
	items := Path{}.Child("items").Element(0)
	at := Position{Line: 4, Column: 3}
	f := Finding{Kind: DuplicateField, Path: Path{}.Child("spec").Child("a.b"), Position: at, First: at, Count: 1}
	keys := f
	Spell(&keys, fieldpath.Spelled(".spec[a.b]"))
	bracket := Finding{Kind: UnknownField, Path: Path{}.Child("[x").Child("y")}
	key := bracket
	Spell(&key, fieldpath.Spelled("[[x].y"))
	element := Finding{Kind: TypeMismatch, Path: Path{}.Element(2), Want: "object", Got: "null"}
	root := Finding{Kind: TypeMismatch, Want: "object", Got: "null"}
	for _, c := range []struct {
		finding      Finding
		alone, below string
	}{
		{f, `duplicate field "spec.a.b"`, `duplicate field "items[0].spec.a.b"`},
		{keys, `duplicate field "spec[a.b]"`, `duplicate field "items[0].spec[a.b]"`},
		{bracket, `unknown field "[x.y"`, `unknown field "items[0].[x.y"`},
		{key, `unknown field "[[x].y"`, `unknown field "items[0][[x].y"`},
		{element, `field "[2]" must be an object, not null`, `field "items[0][2]" must be an object, not null`},
		{root, `the document must be an object, not null`, `field "items[0]" must be an object, not null`},
	} {
		before := c.finding
		below := c.finding.WithPrefix(items)
		assert.Equal(t, before, c.finding, "it is not changed")
		assert.EqualError(t, &c.finding, c.alone)
		assert.EqualError(t, &below, c.below)
		assert.Equal(t, items.Pointer()+before.Path.Pointer(), below.Path.Pointer())
		assert.True(t, below.Path == items || below.Path.IsWithin(items))
		above := Path{}.Child("list")
		again := below.WithPrefix(above)
		assert.Equal(t, strings.Replace(c.below, `"items`, `"list.items`, 1), again.Error())
		assert.Equal(t, c.finding.WithPrefix(Path{}), c.finding)
	}
	below := keys.WithPrefix(items)
	assert.Equal(t, "items[0].spec[a.b]", below.FieldPath())
	assert.Equal(t, `4:3: duplicate field "items[0].spec[a.b]", first at 4:3`, below.Detail())
}

func TestKindNames(t *testing.T) {
	for kind, name := range map[FindingKind]string{
		UnknownField: "unknown field", DuplicateField: "duplicate field", TypeMismatch: "type mismatch", DroppedNull: "dropped null", 9: "finding(9)",
	} {
		assert.Equal(t, name, kind.String())
	}
}

func TestErrorsAs(t *testing.T) {
	list := List{{Kind: UnknownField, Path: Path{}.Child("a")}, {Kind: DuplicateField, Path: Path{}.Child("b")}}
	var f *Finding
	strict := NewStrictError(list, 3)
	require.ErrorAs(t, strict, &f)
	assert.Equal(t, UnknownField, f.Kind)
	assert.EqualError(t, strict, `strict decoding error: unknown field "a", duplicate field "b" and 3 more`)
	require.ErrorAs(t, &TypeError{Findings: list[1:]}, &f)
	assert.Equal(t, DuplicateField, f.Kind)

	cause := errors.New("cause")
	syntax := &SyntaxError{Msg: "bad", Position: Position{Line: 2, Column: 5}, Path: Path{}.Child("x"), Err: cause}
	assert.EqualError(t, syntax, `2:5: bad in "x"`)
	assert.ErrorIs(t, syntax, cause)
	assert.EqualError(t, &LimitError{Limit: LimitDepth, Max: 7, Position: Position{Line: 1, Column: 9}}, `1:9: depth of nesting exceeds the limit of 7`)

	mismatch := Finding{Kind: TypeMismatch, Path: Path{}.Child("a"), Want: "object", Got: "null", Position: Position{Line: 2, Column: 5}}
	assert.EqualError(t, &TypeError{Findings: List{mismatch, mismatch}, Omitted: 3}, `2:5: field "a" must be an object, not null, 2:5: field "a" must be an object, not null and 3 more`)
	duplicate := &DuplicateError{Path: Path{}.Child("a"), Position: Position{Line: 2, Column: 5}}
	assert.EqualError(t, duplicate, `2:5: duplicate field "a": the first was sent already`)
	duplicate.First = Position{Line: 1, Column: 2}
	assert.EqualError(t, duplicate, `2:5: duplicate field "a", first at 1:2: the first was sent already`)
	io := &IOError{Op: "read", Offset: 12, Err: cause}
	assert.EqualError(t, io, "read at offset 12: cause")
	assert.ErrorIs(t, io, cause)
	object := &ObjectError{Msg: "bad", Position: Position{Line: 2, Column: 5}, Path: Path{}.Child("x"), Err: cause}
	assert.EqualError(t, object, `2:5: bad in "x"`)
	assert.ErrorIs(t, object, cause)
	assert.EqualError(t, &ObjectError{Msg: "bad"}, "-: bad")

	schema := SchemaErrors{
		{Kind: SchemaRequired, Field: "a.type", Msg: "must not be empty"},
		{Kind: SchemaInvalid, Field: "b", Value: `"x"`, Msg: "no"},
		{Kind: SchemaForbidden, Field: "c", Msg: "not here"},
		{Kind: SchemaTypeInvalid, Field: "d", Value: "1", Msg: "no text"},
	}
	assert.EqualError(t, schema, `[a.type: Required value: must not be empty, b: Invalid value: "x": no, c: Forbidden: not here, d: Invalid value: 1: no text]`)
	assert.EqualError(t, schema[1:2], `b: Invalid value: "x": no`)
	var one *SchemaError
	require.ErrorAs(t, schema, &one)
	assert.Equal(t, "a.type", one.Field)
}

// TestErrorsIs holds that errors.Is finds findings, and errors that wrap them, by their kinds.
func TestErrorsIs(t *testing.T) {
	sentinels := []error{ErrUnknownField, ErrDuplicateField, ErrTypeMismatch, ErrDroppedNull}
	for i, sentinel := range sentinels {
		f := Finding{Kind: FindingKind(i + 1)}
		assert.EqualError(t, sentinel, f.Kind.String())
		strict, mismatch := NewStrictError(List{{Kind: 9}, f}, 0), &TypeError{Findings: List{f}}
		for _, err := range []error{&f, strict, mismatch, fmt.Errorf("items[0]: %w", strict)} {
			assert.ErrorIs(t, err, sentinel)
			assert.NotErrorIs(t, err, sentinels[(i+1)%len(sentinels)], "%v", err)
		}
	}
	assert.NotErrorIs(t, NewStrictError(nil, 1), ErrUnknownField, "nothing was kept")
	assert.ErrorIs(t, &DuplicateError{}, ErrDuplicateField)
	assert.NotErrorIs(t, &DuplicateError{}, ErrUnknownField)
}

func TestListOrder(t *testing.T) {
	at := func(offset int64) Position { return Position{Offset: offset} }
	l := List{{Kind: UnknownField, Position: at(9)}, {Kind: UnknownField, Position: at(3)}, {Kind: DuplicateField, Position: at(5)}}
	assert.Equal(t, 2, l.Count(UnknownField))
	l.SortByPosition()
	assert.Equal(t, List{{Kind: UnknownField, Position: at(3)}, {Kind: DuplicateField, Position: at(5)}, {Kind: UnknownField, Position: at(9)}}, l)
}
