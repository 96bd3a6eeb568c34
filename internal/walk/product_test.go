package walk

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/syntax"
	"github.com/espalier-dev/espalier/internal/torture"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// NOTE: TestProduct walks through the product of the machines with an automaton of RFC 8259, breadth
// first, until it finds no new state. A state has a text that leads to it, the first one that was
// found. From there it goes on with one more byte, and asks both sides whether that is allowed: the
// machines in each way in which they may see the text, see edge and visit. What tells states apart is in
// productKey. Texts nest a few containers at most, and of names only their first byte is told apart
// before they end, so that there is an end.

// productSchemas make the machines meet each kind of node.
var productSchemas = []struct {
	name, schema string
	opts         []schema.Option
	seeds        []string // further texts to start from
	judged       bool     // the values of streams are judged
}{
	{
		"declared", `{type: object, properties: {a: {type: string, default: d}, b: {type: object, properties: {a: {type: string, default: d}}},
			c: {type: array, items: {type: array, items: {type: integer}}}}}`, nil,
		[]string{`{"\u0061"`, `{"a":1,"\u0062"`, `{"b":{"c":`, `{"x":{"a":1,"a"`}, false,
	},
	{
		"maps", `{type: object, additionalProperties: {type: object, nullable: true, additionalProperties: {type: string}}}`, nil,
		[]string{`{"\u0061"`}, false,
	},
	{
		"kept", `{type: object, properties: {a: {x-kubernetes-preserve-unknown-fields: true},
			b: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}}}`, nil,
		[]string{`{"a":{"a":1,"a"`}, false,
	},
	{
		"nulls", `{type: object, properties: {a: {type: string, default: d}, b: {type: string, nullable: true, default: d},
			c: {type: array, items: {type: string, default: d}}}, x-kubernetes-preserve-unknown-fields: true}`, nil, nil, false,
	},
	{
		"KEP", `{type: object, properties: {a: {type: string, default: d}, b: {type: integer}, c: {type: array, items: {type: object}}}}`,
		[]schema.Option{schema.KEP}, nil, false,
	},
	{
		"rules", `{type: object, required: [a], properties: {a: {type: string, maxLength: 1}, b: {type: integer, maximum: 3},
			c: {type: array, maxItems: 1, x-kubernetes-list-type: set, items: {type: string}}}}`, []schema.Option{validation.Values()}, nil, false,
	},
	{"judged", `{type: object, required: [a], properties: {a: {type: string, maxLength: 1}, c: {type: array, maxItems: 1,
		x-kubernetes-list-type: set, items: {type: string}}}}`, []schema.Option{validation.Values()}, nil, true},
	{"wide", wideSchema(), nil, []string{`{"f69":0`, `{"f69":0,"f1`}, false},
}

// wideSchema has more fields than fit into a word.
func wideSchema() string {
	var fields []string
	for i := range 70 {
		fields = append(fields, fmt.Sprintf("f%d: {type: string, default: d}", i))
	}
	return "{type: object, properties: {a: {type: object, properties: {" + strings.Join(fields, ", ") + "}}, " + strings.Join(fields, ", ") + "}}"
}

// A productKey tells states of the product apart.
type productKey struct {
	place   torture.Place
	st      state
	kept    bool
	escaped bool // of a name
	// Of the value that is skipped.
	skipIn syntax.Container
	skipAt syntax.Expectation
	// Of the current container, and of that around it.
	node  [2]*program.Node
	seen  [2]uint64
	cur   int
	name  string
	field *program.Field
	value *program.Node
	names bool // there are undeclared names in the current container
}

var wholeProduct = flag.Bool("product", false, "TestProduct tells more states apart, and takes minutes")

// short returns the key by which states are told apart without the flag -product: not by the container
// around the current one, and within most tokens not by what does not matter there.
func (k productKey) short() productKey {
	if *wholeProduct {
		return k
	}
	k.node[1], k.seen[1] = nil, 0
	k.value = nil
	switch at := k.place.At; {
	case at <= torture.InString, at == torture.Integer, at == torture.N1, at == torture.N2, at == torture.N3:
		return k
	}
	open := k.place.Open[max(len(k.place.Open)-1, 0):]
	return productKey{
		place: torture.Place{At: k.place.At, InName: k.place.InName, Open: open}, st: k.st, skipIn: k.skipIn, skipAt: k.skipAt,
	}
}

