package errors

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLogged holds that the log entry of a finding says what it is about.
func TestLogged(t *testing.T) {
	at := Position{Offset: 7, Line: 2, Column: 3, ByteColumn: 4}
	unknown := Finding{Kind: UnknownField, Path: Path{}.Child("spec").Element(0).Child("a/b"), Position: at}
	const want = `{"kind":"unknown field","message":"unknown field \"spec[0].a/b\"","path":"spec[0].a/b","pointer":"/spec/0/a~1b",` +
		`"position":{"offset":7,"line":2,"column":3,"byteColumn":4}}`
	second := Finding{Kind: DuplicateField, Path: Path{}.Child("a"), First: at, Count: 2}
	second = second.WithPrefix(Path{}.Child("items").Element(1))
	for text, v := range map[string]any{
		want: unknown, want + " ": &unknown,
		`{"kind":"duplicate field","message":"duplicate field \"items[1].a\"","path":"items[1].a","pointer":"/items/1/a","first":{"offset":7,"line":2,"column":3,"byteColumn":4},"count":2}`: second,
		`{"kind":"type mismatch","message":"the document must be an object, not null","path":"","pointer":"","want":"object","got":"null"}`:                                                  Finding{Kind: TypeMismatch, Want: "object", Got: "null"},
		`{"findings":[` + want + `],"omitted":3}`: NewStrictError(List{unknown}, 3),
		`{"findings":[` + want + `]}`:             &TypeError{Findings: List{unknown}},
		`{"message":"m","position":{"offset":7,"line":2,"column":3,"byteColumn":4},"path":"a"}`:                     &SyntaxError{Msg: "m", Position: Position{7, 2, 3, 4}, Path: Path{}.Child("a"), Err: io.EOF},
		`{"message":"m","position":{"offset":7,"line":2,"column":3,"byteColumn":4},"path":"b"}`:                     &ObjectError{Msg: "m", Position: Position{7, 2, 3, 4}, Path: Path{}.Child("b"), Err: io.EOF},
		`{"limit":"depth of nesting","max":5,"position":{"offset":7,"line":2,"column":3,"byteColumn":4},"path":""}`: &LimitError{Limit: LimitDepth, Max: 5, Position: Position{7, 2, 3, 4}},
		`{"path":"a","position":{"offset":7,"line":2,"column":3,"byteColumn":4}}`:                                   &DuplicateError{Path: Path{}.Child("a"), Position: Position{7, 2, 3, 4}},
		`{"findings":[{"kind":"invalid value","message":"a: Required value","path":"a","pointer":"/a","invalid":{"kind":"Required value","rule":"required","field":"a"}}],"omitted":1}`: NewInvalidError(List{{
			Kind: InvalidValue, Path: Path{}.Child("a"), Invalid: &ValueError{Kind: SchemaRequired, Rule: "required", Field: "a"},
		}}, 1),
		`{"a":"dropped null"}`: map[string]FindingKind{"a": DroppedNull},
		`{"a":"spec[0].a/b"}`:  map[string]Path{"a": unknown.Path},
	} {
		got, err := json.Marshal(v)
		require.NoError(t, err)
		assert.Equal(t, string(bytes.TrimSpace([]byte(text))), string(got))
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "finding", &unknown)
	assert.Contains(t, log.String(), `"finding":`+want)

	for k := UnknownField; k <= InvalidValue; k++ {
		text, err := k.MarshalText()
		require.NoError(t, err)
		var back FindingKind
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, k, back)
	}
	var k FindingKind
	require.EqualError(t, k.UnmarshalText([]byte("x\n")), `errors: there is no kind of finding called "x\n"`)
}
