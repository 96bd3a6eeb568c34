package projection_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/projection"
)

// A roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respond returns a transport that answers all requests with a body.
func respond(body io.Reader, header ...string) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(body), Request: r, ContentLength: 7}, nil
	}
}

// read sends a GET through a projection, and returns the body of the response.
func read(t testing.TB, p *projection.Projection, next http.RoundTripper, path string, header ...string) ([]byte, *http.Response, error) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	resp, err := p.Transport(next).RoundTrip(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return text, resp, err
}

// A generator makes random objects, with what is left of them.
type generator struct{ *rand.Rand }

func (g generator) value(depth int) any {
	switch n := g.IntN(8); {
	case n == 0:
		return nil
	case n == 1:
		return g.IntN(1000)
	case n == 2:
		return g.IntN(2) == 0
	case n < 5 || depth == 0:
		return strings.Repeat("x\"é\\\n", g.IntN(4)) + fmt.Sprint(g.IntN(100))
	case n == 5:
		list := []any{}
		for range g.IntN(4) {
			list = append(list, g.value(depth-1))
		}
		return list
	default:
		m := map[string]any{}
		for range g.IntN(5) {
			m[g.name()] = g.value(depth - 1)
		}
		return m
	}
}

func (g generator) name() string {
	names := []string{"keep", "list", "name", "names", "map", "v", "drop", "other", "a b", "é"}
	return names[g.IntN(len(names))]
}

func (g generator) object(i int) map[string]any {
	metadata := map[string]any{"name": fmt.Sprint("w", i), "uid": fmt.Sprint(i), "resourceVersion": fmt.Sprint(100 + i), "labels": map[string]any{"a": "b"}}
	if g.IntN(2) == 0 {
		metadata["managedFields"] = []any{map[string]any{"fieldsV1": g.value(3)}}
		metadata["annotations"] = map[string]any{"x": "y"}
	}
	o := map[string]any{"metadata": metadata, "spec": g.value(4), "status": g.value(4)}
	if g.IntN(3) > 0 {
		o["apiVersion"], o["kind"] = "example.com/v1", "Widget"
	}
	return o
}

// keep is the projection of widgetRule, over decoded values.
func keep(o map[string]any) map[string]any {
	out := map[string]any{}
	for name, value := range o {
		switch m, isMap := value.(map[string]any); {
		case name == "metadata" && isMap:
			kept := map[string]any{}
			for name, value := range m {
				if name != "managedFields" {
					kept[name] = value
				}
			}
			out[name] = kept
		case name == "spec":
			out[name] = members(value, func(name string, value any) (any, bool) {
				switch name {
				case "keep", "names":
					return value, true
				case "list":
					return elements(value, func(name string, value any) (any, bool) { return value, name == "name" }), true
				case "map":
					return members(value, func(_ string, value any) (any, bool) {
						return members(value, func(name string, value any) (any, bool) { return value, name == "v" }), true
					}), true
				}
				return nil, false
			})
		case name == "apiVersion" || name == "kind":
			out[name] = value
		}
	}
	return out
}

// members keeps of an object what choose does, of elements of lists no members, and other values.
func members(value any, choose func(name string, value any) (any, bool)) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			if kept, ok := choose(name, value); ok {
				out[name] = kept
			}
		}
		return out
	case []any:
		return elements(v, func(string, any) (any, bool) { return nil, false })
	}
	return value
}

// elements does that to the elements of a list, at any depth of lists where nothing is chosen.
func elements(value any, choose func(name string, value any) (any, bool)) any {
	list, isList := value.([]any)
	if !isList {
		return members(value, func(string, any) (any, bool) { return nil, false })
	}
	out := []any{}
	for _, v := range list {
		out = append(out, members(v, choose))
	}
	return out
}

func marshal(t testing.TB, v any) []byte {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}