// keyOf returns the state in which a walk was cut.
func keyOf(w *Walker, place torture.Place, text []byte) productKey {
	top := &w.frames[w.sp]
	k := productKey{place: place, st: w.st, kept: w.kept && top.kind == inObject}
	k.node[0], k.seen[0] = top.node, top.seen
	if w.sp > 0 {
		k.node[1], k.seen[1] = w.frames[w.sp-1].node, w.frames[w.sp-1].seen
	}
	switch {
	case top.kind == inArray:
		k.cur = min(int(top.cur), 1)
	case top.cur != noName:
		k.cur = 1
	}
	switch w.st {
	case inKept, inDropped:
		k.skipIn, k.skipAt = w.skip.Expects()
	case inName:
		k.escaped = w.escaped
		if name := text[bytes.LastIndexByte(text, '"'):]; len(name) == 2 && strings.IndexByte("abcd", name[1]) >= 0 {
			k.name = string(name)
		}
	case atColon, atField, atNull:
		k.field = w.field
	case atValue:
		k.value = w.value
	}
	k.names = len(w.skip.Names.Names) > w.firstName
	return k
}

// A product is the exploration of one schema.
type product struct {
	t       *testing.T
	streams [2]*Walker // one is given all of a text, the other one byte after the other
	whole   *Walker
	watched *Walker
	window  []byte
	reached *reached
	class   [256]int
}

// reached is what was reached, of all schemas.
type reached struct {
	states, edges, refused, repeated, texts int
	lexemes                                 map[lexemeAt]bool // in which a byte was tried
	handOvers                               map[string]int
	faults                                  map[edgeAt]bool
}

// An edgeAt tells edges apart at which a byte is refused.
type edgeAt struct {
	st    state
	at    torture.Lexeme
	class int
	node  *program.Node
}

type lexemeAt struct {
	st state
	at torture.Lexeme
}

func newProduct(t *testing.T, p *schema.Program, r *reached) *product {
	class, _ := torture.Classes()
	x := &product{t: t, class: class, whole: newWalker(p, limits{}), watched: newWalker(p, limits{}), reached: r}
	for i := range x.streams {
		x.streams[i] = newWalker(p, limits{})
		x.streams[i].Streaming = true
	}
	return x
}

// noLines is a Locator.
type noLines struct{}

func (noLines) Position(int) errors.Position { return errors.Position{} }

// feed starts a stream, gives it the parts of a text, each in a window of its own, and returns how
// the last part ended, and all output.
func (x *product) feed(w *Walker, eof bool, parts ...[]byte) (skip.Status, []byte) {
	w.Start(w.Out[:0])
	x.window = x.window[:0]
	st := skip.Cut
	for i, part := range parts {
		x.window = append(x.window, part...)
		if st = w.Run(x.window, eof && i == len(parts)-1); st != skip.Cut {
			break
		}
		n := w.Emit()
		w.Leave(n, noLines{})
		x.window = append(x.window[:0], x.window[n:]...)
	}
	if st == skip.Done {
		w.EmitRest()
	}
	return st, w.Out
}

// bytewise returns the bytes of a text as parts.
func bytewise(text []byte) (parts [][]byte) {
	for i := range text {
		parts = append(parts, text[i:i+1])
	}
	return parts
}

// compacted returns a result without white space, which may depend on where a text was cut.
func compacted(t *testing.T, result []byte) string {
	var b bytes.Buffer
	require.NoError(t, json.Compact(&b, result), "%q", result)
	return b.String()
}

// withoutBlanks is compacted for a part of a result.
func withoutBlanks(part []byte) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' {
			return -1
		}
		return r
	}, string(part))
}

var farEnd = strings.Repeat(" ", 4*skip.Slack)

// walkWhole walks a whole text, in one of the ways in which machines may share the work.
func (x *product) walkWhole(text string) (skip.Status, []byte) {
	st := x.whole.Walk(x.whole.Out[:0], []byte(text))
	return st, x.whole.Out
}

