package fuzz

import (
	"encoding/json"
	stderrors "errors"
	"flag"
	"fmt"
	"hash/maphash"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/spec"
	"github.com/espalier-dev/espalier/schema"
)

var (
	worldPairs      = flag.Uint64("worldpairs", 100_000, "how many `pairs` TestSmallWorlds takes")
	worldCommit     = flag.Bool("commit", false, "let the commit choose which pairs TestSmallWorlds takes")
	worldBlockFlag  = flag.Uint64("block", 0, "let TestSmallWorlds take only the `block` with this number, from 1 on")
	worldCheckpoint = flag.String("checkpoint", "", "take all pairs, and note in this `file` how far that is, to go on from there")
	worldTime       = flag.Duration("for", 0, "end the test after this `time`, with -checkpoint")
)

// blockLength is how many documents a block has. A block has one schema.
const blockLength = 512

// blockStride is a prime, so that its multiples are all blocks, in an order in which neighbors differ.
const blockStride = 1_000_000_007

// A worldRun compares blocks of pairs.
type worldRun struct {
	families      []*worldFamily
	units, blocks uint64
	seed          maphash.Seed

	mu      sync.Mutex
	pairs   uint64
	classes map[uint64]bool // what the specification cannot tell apart: the server judges one pair of each
	faults  []string
}

// A worldUnit has all documents of a family under one schema.
type worldUnit struct {
	*worldFamily
	schema, kind uint64
	first        uint64 // the number of its first block
}

func newWorldRun() *worldRun {
	w := &worldRun{families: newWorldFamilies(), seed: maphash.MakeSeed(), classes: make(map[uint64]bool)}
	for _, f := range w.families {
		w.units, w.blocks = w.units+f.units(), w.blocks+f.blocksOf()
	}
	return w
}

// version says which pairs have which numbers. Checkpoints of other versions are of no use.
func (w *worldRun) version() string {
	parts := make([]string, len(w.families))
	for i, f := range w.families {
		parts[i] = fmt.Sprintf("%d documents x %d schemas x %d", f.documents, f.schemas, f.kinds)
	}
	return strings.Join(parts, ", ")
}

// at returns the unit of the n-th block, and which of its blocks that is.
func (w *worldRun) at(n uint64) (u worldUnit, block uint64) {
	first := uint64(0)
	for _, f := range w.families {
		if n < f.blocksOf() {
			each := uint64(len(f.blocks))
			return f.unit(n/each, first+n/each*each), n % each
		}
		n, first = n-f.blocksOf(), first+f.blocksOf()
	}
	panic("there is no such block")
}

// unit returns the n-th unit, whose first block has a number.
func (f *worldFamily) unit(n, first uint64) worldUnit {
	return worldUnit{f, n / f.kinds, n % f.kinds, first}
}

// unit compares all pairs of the n-th unit.
func (w *worldRun) unit(n uint64) {
	n = n % w.units * blockStride % w.units
	first := uint64(0)
	for _, f := range w.families {
		if n < f.units() {
			each := uint64(len(f.blocks))
			w.compare(f.unit(n, first+n*each), 0, each)
			return
		}
		n, first = n-f.units(), first+f.blocksOf()
	}
}

// block compares the pairs of the n-th block.
func (w *worldRun) block(n uint64) {
	u, block := w.at(n)
	w.compare(u, block, block+1)
}

// compare compares the pairs of some blocks of a unit, up to the first difference.
func (w *worldRun) compare(u worldUnit, from, to uint64) {
	s := u.worldFamily.schema(u.schema)
	j, err := u.newJudge(s, u.kind)
	if err != nil {
		w.fault("schema %d: %v", u.schema, err)
		return
	}
	server := worldServer{schema: s}
	var class []byte
	pairs := uint64(0)
	for block := from; block < to; block++ {
		documents := u.block(block)
		for i := range documents {
			d := &documents[i]
			difference := j.compare(d, u.schema+u.kind+uint64(i))
			var mode spec.Mode
			class, mode = j.class(append(append(class[:0], d.value.name...), ' '))
			if difference == "" && class != nil && w.isNew(class, mode) {
				difference = server.compare(d, mode, j)
			}
			if difference != "" {
				js, _ := json.Marshal(s)
				w.fault("-block %d: schema %d, kind %d, document %d: %s\n%s\n%s",
					u.first+block+1, u.schema, u.kind, i, d.text, js, difference)
				return
			}
		}
		pairs += uint64(len(documents))
	}
	w.mu.Lock()
	w.pairs += pairs
	w.mu.Unlock()
}