func zip(t testing.TB, text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// TestDifferential compares projected responses with full ones that are projected afterwards, for
// random objects, in gzip and without, in one piece and in small ones.
func TestDifferential(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	for seed := range uint64(200) {
		g := generator{rand.New(rand.NewPCG(seed, 1))}
		var items, want []any
		var frames, wantFrames bytes.Buffer
		for i := range g.IntN(8) {
			o := g.object(i)
			items, want = append(items, o), append(want, keep(o))
			event := []string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK"}[g.IntN(4)]
			frames.Write(marshal(t, map[string]any{"type": event, "object": o}))
			frames.WriteString([]string{"\n", "", " "}[g.IntN(3)])
			wantFrames.Write(marshal(t, map[string]any{"type": event, "object": keep(o)}))
		}
		head := map[string]any{"kind": "WidgetList", "apiVersion": "example.com/v1", "metadata": g.value(2)}
		full, kept := marshal(t, with(head, items)), marshal(t, with(head, want))
		for _, piece := range []int{1, 2, 7, 100, 1 << 20} {
			got, _, err := read(t, p, respond(pieces(full, piece)), widgets)
			require.NoError(t, err)
			require.JSONEq(t, string(kept), string(got), "%d: %s", seed, full)
			got, resp, err := read(t, p, respond(pieces(zip(t, full), piece), "Content-Encoding", "gzip"), widgets)
			require.NoError(t, err)
			require.JSONEq(t, string(kept), string(got))
			require.True(t, resp.Uncompressed)
			require.Empty(t, resp.Header["Content-Encoding"])
			got, _, err = read(t, p, respond(pieces(frames.Bytes(), piece)), widgets+"?watch=1")
			require.NoError(t, err)
			require.Equal(t, values(t, wantFrames.Bytes()), values(t, got), "%d: %s", seed, frames.Bytes())
		}
	}
	assert.Empty(t, p.Counts().Passed)
	assert.Zero(t, p.Counts().Failed)
}

func with(list map[string]any, items []any) map[string]any {
	list["items"] = items
	return list
}

// values decodes a sequence of values.
func values(t testing.TB, text []byte) (list []any) {
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var v any
		err := d.Decode(&v)
		if err == io.EOF {
			return list
		}
		require.NoError(t, err)
		list = append(list, v)
	}
}

// pieces returns a reader of pieces of the text, whose last comes with io.EOF or before it.
func pieces(text []byte, size int) io.Reader {
	r := io.Reader(&pieceReader{text, size})
	if size%2 == 0 {
		r = iotest.DataErrReader(r)
	}
	return r
}

type pieceReader struct {
	text []byte
	size int
}

func (r *pieceReader) Read(p []byte) (int, error) {
	if len(r.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.size)], r.text)
	r.text = r.text[n:]
	return n, nil
}

// TestCutAnywhere cuts responses after each of their bytes. None of what is left may look complete,
// except that a watch may end between two events.
func TestCutAnywhere(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	text := `{"kind":"WidgetList","items":[` + full + `,` + full + `],"metadata":{}}`
	zipped := zip(t, []byte(text))
	for cut := range len(text) {
		got, _, err := read(t, p, respond(strings.NewReader(text[:cut])), widgets)
		require.Equal(t, io.ErrUnexpectedEOF, err, text[:cut])
		require.False(t, json.Valid(got))
		if cut < len(full) {
			got, _, err = read(t, p, respond(strings.NewReader(full[:cut])), widgets+"/a")
			require.Equal(t, io.ErrUnexpectedEOF, err)
			require.Empty(t, got)
		}
	}
	for cut := range len(zipped) {
		got, _, err := read(t, p, respond(bytes.NewReader(zipped[:cut]), "Content-Encoding", "gzip"), widgets)
		require.Equal(t, io.ErrUnexpectedEOF, err, cut)
		require.False(t, json.Valid(got))
	}
	event := `{"type":"ADDED","object":` + full + "}\n"
	for cut := range 2 * len(event) {
		got, _, err := read(t, p, respond(strings.NewReader((event + event)[:cut])), widgets+"?watch=1")
		if whole := cut == 0 || cut%len(event) == 0 || cut == len(event)-1 || cut == 2*len(event)-1; whole {
			require.NoError(t, err, cut)
		} else {
			require.Equal(t, io.ErrUnexpectedEOF, err, cut)
		}
		require.Len(t, values(t, got), (cut+1)/len(event))
	}
}

