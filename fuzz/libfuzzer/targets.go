package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"runtime"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/fuzz"
	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
)

const (
	maxSchema   = 8192
	maxDocument = 8192
)

func main() {} // libFuzzer has its own

// A target checks inputs, and makes one of another.
type target struct {
	check func(t testing.TB, in input)
	// mutate changes what is read with the schema. other is out of the same schema.
	mutate func(text, other []byte, s *schema.Structural, r *rand.Rand) []byte
}

var targets = map[string]target{
	"json":     {checkJSON, mutateJSON},
	"streams":  {checkStreams, mutateJSON},
	"yaml":     {checkYAML, mutateYAML},
	"schema":   {checkSchema, mutateJSON},
	"requests": {checkRequest, mutateRequest},
}

// An input is what libFuzzer keeps.
type input struct {
	how    byte // semantics, reading, kind of root
	schema []byte
	text   []byte
}

func parseInput(data []byte) (in input, ok bool) {
	if len(data) == 0 {
		return in, false
	}
	in.how = data[0]
	in.schema, in.text, ok = bytes.Cut(data[1:], []byte{0})
	return in, ok && len(in.schema) <= maxSchema && len(in.text) <= maxDocument
}

func (in input) append(b []byte) []byte {
	b = append(append(b, in.how), in.schema...)
	return append(append(b, 0), in.text...)
}

// seed is made of the input, so that the same input is always checked in the same way.
func (in input) seed() uint64 {
	h := fnv.New64a()
	_, _ = h.Write(in.text)
	return h.Sum64()
}

func (in input) structural() *schema.Structural {
	if !jsontext.Value(in.schema).IsValid() {
		return nil
	}
	s, err := schema.Parse(in.schema)
	if err != nil {
		return nil
	}
	return s
}

// subject returns what the laws are asserted for, or nil for what is no schema.
func (in input) subject() *laws.Subject {
	s := in.structural()
	if s == nil {
		return nil
	}
	subject, err := laws.New(s, schema.Semantics(in.how&1), laws.Reading(in.how/8%3), in.how&2 == 0, schema.PreserveUnknownFields(in.how&4 != 0))
	if err != nil {
		return nil
	}
	return subject
}

func checkJSON(t testing.TB, in input) {
	if subject := in.subject(); subject != nil {
		subject.Check(t, in.seed(), in.text)
	}
}

func checkStreams(t testing.TB, in input) {
	if subject := in.subject(); subject != nil {
		at := int(in.seed() % uint64(len(in.text)+1))
		subject.CheckValues(t, in.text)
		subject.CheckStreams(t, in.seed(), in.text)
		subject.CheckSequence(t, in.text, at)
	}
}

func checkYAML(t testing.TB, in input) {
	if subject := in.subject(); subject != nil {
		at := int(in.seed() % uint64(len(in.text)+1))
		subject.CheckYAML(t, in.text, at)
		subject.CheckYAMLSequence(t, in.text, at)
	}
}

// checkSchema: what is accepted as a schema is compiled or refused, under both semantics, and can be parsed
// again when it was written.
func checkSchema(t testing.TB, in input) {
	s, err := schema.Parse(in.schema)
	if err != nil {
		return
	}
	for semantics := range schema.Semantics(2) {
		if p, err := schema.Compile(s, semantics); (p == nil) == (err == nil) {
			t.Fatalf("schema.Compile: %v, %v", p, err)
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatalf("json.Marshal: %v", err)
	}
	if _, err := schema.Parse(text); err != nil {
		t.Fatalf("%s cannot be parsed again, as %s: %v", in.schema, text, err)
	}
}

const vinesPath = "/apis/example.com/v1/namespaces/shop/vines"

// checkRequest sends a request through the middleware. A strict decoder finds nothing in a body that reaches
// the server, nor in the result, which is its own result.
func checkRequest(t testing.TB, in input) {
	s := in.structural()
	if s == nil {
		return
	}
	p, err := schema.Compile(s)
	if err != nil {
		return
	}
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(in.text)))
	if err != nil {
		return
	}
	resource := &request.Resource{APIVersion: "example.com/v1", Kind: "Vine", Program: p}
	options := middleware.Options{Stream: in.how&1 != 0}
	arrived, w := false, httptest.NewRecorder()
	handler := middleware.New(request.Always(resource), options)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			return
		}
		arrived = true
		out, err := decoder.New(p, decoder.Strict).AppendJSON(nil, body)
		if err == nil { // a default may have nulls, which are dropped when it is read
			body = out
			out, err = decoder.New(p, decoder.Strict).AppendJSON(nil, body)
		}
		if err != nil || !bytes.Equal(out, body) {
			t.Errorf("the server gets %q, of which strict decoding makes %q, %v", body, out, err)
		}
	}))
	handler.ServeHTTP(w, r)
	if arrived && !options.Stream && w.Code >= 400 {
		t.Errorf("the server got a request that is refused: %d, %s", w.Code, w.Body)
	}
}

// mutateInput changes the schema or what is read with it.
func (g target) mutateInput(in input, r *rand.Rand) input {
	s := in.structural()
	switch {
	case s == nil || r.IntN(16) == 0:
		s, in.schema = fuzz.NewSchema(r.Uint64())
		in.text = fuzz.NewDocument(r.Uint64(), s)
	case r.IntN(8) == 0:
		in.schema = fuzz.Mutate(in.schema, r)
	case r.IntN(16) == 0:
		in.how = byte(r.Uint32())
	}
	in.text = g.mutate(in.text, fuzz.NewDocument(r.Uint64(), s), s, r)
	return in
}

