package middleware

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

const manyCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  names: {kind: Foo, plural: foos}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          any: {type: object, x-kubernetes-preserve-unknown-fields: true}
          texts: {type: array, items: {type: string, maxLength: 1}}
          words: {type: array, items: {type: string, enum: [a, b]}}
          set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
          either: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true, anyOf: [{required: [a]}, {required: [b]}]}}
          list:
            type: array
            items:
              type: object
              properties:
                a: {type: string, default: "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"}
`

func manyCatalog(t *testing.T, opts ...schema.Option) *schema.Catalog {
	crds, err := schema.ParseCRD([]byte(manyCRD))
	require.NoError(t, err)
	c := schema.NewCatalog(opts...)
	require.NoError(t, c.Add(crds...))
	return c
}

// An onslaught is many equal requests, each of which makes much out of little.
type onslaught struct {
	body   string
	media  string // or JSON
	query  string
	opts   Options
	gzip   bool
	byKind bool
	server bool // with decoder.ServerRequests
	values bool // with decoder.ValidateCreate
	// held says that the requests hold more than the budget if they may: in results or streams.
	// Memory that is needed only while a body is decoded is held by as many requests at a time as
	// there are slots.
	held bool
}

func repeated(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

func names(n int, format string) string {
	return repeated(n, func(i int) string { return fmt.Sprintf(format, i) })
}

const (
	yamlType  = "application/yaml"
	typeLines = "apiVersion: example.com/v1\nkind: Foo\n"
	typeText  = `{"apiVersion":"example.com/v1","kind":"Foo",`
)

var onslaughts = map[string]onslaught{
	"aliases kept":        {body: typeLines + "any:\n  a: &a [" + strings.Repeat("1,", 1000) + "]\n  b:\n" + strings.Repeat("  - *a\n", 100), media: yamlType, held: true},
	"aliases dropped":     {body: typeLines + "A: &a {" + names(100, "k%d: 1,") + "}\nB:\n" + strings.Repeat("- *a\n", 400), media: yamlType},
	"merge keys":          {body: typeLines + "A: &a {" + names(100, "k%d: 1,") + "}\nB:\n" + strings.Repeat("- <<: *a\n", 200), media: yamlType},
	"too many aliases":    {body: typeLines + "A: &a {" + names(100, "k%d: 1,") + "}\nB:\n" + strings.Repeat("- *a\n", 12_000), media: yamlType},
	"defaults":            {body: typeText + `"list":[` + strings.Repeat("{},", 2000) + `{}]}`, held: true},
	"defaults, reported":  {body: typeText + `"list":[` + strings.Repeat("{},", 2000) + `{}]}`, opts: Options{Options: request.Options{Action: request.Report}}},
	"undeclared names":    {body: typeText + names(6000, `"n%d":0,`) + `"z":0}`},
	"under Strict":        {body: typeText + names(6000, `"<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<%d":0,`) + `"z":0}`, query: "?fieldValidation=Strict"},
	"problem details":     {body: typeText + names(6000, `"<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<%d":0,`) + `"z":0}`, query: "?fieldValidation=Strict", opts: Options{Options: request.Options{ProblemDetails: true}}},
	"duplicates":          {body: typeText + strings.Repeat(`"n":0,`, 9000) + `"n":0}`},
	"duplicates kept":     {body: typeText + `"any":{` + names(4000, `"%d":0,"%[1]d":0,`) + `"n":0}}`},
	"server's lines":      {body: typeLines + "any:\n" + names(4000, "  k%d: 0\n  k%[1]d: 0\n"), media: yamlType, server: true},
	"metadata":            {body: typeText + `"metadata":{"finalizers":[],"labels":{` + names(5000, `"%d":"",`) + `"z":""}}}`, server: true},
	"numbers":             {body: typeText + `"any":{"a":[` + strings.Repeat("1e20,", 12_000) + `1]}}`, server: true, held: true},
	"a mistake explained": {body: typeText + `"metadata":{"labels":{` + names(5000, `"%d":"",`) + `"z":1}}}`, server: true},
	"a mistake in YAML":   {body: typeLines + "A: &a [" + strings.Repeat("1,", 1000) + "]\nB:\n" + strings.Repeat("- *a\n", 400) + "metadata: {name: 1}\n", media: yamlType},
	"peeked into":         {body: typeLines + "A: &a {" + names(100, "k%d: 1,") + "}\nB:\n" + strings.Repeat("- *a\n", 400), media: yamlType, byKind: true},
	"peeked, repeated":    {body: `{"apiVersion":"example.com/v1",` + strings.Repeat(`"kind":"Foo",`, 4000) + `"z":0}`, byKind: true},
	"depth":               {body: typeText + `"any":` + strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000) + "}"},
	"gzip":                {body: typeText + `"any":{"a":"` + strings.Repeat("x", 1<<20) + `"}}`, gzip: true, opts: Options{Options: request.Options{Gzip: true}}, held: true},
	"streams":             {body: typeText + `"list":[` + strings.Repeat("{},", 1000) + `{}],` + names(4000, `"n%d":0,`), opts: Options{Stream: true}, held: true},
	"streams, gzip":       {body: typeText + names(4000, `"n%d":0,`), gzip: true, opts: Options{Options: request.Options{Gzip: true}, Stream: true}, held: true},
	"many invalid":        {body: typeText + `"texts":[` + names(5000, `"long %d",`) + `""]}`, values: true},
	"long and invalid":    {body: typeText + `"words":[` + strings.Repeat(`"`+strings.Repeat("c", 12_000)+`",`, 4) + `"a"]}`, values: true},
	"invalid, reported":   {body: typeText + `"words":[` + strings.Repeat(`"`+strings.Repeat("c", 12_000)+`",`, 4) + `"a"]}`, values: true, opts: Options{Options: request.Options{Action: request.Report}}},
	"invalid, its places": {body: typeText + `"words":[` + strings.Repeat(`"`+strings.Repeat("<", 6000)+`",`, 4) + `"a"]}`, values: true, opts: Options{Options: request.Options{ProblemDetails: true}}, held: true},
	"a set":               {body: typeText + `"set":[` + names(4000, `"%d","%[1]d",`) + `""]}`, values: true},
	"neither":             {body: typeText + `"either":[` + strings.Repeat("{},", 4000) + `{}]}`, values: true},
	"streams, held whole": {body: typeText + `"any":{"a":"` + strings.Repeat("x", 200<<10), opts: Options{Stream: true}, server: true, held: true},
}

