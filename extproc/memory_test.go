package extproc_test

import (
	"encoding/binary"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/espalier-dev/espalier/extproc"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

// A rawCall is a call of the processor without a network, so that nothing but the processor takes
// memory. Its messages are read from texts that all calls share, with a stop between them.
type rawCall struct {
	messages []string
	stop     func(i int) // before message i, unless it is nil
	next     int
	rest     string

	header      http.Header
	isImmediate bool
	answers     int
}

func (c *rawCall) Read(p []byte) (int, error) {
	if c.rest == "" {
		if c.stop != nil {
			c.stop(c.next)
		}
		if c.next == len(c.messages) {
			return 0, io.EOF
		}
		c.rest = c.messages[c.next]
		c.next++
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *rawCall) Close() error        { return nil }
func (c *rawCall) Header() http.Header { return c.header }
func (c *rawCall) WriteHeader(int)     {}
func (c *rawCall) Flush()              {}

// Write counts the messages, of which each comes with a prefix of five bytes.
func (c *rawCall) Write(p []byte) (int, error) {
	if len(p) > 5 && p[0] == 0 {
		c.answers++
		c.isImmediate = c.isImmediate || p[5] == 7<<3|2
	}
	return len(p), nil
}

// serve returns the status of the call.
func (c *rawCall) serve(p *extproc.Processor) string {
	c.header = http.Header{}
	r, _ := http.NewRequest(http.MethodPost, "/envoy.service.ext_proc.v3.ExternalProcessor/Process", c)
	r.ProtoMajor = 2
	r.Header.Set("Content-Type", "application/grpc")
	p.ServeHTTP(c, r)
	return c.header.Get(http.TrailerPrefix + "Grpc-Status")
}

// framed returns a message of gRPC.
func framed(t testing.TB, m *extprocv3.ProcessingRequest) string {
	b, err := proto.Marshal(m)
	require.NoError(t, err)
	return string(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(b))), b...))
}

// split divides a message at n bytes from its end.
func split(text string, n int) []string { return []string{text[:len(text)-n], text[len(text)-n:]} }

func liveBytes() int64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// TestMemory holds that 1 000 bodies of 1 MB at a time stay within the budget, in each mode, although
// each is one message in some of them. While the budget is full, what needs no room passes, and a
// response to what was carried out is never turned into a refusal.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures memory")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	const (
		clients   = 1000
		budget    = 64 << 20
		perStream = 32 << 10 // a goroutine, buffers, and the headers
		unasked   = 8 << 20  // of decoders and the test
	)
	object := plan(`,"zz":"` + strings.Repeat("x", 1<<20) + `"`)
	for _, mode := range []filterv3.ProcessingMode_BodySendMode{buffered, streamed, fullDuplex} {
		t.Run(mode.String(), func(t *testing.T) {
			p := extproc.New(request.ByPath(catalog(t)), extproc.Options{Options: request.Options{MaxHeldBytes: budget}})
			e := &envoy{mode: mode, responseMode: fullDuplex}
			headers := framed(t, e.first(post(object), false))
			body := framed(t, bodyMessage(object, true))
			response := framed(t, responseBody(strings.Repeat("y", 1<<20), true))

			// One request has been carried out, and its response is on its way.
			good := post(plan(""))
			carriedOut, goOn := make(chan bool), make(chan bool)
			early := &rawCall{
				messages: []string{framed(t, e.first(good, false)), framed(t, bodyMessage(good.body, true)), framed(t, responseMessage()), response},
				stop: func(i int) {
					if i == 2 {
						close(carriedOut)
						<-goOn
					}
				},
			}
			var all sync.WaitGroup
			var earlyStatus string
			all.Go(func() { earlyStatus = early.serve(p) })
			<-carriedOut

			before := liveBytes()
			var stopped, refused atomic.Int64
			rest := make(chan bool)
			calls := make([]rawCall, clients)
			for i := range calls {
				calls[i].messages = append([]string{headers}, split(body, 10)...)
				calls[i].stop = func(i int) {
					if i == 2 {
						stopped.Add(1)
						<-rest
					}
				}
				all.Go(func() {
					assert.Equal(t, "0", calls[i].serve(p))
					if calls[i].isImmediate {
						refused.Add(1)
					}
				})
			}
			for stopped.Load()+refused.Load() < clients {
				time.Sleep(time.Millisecond)
			}
			most := liveBytes() - before
			t.Logf("%d bodies hold %d MiB, %d were refused", stopped.Load(), most>>20, refused.Load())
			assert.Less(t, most, int64(budget+clients*perStream+unasked))
			assert.Positive(t, refused.Load())
			assert.Greater(t, stopped.Load(), int64(20), "a budget that nobody can use")

			// There is hardly room. What needs none passes.
			held, _ := p.Held()
			assert.Greater(t, held, int64(budget/2))
			get := &rawCall{messages: []string{framed(t, e.first(call{method: "GET", target: plans}, true)), framed(t, responseMessage()), response}}
			assert.Equal(t, "0", get.serve(p))
			assert.False(t, get.isImmediate)
			close(goOn)
			close(rest)
			all.Wait()
			assert.Equal(t, "0", earlyStatus)
			assert.False(t, early.isImmediate)
			assert.Greater(t, early.answers, 60, "the response has passed in pieces")
			held, _ = p.Held()
			assert.Zero(t, held)
		})
	}
}