// mutateJSON takes another object, one that package sample makes, or one with mistakes.
func mutateJSON(text, other []byte, s *schema.Structural, r *rand.Rand) []byte {
	switch r.IntN(8) {
	case 0:
		return other
	case 1:
		return sample.New(s, "example.com/v1", "Vine").Mutated(sample.Bytes(r.Uint64()))
	case 2:
		made, err := sample.New(s, "example.com/v1", "Vine").Valid(sample.Bytes(r.Uint64()))
		if err == nil {
			return made
		}
	}
	return fuzz.Mutate(text, r)
}

func mutateYAML(text, other []byte, s *schema.Structural, r *rand.Rand) []byte {
	if r.IntN(4) == 0 {
		made, err := sample.YAML(mutateJSON(other, other, s, r))
		if err == nil {
			return made
		}
	}
	return fuzz.MutateYAML(text, other, r)
}

// mutateRequest changes the body of a request, its headers, its first line, or how its body is cut.
func mutateRequest(text, other []byte, s *schema.Structural, r *rand.Rand) []byte {
	head, body, _ := bytes.Cut(text, []byte("\r\n\r\n"))
	if len(head) == 0 || r.IntN(8) == 0 {
		head, body = []byte("POST "+vinesPath+"?fieldValidation=Warn HTTP/1.1\r\nHost: x\r\nContent-Type: application/json"), other
	}
	lines := bytes.Split(head, []byte("\r\n"))
	if i := slices.IndexFunc(lines, func(l []byte) bool { return bytes.HasPrefix(l, []byte("Transfer-Encoding: chunked")) }); i >= 0 {
		body, _ = io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(body)))
		lines = slices.Delete(lines, i, i+1)
	}
	switch r.IntN(4) {
	case 0:
		line := headers[r.IntN(len(headers))]
		lines = slices.Insert(lines, 1+r.IntN(len(lines)), []byte(line))
	case 1:
		if i := r.IntN(len(lines)); i > 0 {
			lines = slices.Delete(lines, i, i+1)
		}
	case 2:
		lines[0] = fmt.Appendf(nil, "%s %s HTTP/1.1", methods[r.IntN(len(methods))], paths[r.IntN(len(paths))])
	default:
		body = mutateJSON(body, other, s, r)
	}
	lines = slices.DeleteFunc(lines, func(l []byte) bool { return bytes.HasPrefix(l, []byte("Content-Length:")) })
	switch r.IntN(4) {
	case 0:
		lines = append(lines, []byte("Transfer-Encoding: chunked"))
		at := r.IntN(len(body) + 1)
		chunked := fmt.Appendf(nil, "%x\r\n%s\r\n", len(body[at:]), body[at:])
		if at > 0 {
			chunked = append(fmt.Appendf(nil, "%x\r\n%s\r\n", at, body[:at]), chunked...)
		}
		body = append(chunked, "0\r\n\r\n"...)
	default:
		lines = append(lines, fmt.Appendf(nil, "Content-Length: %d", len(body)))
	}
	return append(append(bytes.Join(lines, []byte("\r\n")), "\r\n\r\n"...), body...)
}

var (
	methods = []string{"POST", "PUT", "PATCH", "post", "GET", "DELETE", "MERGE", "POST"}
	paths   = []string{
		vinesPath, vinesPath + "?fieldValidation=Strict", vinesPath + "?fieldValidation=Ignore", vinesPath + "?dryRun=All", vinesPath + "/a/status",
		"/apis/example.com/v1/namespaces/shop/../vines", "/APIS/example.com/v1/vines", vinesPath + "%2f", "//x" + vinesPath, "*",
	}
	headers = []string{
		"Content-Type: application/yaml", "Content-Type: application/json; charset=utf-16", "Content-Type: application/merge-patch+json",
		"Content-Encoding: gzip", "Content-Encoding: identity", "Content-Length: 1", "Transfer-Encoding: gzip, chunked", "Connection: Content-Type",
		"Trailer: X", "X-HTTP-Method-Override: GET", "Expect: 100-continue", "Content-Range: bytes 0-1/2", "Upgrade: h2c", "Accept: application/yaml",
	}
)

// A failure is a testing.TB that ends the process, which libFuzzer takes for a finding.
type failure struct {
	testing.TB
	context string
}

func (f *failure) Helper()                      {}
func (f *failure) Log(...any)                   {}
func (f *failure) Logf(string, ...any)          {}
func (f *failure) Cleanup(func())               {}
func (f *failure) Failed() bool                 { return false }
func (f *failure) Name() string                 { return f.context }
func (f *failure) Error(args ...any)            { panic(fmt.Sprint(args...)) }
func (f *failure) Errorf(s string, args ...any) { panic(fmt.Sprintf(s, args...)) }
func (f *failure) Fatal(args ...any)            { panic(fmt.Sprint(args...)) }
func (f *failure) Fatalf(s string, args ...any) { panic(fmt.Sprintf(s, args...)) }
func (f *failure) Fail()                        { panic("failed") }
func (f *failure) FailNow()                     { panic("failed") }
func (f *failure) Skip(...any)                  { runtime.Goexit() }
