package fuzz

import (
	"bytes"
	"encoding/json"
	stderrors "errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/spec"
	"github.com/espalier-dev/espalier/schema"
)

var (
	worldPairs      = flag.Uint64("worldpairs", 100_000, "how many `pairs` TestSmallWorlds takes")
	worldCommit     = flag.Bool("commit", false, "let the commit choose which pairs TestSmallWorlds takes")
	worldCheckpoint = flag.String("checkpoint", "", "take all pairs, and note in this `file` how far that is, to go on from there")
	worldTime       = flag.Duration("for", 0, "end the test after this `time`, with -checkpoint")
)

const (
	worldTokens = 9
	worldBlock  = 512 // how many documents a schema is compiled for
	worldKinds  = 4   // semantics, and whether the root is a resource
)

// A worldRun compares blocks of pairs.
type worldRun struct {
	*World
	blocks, each uint64 // how many there are, and how many for each schema
	mu           sync.Mutex
	pairs        uint64
	classes      map[Rules]bool // what the specification cannot tell apart: the server judges one pair of each
	faults       []string
}

func newWorldRun() *worldRun {
	w := &worldRun{World: NewWorld(worldTokens), classes: make(map[Rules]bool)}
	w.each = (w.Documents() + worldBlock - 1) / worldBlock
	w.blocks = WorldSchemas() * worldKinds * w.each
	return w
}

// stride is a prime, so that its multiples are all blocks, in an order in which neighbors differ.
const stride = 1_000_000_007

// block compares the pairs of the n-th block.
func (w *worldRun) block(n uint64) {
	b := n % w.blocks * stride % w.blocks
	number, first := b/w.each, b%w.each*worldBlock
	s, kind := WorldSchema(number/worldKinds), number%worldKinds
	semantics, isResource := schema.Semantics(kind&1), kind&2 != 0
	j, err := newWorldJudge(s, semantics, isResource)
	if err != nil {
		w.fault("schema %d: %v", number/worldKinds, err)
		return
	}
	last := min(first+worldBlock, w.Documents())
	var doc []byte
	for i := first; i < last; i++ {
		doc = w.AppendDocument(doc[:0], i)
		if difference := j.compare(doc, int((number+i)%worldWays)); difference != "" {
			w.fault("schema %d, %s, resource %v, document %d, way %d: %s: %s", number/worldKinds, semantics, isResource, i, (number+i)%worldWays, doc, difference)
			return
		}
		if semantics == schema.Deployed && isResource {
			w.serve(s, doc)
		}
	}
	w.mu.Lock()
	w.pairs += last - first
	w.mu.Unlock()
}

func (w *worldRun) fault(format string, args ...any) {
	w.mu.Lock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
	w.mu.Unlock()
}

// serve asks the packages of the server about the first pair of a class.
func (w *worldRun) serve(s *schema.Structural, doc []byte) {
	class := RulesOf(s, doc)
	w.mu.Lock()
	isKnown := w.classes[class]
	w.classes[class] = true
	w.mu.Unlock()
	if isKnown {
		return
	}
	js, err := json.Marshal(s)
	if err == nil {
		var c *comparer
		if c, err = newComparer(s, js); err == nil {
			if k, what, detail := c.compare(doc); k == differs {
				w.fault("the server: %s: %s: %s\n%s", js, doc, what, detail)
			}
			return
		}
	}
	w.fault("the server: %v", err)
}

// A worldJudge compares decoders of one schema with the specification.
type worldJudge struct {
	rules        spec.Rules
	warn, strict *decoder.Decoder
	read, padded bytes.Buffer
}

// worldWays is how many ways there are to decode. Pairs take them by turns.
const worldWays = 10

func newWorldJudge(s *schema.Structural, semantics schema.Semantics, isResource bool) (*worldJudge, error) {
	p, err := schema.Compile(s, semantics, schema.ResourceRoot(isResource))
	if err != nil {
		return nil, err
	}
	return &worldJudge{rules: spec.NewRules(s, semantics, isResource),
		warn: decoder.New(p), strict: decoder.New(p, decoder.Strict)}, nil
}