// A barrier stops all requests wherever they hold something: while the handler has the body, while
// the rest of a stream has not arrived, and while the answer is not read. It counts the stopped
// ones.
type barrier struct {
	arrived atomic.Int64
	open    chan struct{}
}

func (b *barrier) wait() {
	b.arrived.Add(1)
	<-b.open
}

// A stalled body ends at a barrier.
type stalled struct {
	io.Reader
	at *barrier
}

func (s stalled) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF {
		s.at.wait()
	}
	return n, err
}

// A slowAnswer is an answer that nobody reads before a barrier opens.
type slowAnswer struct {
	header http.Header
	code   int
	at     *barrier
	waited bool
}

func (a *slowAnswer) Header() http.Header  { return a.header }
func (a *slowAnswer) WriteHeader(code int) { a.code = code }
func (a *slowAnswer) Write(p []byte) (int, error) {
	if !a.waited {
		a.waited = true
		a.at.wait()
	}
	return len(p), nil
}

// finder returns the finder for the requests.
func (o onslaught) finder(t *testing.T, opts ...decoder.Option) request.Finder {
	var compile []schema.Option
	if o.server {
		opts = append(opts, decoder.ServerRequests)
	}
	if o.values {
		compile = append(compile, validation.Values())
		opts = append(opts, decoder.ValidateCreate)
	}
	if o.byKind {
		return request.ByKind(manyCatalog(t, compile...), opts...)
	}
	return request.ByPath(manyCatalog(t, compile...), opts...)
}