// TestErrorsOfTheConnection says that errors of the body below stay what they are: client-go compares
// them by identity and by type.
func TestErrorsOfTheConnection(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	lost := fmt.Errorf("connection lost")
	for _, path := range []string{widgets, widgets + "/a", widgets + "?watch=1"} {
		for _, text := range []string{"", full[:30], `{"type":"ADDED","object":` + full + "}"} {
			_, _, err := read(t, p, respond(io.MultiReader(strings.NewReader(text), iotest.ErrReader(lost))), path)
			assert.Same(t, lost, err, path)
		}
	}
	bad := zip(t, []byte(`{"items":[]}`))
	bad[len(bad)-5]++
	got, _, err := read(t, p, respond(bytes.NewReader(bad), "Content-Encoding", "x-gzip"), widgets)
	require.ErrorIs(t, err, gzip.ErrChecksum)
	assert.False(t, json.Valid(got))
	got, _, err = read(t, p, respond(bytes.NewReader(append(zip(t, []byte(`{"items":[]}`)), "garbage, and more"...)), "Content-Encoding", "gzip"), widgets)
	require.ErrorIs(t, err, gzip.ErrHeader)
	assert.False(t, json.Valid(got))
	_, _, err = read(t, p, respond(strings.NewReader(`{"items":[]}`), "Content-Encoding", "gzip"), widgets)
	require.ErrorIs(t, err, gzip.ErrHeader)
	got, _, err = read(t, p, respond(strings.NewReader(strings.Repeat(" ", 4096)+`{"items":[]}`), "Content-Encoding", "gzip"), widgets)
	require.ErrorIs(t, err, gzip.ErrHeader)
	assert.Empty(t, got, "nothing is read as if it were not compressed")
	_, _, err = read(t, p, respond(strings.NewReader(""), "Content-Encoding", "gzip"), widgets)
	assert.Equal(t, io.ErrUnexpectedEOF, err)
	_, _, err = read(t, p, respond(iotest.ErrReader(lost), "Content-Encoding", "gzip"), widgets)
	assert.Same(t, lost, err, "before the first byte of gzip")
}

// TestLimits reads what is larger than the limits, in gzip too, where little becomes much.
func TestLimits(t *testing.T) {
	p := newProjection(t, projection.Options{MaxObjectBytes: 4000, MaxListBytes: 100_000}, widgetRule)
	object := func(n int) string {
		return `{"metadata":{"name":"` + strings.Repeat("n", n-len(`{"metadata":{"name":""}}`)) + `"}}`
	}
	for size, ok := range map[int]bool{100: true, 3999: true, 4000: true, 4001: false, 50_000: false} {
		_, _, err := read(t, p, respond(strings.NewReader(object(size))), widgets+"/a")
		assert.Equal(t, ok, err == nil, "%d: %v", size, err)
	}
	for size, ok := range map[int]bool{100: true, 3900: true, 4100: false, 50_000: false} {
		got, _, err := read(t, p, respond(strings.NewReader(`{"type":"ADDED","object":`+full+`}{"type":"ADDED","object":`+object(size)+`}`)), widgets+"?watch=1")
		assert.Equal(t, ok, err == nil, "%d: %v", size, err)
		assert.NotEmpty(t, got)
	}
	items := `{"items":[` + strings.Repeat(object(3000)+",", 30) + object(3000) + `]}` // of 93 kB
	_, _, err := read(t, p, respond(strings.NewReader(items)), widgets)
	require.NoError(t, err)
	_, _, err = read(t, p, respond(strings.NewReader(items+strings.Repeat(" ", 10_000))), widgets)
	const tooLarge = "projection: the response for widgets.example.com is malformed or too large: it has more bytes than a limit of the projection's Options"
	require.EqualError(t, err, tooLarge)
	_, _, err = read(t, p, respond(io.MultiReader(strings.NewReader(object(4000)), strings.NewReader(" "))), widgets+"/a")
	require.EqualError(t, err, tooLarge)
	bomb := zip(t, []byte(`{"items":[`+strings.Repeat(object(3000)+",", 10_000)+object(3000)+`]}`))
	require.Less(t, len(bomb), 200_000)
	got, _, err := read(t, p, respond(bytes.NewReader(bomb), "Content-Encoding", "gzip"), widgets)
	require.ErrorContains(t, err, "has more bytes than a limit")
	assert.LessOrEqual(t, len(got), 100_000)
	// An object that is dropped may have any size below that of the list.
	got, _, err = read(t, p, respond(strings.NewReader(`{"items":[{"spec":{"drop":`+object(90_000)+`}}]}`)), widgets)
	require.NoError(t, err)
	assert.JSONEq(t, `{"items":[{"spec":{}}]}`, string(got))
}