// compare decodes a document in one way.
func (j *worldJudge) compare(doc []byte, way int) string {
	var out []byte
	var err error
	d := j.warn
	switch way {
	case 0:
		out, err = d.AppendJSON(nil, doc)
	case 1:
		d = j.strict
		out, err = d.AppendJSON(nil, doc)
		var strict *ferrors.StrictError
		if stderrors.As(err, &strict) != (len(d.Findings()) > 0 && err != nil && !isTypeError(err)) {
			return fmt.Sprintf("strict: %v, and the findings are %v", err, d.Findings())
		}
		if strict != nil {
			err = nil
		}
	case 2: // so that all of it may be simple
		j.padded.Reset()
		j.padded.Write(doc)
		j.padded.WriteString(strings.Repeat(" ", 64))
		out, err = d.AppendJSON(nil, j.padded.Bytes())
	case 3:
		out, err = d.AppendYAML(nil, doc)
	case 4:
		var v any
		if err = d.Unmarshal(doc, &v); err == nil {
			out, _ = json.Marshal(v)
		}
	case 5:
		out, err = io.ReadAll(d.NewReader(&oneByte{doc}))
	case 6:
		j.read.Reset()
		writer := d.NewWriter(&j.read)
		for i := 0; i < len(doc) && err == nil; i += 3 {
			_, err = writer.Write(doc[i:min(i+3, len(doc))])
		}
		if e := writer.Close(); err == nil {
			err = e
		}
		out = j.read.Bytes()
	case 7, 8, 9:
		j.padded.Reset()
		j.padded.Write(AppendYAML(nil, doc, way-7))
		if out, err = d.AppendYAML(nil, j.padded.Bytes()); err != nil && !isTypeError(err) {
			return fmt.Sprintf("%v: %q", err, j.padded.Bytes())
		}
	}
	var repeated *ferrors.DuplicateError
	if (way == 5 || way == 6) && stderrors.As(err, &repeated) { // a stream cannot take back what it has sent
		if again, e := j.warn.AppendJSON(nil, doc); !isTypeError(e) && (e != nil || !hasDuplicate(j.warn.Findings())) {
			return fmt.Sprintf("only a stream: %v, but %s, %v", err, again, e)
		}
		return ""
	}
	return j.rules.Difference(doc, out, d.Findings(), err)
}

func isTypeError(err error) bool {
	var e *ferrors.TypeError
	return stderrors.As(err, &e)
}

func hasDuplicate(list ferrors.List) bool {
	for i := range list {
		if list[i].Kind == ferrors.DuplicateField {
			return true
		}
	}
	return false
}

type oneByte struct{ left []byte }

func (o *oneByte) Read(p []byte) (int, error) {
	if len(o.left) == 0 {
		return 0, io.EOF
	}
	p[0], o.left = o.left[0], o.left[1:]
	return 1, nil
}

// TestWorldNumbers: numbers lead to different documents and schemas, and to all of them.
func TestWorldNumbers(t *testing.T) {
	w := NewWorld(7)
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
	require.Zero(t, newWorldRun().blocks%2, "for the next assertion")
	require.NotZero(t, newWorldRun().blocks%stride, "each block is visited")
}

// TestYAMLForms: what AppendYAML writes is read as the document, by gopkg.in/yaml.v3.
func TestYAMLForms(t *testing.T) {
	w := NewWorld(8)
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
	from, blocks := uint64(1), *worldPairs/worldBlock
	if *worldCommit {
		from = commitSeed(t) % w.blocks
	}
	if *worldCheckpoint == "" {
		inTurns(blocks, func(i uint64) { w.block(from + i) })
		t.Logf("from block %d: %d of %d pairs, %d classes", from, w.pairs, w.blocks*worldBlock, len(w.classes))
		require.Empty(t, w.faults)
		require.GreaterOrEqual(t, w.pairs, blocks*worldBlock/2)
		return
	}
	done, end := readCheckpoint(t), time.Now().Add(*worldTime)
	for done < w.blocks && (*worldTime == 0 || time.Now().Before(end)) {
		n := min(20_000, w.blocks-done)
		inTurns(n, func(i uint64) { w.block(done + i) })
		require.Empty(t, w.faults)
		done += n
		require.NoError(t, os.WriteFile(*worldCheckpoint, []byte(strconv.FormatUint(done, 10)), 0o666))
		t.Logf("%d of %d blocks of %d pairs, %d classes", done, w.blocks, worldBlock, len(w.classes))
	}
}

func readCheckpoint(t *testing.T) uint64 {
	text, err := os.ReadFile(*worldCheckpoint)
	if stderrors.Is(err, os.ErrNotExist) {
		return 0
	}
	require.NoError(t, err)
	done, err := strconv.ParseUint(string(text), 10, 64)
	require.NoError(t, err)
	return done
}

// commitSeed is made of the commit, so that each change has pairs of its own, and the same again.
func commitSeed(t *testing.T) uint64 {
	out, err := exec.Command("git", "rev-parse", "HEAD").Output()
	require.NoError(t, err)
	require.Greater(t, len(out), 15)
	seed, err := strconv.ParseUint(string(out[:15]), 16, 64)
	require.NoError(t, err)
	return seed
}
