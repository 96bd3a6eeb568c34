package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/service/ext_proc/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/espalier-dev/espalier/extproc"
	"github.com/espalier-dev/espalier/request"
)

// Processors are external processors for Envoy, as functions that serve them. Those that are not ours
// are made as most are: of grpc-go and the generated code.
var processors = []struct {
	name  string
	serve func(net.Listener) error
}{
	{"Espalier's ext_proc", func(l net.Listener) error { return serveEspalier(l, extproc.Options{}) }},
	{"the same, MaxHeldBytes 64 MiB", func(l net.Listener) error {
		return serveEspalier(l, extproc.Options{Options: request.Options{MaxHeldBytes: 64 << 20}})
	}},
	{"ext_proc: Kubernetes, as its server, to JSON", func(l net.Listener) error { return serveGenerated(l, pipelineBody()) }},
	{"ext_proc: echoes the body", func(l net.Listener) error {
		return serveGenerated(l, func(body []byte) ([]byte, error) { return body, nil })
	}},
}

func serveEspalier(l net.Listener, opts extproc.Options) error {
	s := MustSchema(resourceSchema(specSchema))
	find := request.Always(&request.Resource{APIVersion: "apps.example.com/v1", Kind: "Workload", Program: s.Program})
	return extproc.NewServer(extproc.New(find, opts)).Serve(l)
}

// pipelineBody does the work of the server with a body.
func pipelineBody() func([]byte) ([]byte, error) {
	s := MustSchema(resourceSchema(specSchema))
	return func(body []byte) ([]byte, error) {
		m, _, err := decodeServer(body, s.Structural, true)
		if err != nil {
			return nil, err
		}
		return json.Marshal(m)
	}
}

// A generated processor replaces bodies in mode BUFFERED.
type generated struct {
	extprocv3.UnimplementedExternalProcessorServer
	replace func([]byte) ([]byte, error)
}

func serveGenerated(l net.Listener, replace func([]byte) ([]byte, error)) error {
	server := grpc.NewServer(grpc.MaxConcurrentStreams(1000))
	extprocv3.RegisterExternalProcessorServer(server, generated{replace: replace})
	return server.Serve(l)
}

// Process serves a stream.
func (g generated) Process(stream extprocv3.ExternalProcessor_ProcessServer) error {
	for {
		in, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		out := new(extprocv3.ProcessingResponse)
		switch r := in.GetRequest().(type) {
		case *extprocv3.ProcessingRequest_RequestHeaders:
			out.Response = &extprocv3.ProcessingResponse_RequestHeaders{RequestHeaders: new(extprocv3.HeadersResponse)}
		case *extprocv3.ProcessingRequest_ResponseHeaders:
			out.Response = &extprocv3.ProcessingResponse_ResponseHeaders{ResponseHeaders: new(extprocv3.HeadersResponse)}
		case *extprocv3.ProcessingRequest_RequestBody:
			body, err := g.replace(r.RequestBody.GetBody())
			if err != nil {
				out.Response = &extprocv3.ProcessingResponse_ImmediateResponse{ImmediateResponse: &extprocv3.ImmediateResponse{
					Status: &typev3.HttpStatus{Code: typev3.StatusCode_BadRequest}}}
				break
			}
			out.Response = &extprocv3.ProcessingResponse_RequestBody{RequestBody: &extprocv3.BodyResponse{Response: &extprocv3.CommonResponse{
				BodyMutation: &extprocv3.BodyMutation{Mutation: &extprocv3.BodyMutation_Body{Body: body}}}}}
		}
		if err := stream.Send(out); err != nil {
			return err
		}
	}
}

// serveProcessor serves until it is killed, on an address that it prints, if there is a processor of
// the name.
func serveProcessor(name string) (found bool, err error) {
	for _, p := range processors {
		if p.name != name {
			continue
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return true, err
		}
		fmt.Println(listener.Addr())
		return true, p.serve(listener)
	}
	return false, nil
}

// An envoyLoad has the messages that Envoy sends of one request in mode BUFFERED.
type envoyLoad struct{ headers, body, response []byte }