// isNew reports whether a class has not been seen before.
func (w *worldRun) isNew(class []byte, mode spec.Mode) bool {
	sum := maphash.Bytes(w.seed, append(class, byte(mode)))
	w.mu.Lock()
	defer w.mu.Unlock()
	isKnown := w.classes[sum]
	w.classes[sum] = true
	return !isKnown
}

func (w *worldRun) fault(format string, args ...any) {
	w.mu.Lock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
	w.mu.Unlock()
}

// A worldServer compares with the packages of the server.
type worldServer struct {
	schema    *schema.Structural
	js        []byte
	comparers [3]*comparer // by mode
	values    *Validator
}

var worldComparers = [3]maker{newComparer, newExactComparer, newStorageComparer}

func (s *worldServer) compare(d *worldDocument, mode spec.Mode, j worldJudge) string {
	values, validates := j.(*valueJudge)
	if err := s.prepare(mode, validates); err != nil {
		return err.Error()
	}
	c := s.comparers[mode]
	text := [...][]byte{spec.AsSent: d.text, spec.Requests: d.typed, spec.Stored: d.named}[mode]
	if k, what, detail := c.compare(text); k == differs {
		return fmt.Sprintf("the server: %s: %s", what, detail)
	}
	if !validates {
		return ""
	}
	answer, err := c.serve(d.named)
	if err != nil {
		return "the server: " + err.Error()
	}
	parts := s.values.Parts(answer.Object)
	want := describe(slices.Concat(parts[:]...))
	_, _ = values.requests.AppendJSON(nil, d.named)
	var got []string
	for _, f := range values.requests.Findings() {
		if f.Kind == ferrors.InvalidValue {
			got = append(got, fmt.Sprintf("%s at %s: %v", errorTypes[f.Invalid.Kind], f.Invalid.Field, f.Invalid))
		}
	}
	if slices.Sort(got); !slices.Equal(want, got) {
		return fmt.Sprintf("the server: only it: %q\nonly we: %q", without(want, got), without(got, want))
	}
	return ""
}

// prepare makes what compares in a mode.
func (s *worldServer) prepare(mode spec.Mode, validates bool) (err error) {
	if s.js == nil {
		if s.js, err = json.Marshal(s.schema); err != nil {
			return err
		}
	}
	if s.comparers[mode] == nil {
		if s.comparers[mode], err = worldComparers[mode](s.schema, s.js); err != nil {
			return err
		}
	}
	if validates && s.values == nil {
		s.values, err = NewValidator(s.js)
	}
	return err
}

// TestWorldNumbers: numbers lead to different documents and schemas, and to all of them.
func TestWorldNumbers(t *testing.T) {
	w := NewWorld(7, WorldNames, WorldScalars)
	seen := make(map[string]bool)
	for i := range w.Documents() {
		doc := string(w.AppendDocument(nil, i))
		require.True(t, json.Valid([]byte(doc)), doc)
		require.False(t, seen[doc], doc)
		seen[doc] = true
	}
	require.True(t, seen[`{"a":{"\u0061":null}}`])
	require.True(t, seen[`{"b":1,"z":null}`] && seen[`{"z":[1]}`] && seen[`{}`])
	clear(seen)
	for i := range WorldSchemas() / 5 {
		js, err := json.Marshal(WorldSchema(i))
		require.NoError(t, err)
		require.False(t, seen[string(js)], "%d: %s", i, js)
		seen[string(js)] = true
	}
	clear(seen)
	for _, s := range WorldValueSchemas() {
		js, err := json.Marshal(s)
		require.NoError(t, err)
		require.False(t, seen[string(js)], "%s", js)
		seen[string(js)] = true
	}
	require.Greater(t, len(seen), 1000)
	run := newWorldRun()
	require.NotZero(t, run.blocks%blockStride, "each block is visited")
	require.NotZero(t, run.units%blockStride, "each unit is visited")
	last, block := run.at(run.blocks - 1)
	require.Equal(t, run.families[len(run.families)-1], last.worldFamily)
	require.Equal(t, len(last.blocks)-1, int(block))
	require.Equal(t, last.schemas-1, last.schema)
}

