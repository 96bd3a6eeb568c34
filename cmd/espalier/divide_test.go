package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

// A largeInput is an input that is examined by several goroutines.
type largeInput struct{ name, open, between, close string }

// text returns an input of more than a megabyte, with faults of many kinds in it.
func (l *largeInput) text(r *rand.Rand, faults bool) string {
	var b strings.Builder
	b.WriteString(l.open)
	for i := 0; b.Len() < 1_150_000; i++ {
		if i > 0 {
			b.WriteString(l.between)
		}
		pad := strings.Repeat("p", r.IntN(2000))
		kind := r.IntN(12)
		if !faults {
			kind = 11
		}
		switch kind {
		case 0:
			fmt.Fprintf(&b, `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","spec":{"retention":{"dayly":%d},"suspend":true,"suspend":false},"pad":"%s"}`, i, pad)
		case 1:
			fmt.Fprintf(&b, `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","spec":{"retention":{"daily":"%d"}}}`, i)
		case 2:
			fmt.Fprintf(&b, `{"apiVersion":"example.com/v1","kind":"Unknown","n":%d,"n":1}`, i)
		case 3:
			fmt.Fprintf(&b, `{"kind":"BackupPlan","metadata":{"name":"a%d"}}`, i)
		case 4:
			fmt.Fprintf(&b, `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","kind":"BackupPlans","metadata":{"name":"a%d"}}`, i)
		case 5:
			fmt.Fprintf(&b, `{"metadata":{"name":"a%d"}}`, i)
		default:
			fmt.Fprintf(&b, `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","metadata":{"name":"a%d"},"spec":{"retention":{"daily":%d}},"pad":"%s"}`, i, i, pad)
		}
	}
	b.WriteString(l.close)
	return b.String()
}

var largeInputs = []largeInput{
	{"list.json", `{"apiVersion":"v1","kind":"List","items":[`, ",", `],"extra":1}`},
	{"plans.json", `{"apiVersion":"backup.example.com/v1","kind":"BackupPlanList","items":[`, ",\n", `]}`},
	{"row.json", "\n", "\n \n", "\n"},
	{"lines.ndjson", "", "\n", ""},
	{"list.yaml", "# espalier:ignore-file duplicate-field -- they are meant\napiVersion: v1\nkind: List\nitems:\n- ", "\n# espalier:ignore unknown-field -- it is for others\n- ", "\n"},
	{"stream.yaml", "# espalier:ignore-file duplicate-field -- they are meant\n", "\n...\n---\n# espalier:ignore unknown-field -- it is for others\n", "\r\n---\n# espalier:ignore all\na: &a [1]\nb: *a\n"},
}

// TestDivided: what many goroutines make of one large input is what one makes, whatever is wrong
// with it.
func TestDivided(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	dir := t.TempDir()
	commands := [][]string{
		{"prune", "-o", "ndjson"},
		{"prune", "-o", "yaml", "--keep", "spec.retention"},
		{"default", "-o", "json", "--validate=strict", "--ignore-missing-schemas"},
		{"check", "-o", "json"},
		{"check", "-o", "tap", "--ignore-missing-schemas"},
	}
	for _, l := range largeInputs {
		for round := range 4 {
			isYAML := strings.HasSuffix(l.name, ".yaml")
			if testing.Short() && (round != 3 || l.name != "row.json" && !isYAML) {
				continue // the race detector takes a minute for all
			}
			text := l.text(r, round > 0)
			at := r.IntN(len(text))
			switch round {
			case 2: // a fault of the grammar
				text = text[:at] + []string{"}", "\x00", `"`, "]"}[r.IntN(4)] + text[at:]
			case 3: // a document that is large itself: a List of its own, in a row of documents
				text = text[:len(text)/2]
				text += l.between + largeInputs[0].text(r, true) + l.between + text + l.close
			}
			name := filepath.Join(dir, l.name)
			require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
			run := [][]string{commands[(round+len(l.name))%len(commands)]}
			if isYAML { // which has comments that suppress findings
				run = append(run, commands[3])
			}
			for _, args := range run {
				args = append(slices.Clip(args), "--crd", crd, name)
				out, errs, code := espalier("", append(args, "-j", "1")...)
				for _, jobs := range []string{"2", "5"} {
					gotOut, gotErrs, got := espalier("", append(args, "-j", jobs)...)
					require.Equal(t, code, got, "%q, round %d", args, round)
					require.True(t, out == gotOut, "%q, round %d: another output", args, round)
					require.True(t, errs == gotErrs, "%q, round %d: other errors", args, round)
				}
			}
		}
	}
}

// TestDividedMemory: what waits to be written is bounded, whether there are many small objects or
// some that become a thousand times as long.
func TestDividedMemory(t *testing.T) {
	if !stopsTheWorld(t) {
		return
	}
	aliases := "a: &a \"" + strings.Repeat("a", 800) + "\"\nb: [*a" + strings.Repeat(", *a", 700) + "]\n---\n"
	for _, test := range []struct {
		name, text string
		grows      int64 // so many times as much is written
	}{{"small.ndjson", "1\n", 1}, {"aliases.yaml", aliases, 100}} {
		file := filepath.Join(t.TempDir(), test.name)
		size := writeMany(t, file, test.text, 1_200_000/len(test.text))
		var written counter
		var code int
		peak := peakOf(func() {
			code = command.Run([]string{"prune", "--ignore-missing-schemas", "-o", "ndjson", "-j", "2", file}, strings.NewReader(""), &written, io.Discard)
		})
		assert.Equal(t, command.ExitClean, code, test.name)
		assert.GreaterOrEqual(t, int64(written), test.grows*size, test.name)
		assert.Less(t, peak, uint64(48<<20), test.name)
	}
}

// A counter counts what is written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// TestDividedOutputFails: the work on one input ends when nobody reads the output any more.
func TestDividedOutputFails(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, l := range largeInputs {
		name := filepath.Join(t.TempDir(), l.name)
		require.NoError(t, os.WriteFile(name, []byte(l.text(r, false)), 0o600))
		var stderr bytes.Buffer
		code := command.Run([]string{"prune", "--crd", crd, "--validate=ignore", "-j", "3", name}, strings.NewReader(""), &brokenWriter{room: 100_000}, &stderr)
		require.Equal(t, command.ExitInput, code)
		require.Contains(t, stderr.String(), "writing the output")
	}
}
