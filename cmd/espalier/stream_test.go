package main

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

// TestPruneStreams: each document is written before the next one arrives.
func TestPruneStreams(t *testing.T) {
	for _, format := range []struct{ start, end string }{{"", "\n"}, {"# YAML\n", "\n---\n"}} {
		in, toIn := io.Pipe()
		fromOut, out := io.Pipe()
		code := make(chan int)
		go func() {
			code <- command.Run([]string{"prune", "--crd", crd, "-o", "ndjson"}, in, out, io.Discard)
		}()
		buf := make([]byte, 1000)
		for i := range 3 {
			text := planNamed(fmt.Sprint("plan-", i))
			_, err := toIn.Write([]byte(format.start + text + format.end))
			require.NoError(t, err)
			n, err := fromOut.Read(buf)
			require.NoError(t, err)
			assert.Equal(t, text+"\n", string(buf[:n]))
		}
		require.NoError(t, toIn.Close())
		assert.Equal(t, command.ExitClean, <-code)
	}
}

// TestPruneReadError: the documents before an error of the input are written, and the one with
// the error is not.
func TestPruneReadError(t *testing.T) {
	for _, test := range []struct{ start, end, stderr string }{
		{"", "\n", "<stdin>: error: document 2: unplugged [unreadable]\n"},
		{"# YAML\n", "\n---\n", "<stdin>: error: document 2: reading line 4: unplugged [unreadable]\n"},
	} {
		var stdout, stderr bytes.Buffer
		in := io.MultiReader(strings.NewReader(test.start+planNamed("a")+test.end+`{"kind": "Backup`), iotest.ErrReader(stderrors.New("unplugged")))
		code := command.Run([]string{"prune", "--crd", crd, "-o", "ndjson"}, in, &stdout, &stderr)
		assert.Equal(t, command.ExitInput, code)
		assert.Equal(t, planNamed("a")+"\n", stdout.String())
		assert.Equal(t, test.stderr, stderr.String())
	}
}