// TestYAMLForms: what AppendYAML writes is read as the document, by gopkg.in/yaml.v3.
func TestYAMLForms(t *testing.T) {
	w := NewWorld(8, WorldNames, WorldScalars)
	blocks, flows := 0, 0
	for i := range w.Documents() {
		doc := w.AppendDocument(nil, i)
		var want any
		require.NoError(t, json.Unmarshal(doc, &want))
		for form := range 3 {
			text := AppendYAML(nil, doc, form)
			var node yaml.Node
			require.NoError(t, yaml.Unmarshal(text, &node), "%s: %s", doc, text)
			got, err := json.Marshal(lastValues(node.Content[0]))
			require.NoError(t, err)
			require.JSONEq(t, string(doc), string(got), "%s", text)
			if strings.ContainsAny(string(text), "{[") {
				flows++
			} else {
				blocks++
			}
		}
	}
	require.Greater(t, blocks, 1000)
	require.Greater(t, flows, 1000)
}

// lastValues returns what a node stands for. Of equal names the last one counts.
func lastValues(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = lastValues(n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, lastValues(c))
		}
		return list
	}
	var v any
	_ = n.Decode(&v)
	return v
}

// TestSmallWorlds compares small documents under small schemas with the specification, in all ways
// in turn, and one pair of each class with the packages of the server. It takes some pairs, the same
// ones each time or those of the commit, or goes on with all of them: see the flags.
func TestSmallWorlds(t *testing.T) {
	w := newWorldRun()
	switch {
	case *worldBlockFlag > 0:
		require.LessOrEqual(t, *worldBlockFlag, w.blocks, "there are not so many blocks")
		w.block(*worldBlockFlag - 1)
		require.Empty(t, w.faults)
		require.NotZero(t, w.pairs)
	case *worldCheckpoint != "":
		w.goOn(t)
	default:
		from, by := uint64(1), "the same ones each time"
		if seed, ok := commitSeed(); ok && *worldCommit {
			from, by = seed%w.blocks, fmt.Sprintf("those of commit %015x", seed)
		}
		blocks := *worldPairs / blockLength
		inTurns(blocks, func(i uint64) { w.block((from + i) % w.blocks * blockStride % w.blocks) })
		t.Logf("%d pairs of %s, %s, from %d on; %d classes", w.pairs, w.version(), by, from, len(w.classes))
		require.Empty(t, w.faults, "with -args -block N the block of the number is compared again")
		require.GreaterOrEqual(t, w.pairs, blocks*blockLength/2)
	}
}

// goOn compares all units that are left by the checkpoint.
func (w *worldRun) goOn(t *testing.T) {
	const each = 100 // units between two checkpoints
	text, err := os.ReadFile(*worldCheckpoint)
	if !stderrors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	done, err := w.fromCheckpoint(string(text))
	require.NoError(t, err)
	started := time.Now()
	for done < w.units && (*worldTime == 0 || time.Since(started) < *worldTime) {
		n := min(each, w.units-done)
		inTurns(n, func(i uint64) { w.unit(done + i) })
		require.Empty(t, w.faults, "with -args -block N the block of the number is compared again")
		done += n
		next := *worldCheckpoint + ".next" // so that there is a whole file at any time
		require.NoError(t, os.WriteFile(next, []byte(w.checkpoint(done)), 0o666))
		require.NoError(t, os.Rename(next, *worldCheckpoint))
		took := time.Since(started).Round(time.Second)
		t.Logf("%s: %d pairs in %v, %d classes", w.checkpoint(done), w.pairs, took, len(w.classes))
	}
}