// open sends a GET through a projection, and returns the body of the response.
func open(t testing.TB, p *projection.Projection, body io.Reader, path string, header ...string) io.ReadCloser {
	t.Helper()
	resp, err := p.Transport(respond(body, header...)).RoundTrip(httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
	require.NoError(t, err)
	return resp.Body
}

// TestClose closes bodies before they are read, between two reads, at their end and twice. After that
// they have nothing, and do not share what is theirs: two others are read in turns.
func TestClose(t *testing.T) {
	text := `{"items":[` + full + `,` + full + `]}`
	for _, path := range []string{widgets, widgets + "?watch=1"} {
		p := newProjection(t, projection.Options{}, widgetRule)
		if path != widgets {
			text = strings.Repeat(`{"type":"ADDED","object":`+full+"}\n", 2)
		}
		want, err := io.ReadAll(open(t, p, strings.NewReader(text), path))
		require.NoError(t, err)
		for n := range len(want) + 1 {
			b := open(t, p, strings.NewReader(text), path)
			_, err := io.ReadFull(b, make([]byte, n))
			require.NoError(t, err)
			if n == len(want) {
				rest, err := b.Read(make([]byte, 1))
				require.Equal(t, io.EOF, err)
				require.Zero(t, rest)
			}
			for range 2 {
				require.NoError(t, b.Close())
				rest, err := b.Read(make([]byte, 1))
				require.Equal(t, http.ErrBodyReadAfterClose, err)
				require.Zero(t, rest)
			}
		}
		bodies := [2]io.ReadCloser{open(t, p, strings.NewReader(text), path), open(t, p, iotest.OneByteReader(strings.NewReader(text)), path)}
		var got [2][]byte
		one := make([]byte, 1)
		for range 2 * len(want) { // a Read may have nothing
			for i, b := range bodies {
				n, _ := b.Read(one)
				got[i] = append(got[i], one[:n]...)
			}
		}
		assert.Equal(t, [2][]byte{want, want}, got)
	}
}

// TestReadNothing reads no bytes, for which nothing is read and no error is said.
func TestReadNothing(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	b := open(t, p, iotest.ErrReader(io.ErrClosedPipe), widgets)
	for range 2 {
		n, err := b.Read(nil)
		require.NoError(t, err)
		require.Zero(t, n)
	}
	_, err := b.Read(make([]byte, 1))
	require.Equal(t, io.ErrClosedPipe, err)
}

// TestWatchIsLive reads each event before the server sends the next one, over both versions of HTTP.
func TestWatchIsLive(t *testing.T) {
	for _, version := range []int{1, 2} {
		next, gone := make(chan struct{}, 1), make(chan struct{})
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for range next {
				_, _ = io.WriteString(w, `{"type":"ADDED","object":`+full+`}`)
				w.(http.Flusher).Flush()
			}
			<-r.Context().Done()
			close(gone)
		}))
		s.EnableHTTP2 = version == 2
		s.StartTLS()
		p := newProjection(t, projection.Options{}, widgetRule)
		c := &http.Client{Transport: p.Transport(s.Client().Transport)}
		next <- struct{}{}
		resp, err := c.Get(s.URL + widgets + "?watch=1")
		require.NoError(t, err)
		require.Equal(t, version, resp.ProtoMajor)
		d := json.NewDecoder(resp.Body)
		for i := range 3 {
			if i > 0 {
				next <- struct{}{}
			}
			var event struct{ Type, Object json.RawMessage }
			require.NoError(t, d.Decode(&event))
			require.JSONEq(t, projected, string(event.Object))
		}
		close(next)
		// Closing ends a Read that waits, and the request at the server.
		ended := make(chan error)
		go func() {
			_, err := resp.Body.Read(make([]byte, 10))
			ended <- err
		}()
		time.Sleep(time.Millisecond)
		require.NoError(t, resp.Body.Close())
		require.Error(t, <-ended)
		_, err = resp.Body.Read(make([]byte, 10))
		require.Error(t, err)
		<-gone
		s.Close()
		assert.Zero(t, p.Counts().Failed)
		assert.Equal(t, uint64(3), p.Counts().Events)
	}
}

