package yamlbridge_test

import (
	"bytes"
	stderrors "errors"
	"math/rand/v2"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/torture"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestTortureReader holds that readers which have read other documents read a document as a new
// reader does, and the laws of checkLaws. The module fuzz compares more of such documents with the
// server's reader.
func TestTortureReader(t *testing.T) {
	used := readers()
	names := []string{"default", "as the server", "Core"}
	var out []byte
	torture.Run(t, torture.YAML, func(t *testing.T, r *rand.Rand, text []byte) bool {
		name := torture.One(r, names)
		reader := used[name]
		var err error
		if out, err = reader.AppendJSON(out[:0], text); err != nil {
			checkKnown(t, text, err)
		} else if json := jsontext.Value(bytes.Clone(out)); json.Compact(jsontext.AllowDuplicateNames(true)) != nil || !bytes.Equal(json, out) {
			t.Fatalf("%s: %q becomes %q, which is not compact JSON", name, text, out)
		}
		switch r.IntN(16) {
		case 0: // a reader keeps nothing of earlier documents
			fresh := yamlbridge.Reader{Dialect: reader.Dialect}
			again, errAgain := fresh.AppendJSON(nil, text)
			if err == nil != (errAgain == nil) || err != nil && err.Error() != errAgain.Error() || !bytes.Equal(out, again) {
				t.Fatalf("%s: %q becomes %q, %v; a new reader makes of it %q, %v", name, text, out, err, again, errAgain)
			}
		case 1:
			checkLaws(t, text)
		}
		return err == nil
	})
}

// checkKnown holds that an error is of one of the two documented types, and within the text.
func checkKnown(t *testing.T, text []byte, err error) {
	var syntax *errors.SyntaxError
	var limit *errors.LimitError
	var at errors.Position
	switch {
	case stderrors.As(err, &syntax):
		at = syntax.Position
	case stderrors.As(err, &limit):
		at = limit.Position
	default:
		t.Fatalf("%q: error of type %T: %v", text, err, err)
	}
	// Positions of UTF-16 are in its UTF-8.
	isUTF16 := bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
	if !at.IsValid() || at.Offset > int64(len(text)) && !isUTF16 {
		t.Fatalf("%q: %v at %+v", text, err, at)
	}
}