// checkpoint is the text of a file that says how many units are done.
func (w *worldRun) checkpoint(done uint64) string {
	return fmt.Sprintf("%d of %d units of %s", done, w.units, w.version())
}

// fromCheckpoint returns how many units are done by the text of a checkpoint, which may be empty.
func (w *worldRun) fromCheckpoint(text string) (done uint64, err error) {
	if text == "" {
		return 0, nil
	}
	number, _, _ := strings.Cut(text, " ")
	if done, err = strconv.ParseUint(number, 10, 64); err != nil {
		return 0, err
	}
	if done > w.units || text != w.checkpoint(done) {
		return 0, fmt.Errorf("the checkpoint is of another version: %q, and not %q", text, w.checkpoint(done))
	}
	return done, nil
}

// TestWorldJudges: in each way a judge finds that another schema is specified.
func TestWorldJudges(t *testing.T) {
	families := newWorldFamilies()
	document := func(f *worldFamily, text string) *worldDocument {
		for b := range f.blocks {
			documents := f.block(uint64(b))
			if i := slices.IndexFunc(documents, func(d worldDocument) bool { return string(d.text) == text }); i >= 0 {
				return &documents[i]
			}
		}
		t.Fatal(text)
		return nil
	}
	leaf := &schema.Structural{Type: "integer", Default: json.RawMessage("7")}
	s, other := worldObject(false, false, leaf, nil), worldObject(false, false, leaf, leaf)
	j, err := newPruneJudge(&s, 2)
	require.NoError(t, err)
	d, ways := document(families[0], `{"z":1}`), j.(*pruneJudge).ways
	require.Equal(t, uint64(readings+4), ways)
	for way := range ways {
		require.Empty(t, j.compare(d, way))
	}
	rules := spec.NewRules(&other, schema.Deployed, true)
	for way := range ways {
		j.(*pruneJudge).value = nil
		j.(*pruneJudge).rules = [3]spec.Rules{rules, rules.In(spec.Requests), rules.In(spec.Stored)}
		require.NotEmpty(t, j.compare(d, way), way)
	}

	set := list("set", leaf, nil)
	s = worldObject(false, false, &set, nil)
	j, err = newValueJudge(&s, 0)
	require.NoError(t, err)
	d, ways = document(families[1], `{"a":[1,1,"s"]}`), readings+2
	for way := range ways {
		require.Empty(t, j.compare(d, way))
	}
	require.Equal(t, []string{"Duplicate value /a/1", "Invalid type /a/2"}, j.(*valueJudge).invalid)
	atomic := list("atomic", leaf, nil)
	other = worldObject(false, false, &atomic, nil)
	for way := range ways {
		j.(*valueJudge).value, j.(*valueJudge).schema = nil, &other
		require.NotEmpty(t, j.compare(d, way), way)
	}
}

// TestCheckpoints: a checkpoint is read as it was written, and others are refused.
func TestCheckpoints(t *testing.T) {
	w := newWorldRun()
	for _, done := range []uint64{0, 1, w.units} {
		again, err := w.fromCheckpoint(w.checkpoint(done))
		require.NoError(t, err)
		require.Equal(t, done, again)
	}
	done, err := w.fromCheckpoint("")
	require.NoError(t, err)
	require.Zero(t, done)
	other := strings.Replace(w.checkpoint(7), "documents x 1", "documents x 2", 1)
	for _, text := range []string{"x", "17", w.checkpoint(1) + "1", w.checkpoint(w.units + 1), other} {
		_, err := w.fromCheckpoint(text)
		require.Error(t, err, text)
	}
}

// commitSeed is the start of the name of the commit, so that each change has pairs of its own, and the same
// again. A tree outside of git has none.
func commitSeed() (seed uint64, ok bool) {
	out, err := exec.Command("git", "-c", "safe.directory=*", "rev-parse", "HEAD").Output()
	if err != nil || len(out) < 15 {
		return 0, false
	}
	seed, err = strconv.ParseUint(string(out[:15]), 16, 64)
	return seed, err == nil
}