// TestReset ends a list in its middle by a reset of the stream of HTTP/2, and by one of the connection.
func TestReset(t *testing.T) {
	for _, version := range []int{1, 2} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"items":[`+full)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}))
		s.EnableHTTP2 = version == 2
		s.StartTLS()
		p := newProjection(t, projection.Options{}, widgetRule)
		_, _, plain := get(t, s.Client(), s.URL+widgets)
		got, _, err := get(t, &http.Client{Transport: p.Transport(s.Client().Transport)}, s.URL+widgets)
		require.Error(t, err)
		assert.IsType(t, plain, err)
		assert.Equal(t, plain.Error()[:10], err.Error()[:10])
		assert.False(t, json.Valid([]byte(got)))
		s.Close()
	}
}

// TestCanceled cancels the context of a watch.
func TestCanceled(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	c, url := serve(t, p, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+widgets+"?watch=1", nil)
	require.NoError(t, err)
	resp, err := c.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	cancel()
	_, err = io.ReadAll(resp.Body)
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, p.Counts().Failed)
}

// newRequest returns a request with a body.
func newRequest(method, path, contentType string, body []byte) *http.Request {
	r := httptest.NewRequest(method, "http://localhost"+path, bytes.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	return r
}

// record returns a transport that notes the body of a request.
func record(sent *string, refused *bool) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		text, err := io.ReadAll(r.Body)
		*sent, *refused = string(text), false
		if err != nil {
			return nil, err
		}
		return respond(strings.NewReader("{}"))(r)
	}
}

// An endless reader repeats a text.
type endless struct {
	text   string
	at     int
	rounds int // how often
}

func (r *endless) Read(p []byte) (int, error) {
	if r.rounds == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.text[r.at:])
	if r.at += n; r.at == len(r.text) {
		r.at = 0
		r.rounds--
	}
	return n, nil
}

// TestAllocations says that neither a further event nor a further item of a list allocates memory, and
// that buffers do not grow with their number.
func TestAllocations(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	buffer := make([]byte, 4096)
	for path, body := range map[string]func(n int) io.Reader{
		widgets + "?watch=1": func(n int) io.Reader {
			return &endless{text: `{"type":"MODIFIED","object":` + full + "}\n", rounds: n}
		},
		widgets: func(n int) io.Reader {
			return io.MultiReader(strings.NewReader(`{"items":[`), &endless{text: full + ",", rounds: n}, strings.NewReader(full+"]}"))
		},
	} {
		few, many := testing.AllocsPerRun(5, readAll(t, p, body, path, 100, buffer)), testing.AllocsPerRun(5, readAll(t, p, body, path, 5000, buffer))
		assert.InDelta(t, few, many, 20, path)
		assert.InDelta(t, allocated(readAll(t, p, body, path, 100, buffer)), allocated(readAll(t, p, body, path, 20_000, buffer)), 300<<10, path)
	}
}

// TestDecodersAreReturned reads watches to their end, or closes them before. The decoder of one serves
// the next, unlike that of a watch that is dropped.
func TestDecodersAreReturned(t *testing.T) {
	p := newProjection(t, projection.Options{}, widgetRule)
	events := strings.Repeat(`{"type":"ADDED","object":`+full+"}", 2)
	allocations := func(use func(io.ReadCloser)) float64 {
		return testing.AllocsPerRun(100, func() { use(open(t, p, strings.NewReader(events), widgets+"?watch=1")) })
	}
	one := make([]byte, 1)
	dropped := allocations(func(b io.ReadCloser) { _, _ = b.Read(one) })
	assert.Less(t, allocations(func(b io.ReadCloser) { _, _ = io.Copy(io.Discard, b) }), dropped-4, "read")
	assert.Less(t, allocations(func(b io.ReadCloser) { _, _ = b.Read(one); _ = b.Close() }), dropped-4, "closed")
}

// allocated returns how many bytes a function allocates.
func allocated(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// readAll returns a function that reads a response of n items.
func readAll(t *testing.T, p *projection.Projection, body func(n int) io.Reader, path string, n int, buffer []byte) func() {
	return func() {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
		resp, err := p.Transport(respond(body(n))).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = resp.Body.Read(buffer)
		}
		if err != io.EOF {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
}

// BenchmarkTransport projects a list and a watch of objects of 5 kB.
func BenchmarkTransport(b *testing.B) {
	object := strings.Replace(full, `"drop":{"x":[1,2]}`, `"drop":{"x":["`+strings.Repeat(strings.Repeat("x", 40)+`","`, 110)+`"]}`, 1)
	p := newProjection(b, projection.Options{}, widgetRule)
	buffer := make([]byte, 32<<10)
	for name, path := range map[string]string{"list": widgets, "watch": widgets + "?watch=1"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(object)))
			b.ReportAllocs()
			var text io.Reader = &endless{text: `{"type":"MODIFIED","object":` + object + "}\n", rounds: b.N}
			if name == "list" {
				text = io.MultiReader(strings.NewReader(`{"items":[`), &endless{text: object + ",", rounds: b.N}, strings.NewReader(object+"]}"))
			}
			resp, err := p.Transport(respond(text)).RoundTrip(httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
			require.NoError(b, err)
			for err == nil {
				_, err = resp.Body.Read(buffer)
			}
			require.Equal(b, io.EOF, err)
		})
	}
}
