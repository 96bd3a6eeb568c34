package projection_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/projection"
)

// FuzzResponse projects any bytes as a list, an object and a watch. A result without an error is
// well-formed, came from something well-formed, and is the same for any pieces.
func FuzzResponse(f *testing.F) {
	corpus.AddSeeds(f)
	f.Add([]byte(full), uint8(3))
	f.Add([]byte(`{"items":[`+full+`,null],"metadata":{}}`), uint8(50))
	f.Add([]byte(`{"type":"ADDED","object":`+full+`}{"type":"ERROR","object":{"kind":"Status"}}`), uint8(1))
	f.Add([]byte(`{"kind":"\u0053tatus","apiVersion":"v1","items":[{"items":[]}],"it\u0065ms":1}`), uint8(0))
	p := newProjection(f, projection.Options{MaxObjectBytes: 1 << 16, MaxListBytes: 1 << 16}, widgetRule)
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		for _, path := range []string{widgets, widgets + "/a", widgets + "?watch=1"} {
			got, _, err := read(t, p, respond(pieces(text, int(size)+1)), path)
			if err != nil {
				if path == widgets {
					require.False(t, json.Valid(got), "looks complete: %q", got)
				}
				continue
			}
			if path == widgets+"?watch=1" {
				values(t, text)
				values(t, got)
			} else {
				require.True(t, json.Valid(text))
				require.True(t, json.Valid(got), "%q", got)
			}
			again, _, err := read(t, p, respond(bytes.NewReader(text)), path)
			require.NoError(t, err)
			require.Equal(t, string(got), string(again))
			_, _, err = read(t, p, respond(bytes.NewReader(zip(t, text)), "Content-Encoding", "gzip"), path)
			require.NoError(t, err)
		}
	})
}

// FuzzPatch judges any patches. None may make it panic, and what is judged is sent as it is.
func FuzzPatch(f *testing.F) {
	corpus.AddSeeds(f)
	for _, text := range []string{`{"spec":{"list":[1]}}`, `[{"op":"add","path":"/spec/list/-","value":1}]`, "metadata: {uid: x}", full} {
		f.Add([]byte(text))
	}
	p := newProjection(f, projection.Options{}, widgetRule)
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, contentType := range []string{"application/merge-patch+json", "application/json-patch+json", "application/apply-patch+yaml"} {
			sent, refused := "", true
			resp, err := p.Transport(record(&sent, &refused)).RoundTrip(newRequest(http.MethodPatch, widgets+"/a", contentType, text))
			require.NoError(t, err)
			require.Equal(t, refused, resp.StatusCode == http.StatusUnprocessableEntity)
			if !refused {
				require.Equal(t, string(text), sent)
			}
		}
	})
}