// edge takes the byte c from a text that is at a place, and returns the state that it leads to. It
// reports false if the byte is refused, or if the state is not to be explored.
func (x *product) edge(text []byte, place torture.Place, c byte) (k productKey, next []byte, goesOn bool) {
	t, r := x.t, x.reached
	r.edges++
	to, allowed := place.Next(c)
	next = append(text[:len(text):len(text)], c)
	st, out := x.feed(x.streams[0], false, next)
	if st == skip.Repeated {
		r.repeated++ // a rule of its own: a name may come once
		return k, nil, false
	}
	require.Equal(t, allowed, st == skip.Cut, "%q and %q: %d", text, c, st)
	at := x.streams[0].Pos()
	// The same, suspended before the byte.
	resumed, again := x.feed(x.streams[1], false, text, next[len(text):])
	require.Equal(t, st, resumed, "%q and %q", text, c)
	if !allowed {
		r.refused++
		x.note("refused at %s", stateNames[x.streams[0].st])
		require.Equal(t, skip.Bad, st)
		require.LessOrEqual(t, at, len(text), "%q and %q: the fault", text, c)
		for _, rest := range []string{"", farEnd} {
			st, _ := x.walkWhole(string(next) + rest)
			require.Equal(t, skip.Bad, st, "%q and %q", text, c)
			require.Equal(t, at, x.whole.Pos(), "%q and %q: the fault", text, c)
		}
		if e := (edgeAt{x.streams[0].st, place.At, x.class[c], x.streams[0].frames[x.streams[0].sp].node}); !r.faults[e] {
			r.faults[e] = true
			x.observe(string(next)+farEnd, true, "")
			x.observe(far(string(next)), true, "")
		}
		return k, nil, false
	}
	require.Equal(t, withoutBlanks(out), withoutBlanks(again), "%q and %q: output", text, c)
	k = keyOf(x.streams[0], to, next)
	require.Equal(t, k, keyOf(x.streams[1], to, next), "%q and %q: state", text, c)
	x.note("suspended at %s", stateNames[k.st])
	if k.st == inKept || k.st == inDropped {
		x.note("suspended at %s, Skip at %s", stateNames[k.st], skipNames[k.skipAt])
	}
	most := 2
	if *wholeProduct {
		most = 3
	}
	return k, next, len(to.Open) <= most
}

// visit asks for a state what the machines say where the text ends, and where it is completed.
func (x *product) visit(text []byte, place torture.Place) {
	t := x.t
	x.reached.states++
	st, _ := x.feed(x.streams[1], false, bytewise(text)...)
	require.Equal(t, skip.Cut, st, "%q", text)
	key := keyOf(x.streams[1], place, text)
	_, _ = x.feed(x.streams[0], false, text)
	require.Equal(t, keyOf(x.streams[0], place, text), key, "%q", text)

	st, _ = x.walkWhole(string(text))
	require.Equal(t, place.IsWhole(), st == skip.Done, "%q ends there: %d", text, st)
	rest, ok := place.Rest()
	if !ok {
		return
	}
	whole := append(text[:len(text):len(text)], rest...)
	x.reached.texts++
	st, out := x.walkWhole(string(whole))
	require.Equal(t, skip.Done, st, "%q", whole)
	want := compacted(t, out)
	same := func(st skip.Status, out []byte) {
		require.Equal(t, skip.Done, st, "%q", whole)
		require.Equal(t, want, compacted(t, out), "%q", whole)
	}
	same(x.walkWhole(string(whole) + farEnd))
	x.observe(string(whole)+farEnd, true, want)
	x.observe(far(string(whole)), true, want)
	x.observe(far(string(text)), false, "")
	x.observe(far(string(text))+farEnd, false, "")
	if place.At == torture.InString {
		x.observe(far(string(text))+strings.Repeat("x", len(farEnd)), false, "")
	}
	if x.whole.HasRepeats() {
		return
	}
	same(x.feed(x.streams[0], true, whole))
	same(x.feed(x.streams[0], true, text, whole[len(text):]))
	same(x.feed(x.streams[0], true, bytewise(whole)...))
	if key.st == inKept || key.st == inDropped {
		same(x.walkWithoutHelpers(string(whole) + farEnd))
	}
}

// walkWithoutHelpers is walkWhole where package skip has no helpers.
func (x *product) walkWithoutHelpers(text string) (st skip.Status, out []byte) {
	defer func(was int) { skip.MaxSimpleDepth = was }(skip.MaxSimpleDepth)
	skip.MaxSimpleDepth = 0
	kernel.Without(func() { st, out = x.walkWhole(text) })
	return st, out
}

// far returns a text with blanks after its first bracket, so that it is not short.
func far(text string) string {
	if text == "" || text[0] != '{' && text[0] != '[' {
		return text
	}
	return text[:1] + farEnd + text[1:]
}

// observe walks over a text as Walker.Run does, and notes who goes on for whom, and where. The
// result is that of Run.
func (x *product) observe(text string, eof bool, want string) {
	w, b := x.watched, []byte(text)
	w.Start(w.Out[:0])
	w.look(b, eof)
	padded := b
	if eof {
		padded = w.pad(b)
	}
	st := handedOver
	if len(b) > skip.Slack {
		x.note("Run -> walkSimple")
		st = x.observeSimple(b, padded, simpleRoot)
	}
	for st == handedOver {
		if st = w.machine(b, eof); st != handedOver {
			break
		}
		label := simpleName
		if w.frames[w.sp].kind == inArray {
			label = simpleElement
		}
		x.note("machine -> walkSimple, at %s", stateNames[w.st])
		st = x.observeSimple(b, padded, label)
	}
	if st == skip.Done {
		require.Equal(x.t, want, compacted(x.t, w.Out), "%q", text)
	}
	require.False(x.t, eof && want == "" && st != skip.Bad && st != skip.Repeated, "%q", text)
}