// run sends n requests at a time. It returns the most bytes that were live on the heap beyond those
// before, and how many requests were refused for want of room.
func (o onslaught) run(t *testing.T, n int, budget int64) (most int64, overloaded int) {
	o.opts.MaxHeldBytes = budget
	// Whatever limits an operator sets, the budget stays the same.
	find := o.finder(t, decoder.Limits{HeldBytes: 64 << 20, AliasFactor: yamlbridge.MaxAliasFactor})
	at := &barrier{open: make(chan struct{})}
	handler := New(find, o.opts)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if o.opts.Stream {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		at.wait()
	}))
	body := o.body
	if o.gzip {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write([]byte(body))
		require.NoError(t, w.Flush())
		if !o.opts.Stream {
			require.NoError(t, w.Close())
		}
		body = z.String()
	}
	before := liveBytes()
	var all sync.WaitGroup
	var refused atomic.Int64
	for range n {
		all.Go(func() {
			r := httptest.NewRequest(http.MethodPost, "/apis/example.com/v1/namespaces/d/foos"+o.query, nil)
			r.Body = io.NopCloser(strings.NewReader(body))
			if o.opts.Stream {
				r.Body = io.NopCloser(stalled{strings.NewReader(body), at})
			}
			r.ContentLength = -1
			if o.media != "" {
				r.Header.Set("Content-Type", o.media)
			}
			if o.gzip {
				r.Header.Set("Content-Encoding", "gzip")
			}
			w := &slowAnswer{header: http.Header{}, at: at}
			handler.ServeHTTP(w, r)
			if w.code == http.StatusServiceUnavailable {
				refused.Add(1)
			}
		})
	}
	for at.arrived.Load() < int64(n) {
		most = max(most, lastLive()-before)
		time.Sleep(time.Millisecond)
	}
	most = max(most, liveBytes()-before)
	close(at.open)
	all.Wait()
	return most, int(refused.Load())
}

// liveBytes returns how many bytes are live on the heap, by a collection that it starts. lastLive
// returns the figure of the last collection.
func liveBytes() int64 {
	runtime.GC()
	return lastLive()
}

func lastLive() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// The memory that many requests use is bounded for all of them together, whichever way they use it.
func TestMemoryOfManyRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	// With more processors there are more slots, and with more garbage fewer collections to look
	// at.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(min(4, runtime.GOMAXPROCS(0))))
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	const (
		budget  = 12 << 20
		clients = 150
		// perClient is what a request, its goroutine and the test's part of it take. The handler is
		// called below several functions, and the readers of gzip are large.
		perClient = 16 << 10
		unasked   = 8 << 20
	)
	for name, o := range onslaughts {
		t.Run(name, func(t *testing.T) {
			most, overloaded := o.run(t, clients, budget)
			t.Logf("%d bytes: %d KiB live, %d overloaded", len(o.body), most>>10, overloaded)
			bound := int64(budget + clients*perClient + unasked)
			if !o.held {
				// Much is allocated and dropped while a collection runs, which takes everything new
				// for live.
				assert.Less(t, most, bound+budget)
				return
			}
			assert.Less(t, most, bound)
			assert.Positive(t, overloaded)
			if !o.opts.Stream { // they begin together, and may all need more together
				assert.Less(t, overloaded, clients, "none got through")
			}
			most, overloaded = o.run(t, clients, 1<<40)
			t.Logf("without a budget %d KiB live, %d overloaded", most>>10, overloaded)
			assert.Zero(t, overloaded)
			assert.Greater(t, most, bound, "there is nothing to be bounded")
		})
	}
}

// A request that needs memory and does not get it is refused for want of room, never for its
// content, and nothing is left over.
func TestNoBudgetIsTheFaultOfTheBody(t *testing.T) {
	for name, o := range onslaughts {
		if o.opts.Stream {
			o.body = typeText + names(4000, `"n%d":0,`) + `"z":0}`
		}
		body := o.body
		if o.gzip {
			body = gzipped(t, body)
		}
		find := o.finder(t)
		codes := map[int]int{}
		send := func(budget int64) int {
			o.opts.MaxHeldBytes = budget
			h := New(find, o.opts)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, err := io.Copy(io.Discard, r.Body)
				if err == nil {
					w.WriteHeader(http.StatusCreated)
				}
			})).(*handler)
			r := httptest.NewRequest(http.MethodPost, "/apis/example.com/v1/namespaces/d/foos"+o.query, strings.NewReader(body))
			r.Header.Set("Content-Type", o.media)
			if o.gzip {
				r.Header.Set("Content-Encoding", "gzip")
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			held, idle := h.gate.Held()
			assert.Zero(t, held, "%s: it was not given back", name)
			assert.LessOrEqual(t, idle, budget)
			if w.Code == http.StatusServiceUnavailable {
				assert.Equal(t, "1", w.Header().Get("Retry-After"))
			}
			return w.Code
		}
		want := send(1 << 40)
		require.NotEqual(t, http.StatusServiceUnavailable, want, name)
		for budget := int64(1 << 10); codes[want] == 0; budget += budget / 8 {
			codes[send(budget)]++
		}
		assert.Len(t, codes, 2, "%s: %v", name, codes)
		assert.Greater(t, codes[http.StatusServiceUnavailable], 5, name)
	}
}

func gzipped(t *testing.T, text string) string {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write([]byte(text))
	require.NoError(t, w.Close())
	return z.String()
}