func newEnvoyLoad(body []byte) envoyLoad {
	must := func(m *extprocv3.ProcessingRequest) []byte {
		text, err := proto.Marshal(m)
		if err != nil {
			panic(err)
		}
		return text
	}
	var headers []*corev3.HeaderValue
	for _, h := range [][2]string{
		{":method", "POST"}, {":path", "/apis/apps.example.com/v1/namespaces/default/workloads"}, {":authority", "x"}, {":scheme", "http"},
		{"content-type", "application/json"}, {"content-length", fmt.Sprint(len(body))}, {"user-agent", "load"}, {"x-request-id", "x"},
	} {
		headers = append(headers, &corev3.HeaderValue{Key: h[0], RawValue: []byte(h[1])})
	}
	status := &corev3.HeaderMap{Headers: []*corev3.HeaderValue{{Key: ":status", RawValue: []byte("201")}}}
	return envoyLoad{
		must(&extprocv3.ProcessingRequest{
			Request:        &extprocv3.ProcessingRequest_RequestHeaders{RequestHeaders: &extprocv3.HttpHeaders{Headers: &corev3.HeaderMap{Headers: headers}}},
			ProtocolConfig: &extprocv3.ProtocolConfiguration{RequestBodyMode: filterv3.ProcessingMode_BUFFERED},
		}),
		must(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_RequestBody{RequestBody: &extprocv3.HttpBody{Body: body, EndOfStream: true}}}),
		must(&extprocv3.ProcessingRequest{Request: &extprocv3.ProcessingRequest_ResponseHeaders{ResponseHeaders: &extprocv3.HttpHeaders{Headers: status, EndOfStream: true}}}),
	}
}

// A rawCodec sends messages that are encoded already, and looks at the start of answers only, so that
// clients cost little compared to servers.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}
func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	var first [1]byte
	r := data.Reader()
	defer r.Close()
	_, err := r.Read(first[:])
	*v.(*byte) = first[0]
	return err
}

var _ encoding.CodecV2 = rawCodec{}

// errRefused is for requests that were answered by the processor.
var errRefused = fmt.Errorf("the request was refused")