func (x *product) note(format string, args ...any) {
	x.reached.handOvers[fmt.Sprintf(format, args...)]++
}

// observeSimple is Walker.walkSimple.
func (x *product) observeSimple(b, padded []byte, label int) (st skip.Status) {
	w := x.watched
	for {
		need := w.simple(padded, label)
		if need == needMachine {
			x.note("simple -> machine, at %s", stateNames[w.st])
			return handedOver
		}
		x.note("simple -> walkSimple, for %s", needNames[need])
		top := &w.frames[w.sp]
		label = simpleAfter
		switch need {
		case needField:
			if label, st = w.simpleMember(b); st != skip.Done {
				x.note("walkSimple with a field: %s", statusNames[st])
				return st
			}
		case needString:
			end, escaped, s := jsonwire.ScanString(b, w.pos)
			if w.pos, w.escaped = end, escaped; s != jsonwire.OK {
				w.st = inString
				x.note("walkSimple with a string: -> machine")
				return handedOver
			}
			w.pos++
		case needNumber:
			end, st := w.skip.Number(b, w.pos)
			if st != skip.Done {
				x.note("walkSimple with a number: -> machine")
				return handedOver
			}
			w.pos = end
		case needKept:
			w.st = inKept
			if st := w.skipValue(b, !w.withoutSuperseded); st != skip.Done {
				x.note("walkSimple with a value that is kept: %s", statusNames[st])
				return st
			}
			if w.sp == 0 {
				w.st = atEnd
				return handedOver
			}
		case needDefaults:
			if top.node.Checks != nil {
				w.closeRuled(top.node, top.seen)
			}
			if top.node.Defaulted&^top.seen != 0 {
				w.closeWithDefaults(b, w.pos, top.node, top.seen, w.kept)
			}
			label = simplePop
		case needRules:
			if !w.ruledScalar(b) {
				x.note("walkSimple with rules: -> machine")
				return handedOver
			}
		case needArray:
			elements := 0
			if w.st == afterElement {
				elements = int(top.cur) + 1
			}
			if top.node.Checks != nil {
				w.closeArray(top.node, elements)
			}
			label = simplePop
		}
	}
}

var (
	stateNames = [...]string{
		atValue: "atValue", inString: "inString", atFirstElement: "atFirstElement", atElement: "atElement", atFirstName: "atFirstName",
		atName: "atName", inName: "inName", atColon: "atColon", atField: "atField", atUnknown: "atUnknown", atNull: "atNull",
		inKept: "inKept", inDropped: "inDropped", afterMember: "afterMember", afterElement: "afterElement", atEnd: "atEnd",
	}
	statusNames = [...]string{
		skip.Done: "Done", skip.Cut: "Cut", skip.Bad: "Bad", skip.Repeated: "Repeated", skip.Overflow: "Overflow", handedOver: "-> machine",
	}
	skipNames = map[syntax.Expectation]string{
		syntax.Value: "a value", syntax.InString: "a string", syntax.FirstElement: "the first element", syntax.FirstName: "the first name",
		syntax.Name: "a name", syntax.Colon: "a colon", syntax.Comma: "a comma",
	}
	needNames = [...]string{
		needField: "a field", needString: "a string", needNumber: "a number", needKept: "a value that is kept",
		needDefaults: "defaults", needMembers: "members", needRules: "rules", needArray: "an array",
	}
)

// explore walks through the product for a schema.
func (x *product) explore(seeds []string) {
	type found struct {
		text  []byte
		place torture.Place
	}
	known := map[productKey]bool{}
	var queue []found
	add := func(k productKey, text []byte, p torture.Place) {
		if k = k.short(); !known[k] {
			known[k] = true
			queue = append(queue, found{text, p})
		}
	}
	x.feed(x.streams[0], false, nil)
	add(keyOf(x.streams[0], torture.Place{}, nil), nil, torture.Place{})
	for _, seed := range seeds {
		var p torture.Place
		for i := range len(seed) {
			p, _ = p.Next(seed[i])
			x.feed(x.streams[0], false, []byte(seed[:i+1]))
			add(keyOf(x.streams[0], p, []byte(seed[:i+1])), []byte(seed[:i+1]), p)
		}
		x.visit([]byte(seed), p) // what tells it apart may not be in its key
	}
	for ; len(queue) > 0; queue = queue[1:] {
		q := queue[0]
		x.feed(x.streams[0], false, q.text)
		st := x.streams[0].st
		every := !x.reached.lexemes[lexemeAt{st, q.place.At}]
		x.reached.lexemes[lexemeAt{st, q.place.At}] = true
		x.visit(q.text, q.place)
		tried := make(map[int]bool)
		for c := range 256 {
			if !every && tried[x.class[c]] && !strings.ContainsRune("abcd", rune(c)) {
				continue
			}
			tried[x.class[c]] = true
			if k, text, goesOn := x.edge(q.text, q.place, byte(c)); goesOn {
				to, _ := q.place.Next(byte(c))
				add(k, text, to)
			}
		}
	}
}