// TestResponsesHoldNothing holds that nothing is kept of a body once it was passed on, however long
// the response takes.
func TestResponsesHoldNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures memory")
	}
	const clients, most = 50, 10 << 20
	object := strings.Replace(plan(""), `"a"`, `"`+strings.Repeat("x", 1<<20)+`"`, 1)
	p := extproc.New(request.ByPath(catalog(t)), extproc.Options{Stream: true})
	e := &envoy{mode: streamed}
	headers, body := framed(t, e.first(post(object), false)), framed(t, bodyMessage(object, true))
	before := liveBytes()
	rest := make(chan bool)
	var all sync.WaitGroup
	calls := make([]rawCall, clients)
	for i := range calls { // one after the other, because the budget counts what bodies hold
		passedOn := make(chan bool)
		calls[i].messages = []string{headers, body, framed(t, responseMessage())}
		calls[i].stop = func(i int) {
			if i == 2 {
				close(passedOn)
				<-rest
			}
		}
		all.Go(func() {
			assert.Equal(t, "0", calls[i].serve(p))
			assert.False(t, calls[i].isImmediate)
		})
		<-passedOn
	}
	held, idle := p.Held()
	assert.Zero(t, held)
	assert.Less(t, liveBytes()-before, idle+most)
	close(rest)
	all.Wait()
}

// TestSlowClients holds that 1 000 clients that stop in the middle of their bodies disturb nobody.
func TestSlowClients(t *testing.T) {
	clients := 1000
	if testing.Short() {
		clients = 100
	}
	p := extproc.New(request.ByPath(catalog(t)), extproc.Options{})
	e := start(t, p).as(streamed, 0)
	c := post(plan(`,"a":1`))
	streams := make([]extprocv3.ExternalProcessor_ProcessClient, clients-1)
	for i := range streams {
		stream, err := e.client.Process(t.Context())
		require.NoError(t, err)
		require.NoError(t, stream.Send(e.first(c, false)))
		require.NoError(t, stream.Send(bodyMessage(c.body[:50], false)))
		streams[i] = stream
	}
	for _, stream := range streams { // all of them have arrived
		for range 2 {
			_, err := stream.Recv()
			require.NoError(t, err)
		}
	}
	got, err := e.send(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, 201, got.code)
	for _, stream := range streams {
		require.NoError(t, stream.Send(bodyMessage(c.body[50:], true)))
		answer, err := stream.Recv()
		require.NoError(t, err)
		assert.Contains(t, string(answer.GetRequestBody().GetResponse().GetBodyMutation().GetBody()), `"monthly":12`)
		require.NoError(t, stream.CloseSend())
	}
}

// TestReload holds that nothing is dropped while definitions are replaced, and that a server that is
// shut down ends what it has begun.
func TestReload(t *testing.T) {
	c := catalog(t)
	p := extproc.New(request.ByPath(c), extproc.Options{})
	e := start(t, p)
	text, err := os.ReadFile("../testdata/quickstart/crd.yaml")
	require.NoError(t, err)
	var all sync.WaitGroup
	var isOver atomic.Bool
	var sent atomic.Int64
	for _, mode := range []filterv3.ProcessingMode_BodySendMode{buffered, streamed, fullDuplex} {
		all.Go(func() {
			for !isOver.Load() {
				got, err := e.as(mode, 100).send(t.Context(), post(plan(`,"a":1`)))
				if !assert.NoError(t, err) || !assert.Equal(t, 201, got.code) || !assert.Contains(t, got.body, `"monthly":1`) {
					return
				}
				sent.Add(1)
			}
		})
	}
	for i := range 50 {
		changed := text
		if i%2 == 0 {
			changed = []byte(strings.ReplaceAll(string(text), "default: 12", "default: 13"))
		}
		crds, err := schema.ParseCRD(changed)
		require.NoError(t, err)
		other := schema.NewCatalog()
		require.NoError(t, other.Add(crds...))
		c.ReplaceAll(other)
		for start := sent.Load(); sent.Load() < start+5 && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
	isOver.Store(true)
	all.Wait()

	stream, err := e.client.Process(t.Context())
	require.NoError(t, err)
	good := post(plan(""))
	require.NoError(t, stream.Send(e.first(good, false)))
	_, err = stream.Recv()
	require.NoError(t, err)
	p.Drain()
	ended := make(chan error, 1)
	go func() { ended <- e.server.Shutdown(t.Context()) }()
	time.Sleep(10 * time.Millisecond)
	require.NoError(t, stream.Send(bodyMessage(good.body, true)))
	answer, err := stream.Recv()
	require.NoError(t, err)
	assert.NotNil(t, answer.GetRequestBody())
	require.NoError(t, stream.CloseSend())
	_, err = stream.Recv()
	require.Equal(t, io.EOF, err)
	require.NoError(t, <-ended)
}