// send sends one request. It calls between before the body.
func (l envoyLoad) send(conn *grpc.ClientConn, between func()) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/envoy.service.ext_proc.v3.ExternalProcessor/Process",
		grpc.ForceCodecV2(rawCodec{}), grpc.MaxCallRecvMsgSize(16<<20))
	if err != nil {
		return err
	}
	for i, message := range [][]byte{l.headers, l.body, l.response} {
		if i == 1 && between != nil {
			between()
		}
		if err := stream.SendMsg(message); err != nil && err != io.EOF { // the answer says why
			return err
		}
		var first byte
		if err := stream.RecvMsg(&first); err != nil {
			return err
		}
		if first>>3 == 7 { // immediate_response
			return errRefused
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	var first byte
	if err := stream.RecvMsg(&first); err != io.EOF {
		return fmt.Errorf("the stream has not ended well: %w", err)
	}
	return nil
}

// load sends the request again and again for a time, on one connection, as a worker of Envoy does.
func (l envoyLoad) load(conn *grpc.ClientConn, d time.Duration) (latencies []float64, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	end := time.Now().Add(d)
	for range httpClients {
		all.Go(func() {
			for time.Now().Before(end) {
				start := time.Now()
				failed := l.send(conn, nil)
				mu.Lock()
				latencies = append(latencies, time.Since(start).Seconds())
				if failed != nil {
					err = failed
				}
				mu.Unlock()
				if failed != nil {
					return
				}
			}
		})
	}
	all.Wait()
	return latencies, err
}

func (p *process) dial() (*grpc.ClientConn, error) {
	return grpc.NewClient(p.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
}

// loadProcessors puts all processors under load, in turns, and prints the tables.
func loadProcessors(rounds int) error {
	var machine bytes.Buffer
	writeMachine(&machine)
	tables := os.Stdout
	fmt.Fprintf(tables, "%s- Processors are processes of their own; the clients share the processors of the machine with them. "+
		"%d streams at a time on one connection, each with headers, a body in mode BUFFERED, and headers of a response; in turns of %v, for %d rounds.\n\n",
		&machine, httpClients, httpSlice, rounds)
	for _, size := range []struct {
		name  string
		items int
	}{{"2 kB", 2}, {"20 kB", 20}, {"1 MB", 1000}} {
		if err := loadProcessorsWith(tables, size.name, itemsDocument(uint64(size.items), size.items, 5), rounds); err != nil {
			return err
		}
	}
	return floodProcessors(tables)
}

func loadProcessorsWith(w io.Writer, name string, body []byte, rounds int) error {
	l := newEnvoyLoad(body)
	running := make([]*process, 0, len(processors))
	conns := make([]*grpc.ClientConn, 0, len(processors))
	defer func() {
		for i, p := range running {
			if i < len(conns) {
				conns[i].Close()
			}
			p.stop()
		}
	}()
	for _, s := range processors {
		if strings.Contains(s.name, "MaxHeldBytes") {
			continue
		}
		p, err := startServer(Server{Name: s.name})
		if err != nil {
			return err
		}
		running = append(running, p)
		conn, err := p.dial()
		if err != nil {
			return err
		}
		conns = append(conns, conn)
		if _, err := l.load(conn, httpSlice); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		p.forget()
	}
	loads := make([]load, len(running))
	for range rounds {
		for i, p := range running {
			start := time.Now()
			latencies, err := l.load(conns[i], httpSlice)
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			loads[i].perSecond = append(loads[i].perSecond, float64(len(latencies))/time.Since(start).Seconds())
			loads[i].latencies = append(loads[i].latencies, latencies...)
		}
	}
	fmt.Fprintf(w, "## ext_proc, bodies of %s (%d bytes), 5 %% unknown\n\n| processor | requests/s | Espalier as fast | median | p99 | peak RSS |\n|---|--:|--:|--:|--:|--:|\n", name, len(body))
	for i, p := range running {
		var ratios []float64
		for round, n := range loads[i].perSecond {
			ratios = append(ratios, loads[0].perSecond[round]/n)
		}
		slices.Sort(loads[i].latencies)
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", p.Name, short(FigureOf(loads[i].perSecond).Median), FigureOf(ratios),
			milliseconds(quantile(loads[i].latencies, 0.5)), milliseconds(quantile(loads[i].latencies, 0.99)), megabytes(p.peak()))
	}
	fmt.Fprintln(w)
	return nil
}

// floodProcessors measures memory with 1 000 bodies of 1 MB that are sent at the same moment. The
// processor that decodes to maps is left out: it would take many times as much as the one that echoes.
func floodProcessors(w io.Writer) error {
	const streams, connections = 1000, 10
	l := newEnvoyLoad(itemsDocument(1000, 1000, 5))
	fmt.Fprintf(w, "## ext_proc, memory\n\nPeak RSS with %d bodies of %d bytes at the same moment, on %d connections.\n\n| processor | before | peak | passed | refused with 503 |\n|---|--:|--:|--:|--:|\n",
		streams, len(l.body), connections)
	for _, s := range processors {
		if strings.Contains(s.name, "Kubernetes") {
			continue
		}
		p, err := startServer(Server{Name: s.name})
		if err != nil {
			return err
		}
		before := p.peak()
		passed, refused, err := l.flood(p, streams, connections)
		peak := p.peak()
		p.stop()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %d | %d |\n", s.name, megabytes(before), megabytes(peak), passed, refused)
	}
	fmt.Fprintln(w)
	return nil
}

func (l envoyLoad) flood(p *process, streams, connections int) (passed, refused int, err error) {
	var conns []*grpc.ClientConn
	for range connections {
		conn, err := p.dial()
		if err != nil {
			return 0, 0, err
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	var ready, all sync.WaitGroup
	var mu sync.Mutex
	ready.Add(streams)
	for i := range streams {
		all.Go(func() {
			isReady := false
			failed := l.send(conns[i%connections], func() {
				isReady = true
				ready.Done()
				ready.Wait()
			})
			if !isReady {
				ready.Done()
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case failed == nil:
				passed++
			case failed == errRefused:
				refused++
			default:
				err = failed
			}
		})
	}
	all.Wait()
	return passed, refused, err
}