// possible are the states and the hand-overs that there could be.
func possible() (all []string) {
	for st, name := range stateNames {
		all = append(all, "suspended at "+name, "refused at "+name, "machine -> walkSimple, at "+name, "simple -> machine, at "+name)
		if state(st) == inKept || state(st) == inDropped {
			for _, skipped := range skipNames {
				all = append(all, "suspended at "+name+", Skip at "+skipped)
			}
		}
	}
	for _, need := range needNames[1:] {
		all = append(all, "simple -> walkSimple, for "+need)
	}
	for _, need := range []string{"a field", "a value that is kept"} {
		for _, st := range []skip.Status{skip.Cut, skip.Bad, skip.Repeated, skip.Overflow} {
			all = append(all, "walkSimple with "+need+": "+statusNames[st])
		}
	}
	return append(all, "walkSimple with a field: -> machine", "Run -> walkSimple", "walkSimple with a string: -> machine", "walkSimple with a number: -> machine",
		"walkSimple with rules: -> machine")
}

// unreachable are those of the possible ones that no text leads to, and why.
var unreachable = map[string][]string{
	"the machine hands over after a comma only": notAt("machine -> walkSimple, at ", atName, atElement),
	"what is there is judged as a value, at atValue": {
		"refused at atFirstElement", "refused at atElement", "refused at atField", "refused at atUnknown",
	},
	"simple has no such label": {
		"simple -> machine, at inName", "simple -> machine, at atColon", "simple -> machine, at atUnknown",
		"simple -> machine, at atNull", "simple -> machine, at inKept", "simple -> machine, at inDropped",
	},
	"there would have to be 64 names: see TestSimpleLargeMaps":         {"simple -> walkSimple, for members"},
	"no limit is reached: see TestSimpleLimits and decoder.TestLimits": {"walkSimple with a field: Overflow", "walkSimple with a value that is kept: Overflow"},
}

// notAt returns what is said of all states but two.
func notAt(what string, a, b state) (all []string) {
	for st, name := range stateNames {
		if state(st) != a && state(st) != b {
			all = append(all, what+name)
		}
	}
	return all
}

// TestProduct explores the product for each schema. It asserts that the machines allow what the
// grammar allows, wherever the text was cut; that they find the same fault at the same place; that a
// text, cut anywhere, has the result that it has as a whole; and that all states and hand-overs are
// reached, but for those that are listed as unreachable.
func TestProduct(t *testing.T) {
	r := &reached{lexemes: make(map[lexemeAt]bool), handOvers: make(map[string]int), faults: make(map[edgeAt]bool)}
	for _, s := range productSchemas {
		before := r.states
		x := newProduct(t, compileYAML(t, s.schema, append(s.opts, schema.ResourceRoot(false))...), r)
		if s.judged {
			x.streams[0].Judge, x.streams[1].Judge = nobody{}, nobody{}
		}
		x.explore(s.seeds)
		t.Logf("%-9s %6d states", s.name, r.states-before)
	}
	listed := 0
	for why, names := range unreachable {
		listed += len(names)
		for _, name := range names {
			assert.Zero(t, r.handOvers[name], "%s, although %s", name, why)
			r.handOvers[name] = -1
		}
	}
	for _, name := range possible() {
		assert.NotZero(t, r.handOvers[name], "never: %s", name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.handOvers)) {
		t.Logf("%8d times %s", r.handOvers[name], name)
	}
	t.Logf("%d states, %d edges, of which %d are refused, and %d are repetitions of a name; %d texts", r.states, r.edges, r.refused, r.repeated, r.texts)
	t.Logf("%d pairs of a state of the machine and a place in the grammar, each with all 256 bytes", len(r.lexemes))
	t.Logf("%d of %d states and hand-overs are reached, the others are listed", len(possible())-listed, len(possible()))
}

// nobody judges nothing.
type nobody struct{}

func (nobody) Judge(*Question) {}
