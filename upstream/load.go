package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/espalier-dev/espalier/upstream/internal/turns"
)

// A load is what a server is given to do.
type load struct{ definitions, objects, lists int }

// fullLoad has 50 objects for each definition. All are listed five times.
var fullLoad = load{definitions: 200, objects: 10_000, lists: 5}

// clients is how many requests are under way at a time.
const clients = 8

// measureLoad has servers of all variants, each in a process of its own, do the same in turns, and prints what
// each took of processors and memory.
func measureLoad(ctx context.Context, out io.Writer, s *suite, variants []string, rounds int, l load) error {
	jobs, contenders, stop, err := s.contenders(ctx, variants)
	if err != nil {
		return err
	}
	defer stop()
	for round := range rounds {
		for i := range jobs {
			at := (i + round) % len(jobs)
			cpu, allocated, heap, err := jobs[at].load(ctx, l)
			if err != nil {
				return fmt.Errorf("%s: %w", variants[at], err)
			}
			contenders[at].Add("ms of CPU", cpu)
			contenders[at].Add("kB allocated", allocated)
			contenders[at].Add("kB of heap", heap)
		}
	}
	for _, unit := range []string{"ms of CPU", "kB allocated", "kB of heap"} {
		if err := turns.Table(out, unit, contenders...); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	return nil
}

// A server runs in another process.
type server struct {
	url, token string
	client     *http.Client
	in         io.Writer
	out        *bufio.Scanner
}

// used is what a server has used since it started.
type used struct{ CPU, Heap, Allocated float64 }

// load starts a server, and returns what each phase took: milliseconds of processors and kilobytes that were
// allocated; and the heap after it.
func (j *job) load(ctx context.Context, l load) (cpu, allocated, heap map[string]float64, err error) {
	s, stop, err := j.serve(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	defer stop()
	cpu, allocated, heap = make(map[string]float64), make(map[string]float64), make(map[string]float64)
	before, err := s.measure()
	if err != nil {
		return nil, nil, nil, err
	}
	phases := []struct {
		name string
		do   func(context.Context, load) error
	}{
		{"1 definitions", s.define}, {"2 creates", s.create}, {"3 lists", s.list}, {"4 updates, watched", s.watch},
	}
	for _, phase := range phases {
		if err := phase.do(ctx, l); err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", phase.name, err)
		}
		after, err := s.measure()
		if err != nil {
			return nil, nil, nil, err
		}
		cpu[phase.name] = (after.CPU - before.CPU) / 1e6
		allocated[phase.name] = (after.Allocated - before.Allocated) / 1e3
		heap[phase.name] = after.Heap / 1e3
		before = after
	}
	return cpu, allocated, heap, nil
}

// serve starts the server of the variant.
func (j *job) serve(ctx context.Context) (s *server, stop func(), err error) {
	binary, err := j.build(ctx, integration)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, binary, "-test.run=^TestEspalierServe$", "-test.timeout=0")
	cmd.Dir = filepath.Join(j.tree.dir, integration)
	cmd.Env = append(append(os.Environ(), "ESPALIER_SERVE=1"), j.environment()...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() {
		_ = in.Close()
		_ = cmd.Wait()
	}
	s = &server{in: in, out: bufio.NewScanner(out)}
	var where struct{ Host, Token string }
	if err := s.read(&where); err != nil {
		stop()
		return nil, nil, err
	}
	s.url, s.token = where.Host, where.Token
	if !strings.HasPrefix(s.url, "http") {
		s.url = "https://" + s.url
	}
	s.client = &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // it is ours, on loopback, and its certificate is its own
		MaxIdleConnsPerHost: clients, ForceAttemptHTTP2: true,
	}}
	return s, stop, nil
}

// measure asks the server what it has used.
func (s *server) measure() (u used, err error) {
	if _, err := io.WriteString(s.in, "\n"); err != nil {
		return u, err
	}
	return u, s.read(&u)
}

// read reads what the server says next.
func (s *server) read(into any) error {
	for s.out.Scan() {
		if line, ok := bytes.CutPrefix(s.out.Bytes(), []byte("ESPALIER ")); ok {
			return json.Unmarshal(line, into)
		}
	}
	return errors.Join(errors.New("the server has ended"), s.out.Err())
}

// do makes a request and reads the answer, which must be a success.
func (s *server) do(ctx context.Context, method, path, contentType, body string) error {
	response, err := s.open(ctx, method, path, contentType, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func (s *server) open(ctx context.Context, method, path, contentType, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", contentType)
	response, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		defer response.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(response.Body, 2000))
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, said)
	}
	return response, nil
}

// each calls f for some numbers, several at a time.
func each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(clients)
	for i := range n {
		all.Go(func() error { return f(ctx, i) })
	}
	return all.Wait()
}

func group(definition int) string { return fmt.Sprintf("load%d.example.com", definition) }
func resource(definition int) string {
	return "/apis/" + group(definition) + "/v1/namespaces/default/trellises"
}

// define creates the definitions, and waits until their objects can be listed.
func (s *server) define(ctx context.Context, l load) error {
	return each(ctx, l.definitions, func(ctx context.Context, i int) error {
		crd := fmt.Sprintf(loadDefinition, "trellises."+group(i), group(i))
		if err := s.do(ctx, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", crd); err != nil {
			return err
		}
		var err error
		for range 600 {
			if err = s.do(ctx, http.MethodGet, resource(i), "application/json", ""); err == nil {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(100 * time.Millisecond):
			}
		}
		return err
	})
}

// object returns an object of about a kilobyte, with a field that is unknown.
func object(name string, rows int) string {
	plant := `{"name":"%s-%d","water":{"litres":2,"at":"06:30"},"labels":{"app":"garden","tier":"back"},"unknown":1}`
	var plants []string
	for i := range 8 {
		plants = append(plants, fmt.Sprintf(plant, name, i))
	}
	return fmt.Sprintf(`{"apiVersion":"%%s/v1","kind":"Trellis","metadata":{"name":%q,"labels":{"a":"b"}},"spec":{"rows":%d,"plants":[%s]}}`,
		name, rows, strings.Join(plants, ","))
}

func (s *server) create(ctx context.Context, l load) error {
	return each(ctx, l.objects, func(ctx context.Context, i int) error {
		definition := i % l.definitions
		body := fmt.Sprintf(object(fmt.Sprintf("o%d", i), i%7), group(definition))
		return s.do(ctx, http.MethodPost, resource(definition), "application/json", body)
	})
}

func (s *server) list(ctx context.Context, l load) error {
	return each(ctx, l.definitions*l.lists, func(ctx context.Context, i int) error {
		return s.do(ctx, http.MethodGet, resource(i%l.definitions), "application/json", "")
	})
}

// watch watches all objects of each definition from the start, patches one in ten of them, and waits until
// that is seen.
func (s *server) watch(ctx context.Context, l load) error {
	patched := l.objects / 10
	all, ctx := errgroup.WithContext(ctx)
	for definition := range l.definitions {
		response, err := s.open(ctx, http.MethodGet, resource(definition)+"?watch=true&resourceVersion=0", "application/json", "")
		if err != nil {
			return err
		}
		wanted := 0
		for i := range patched {
			if i%l.definitions == definition {
				wanted++
			}
		}
		all.Go(func() error {
			defer response.Body.Close()
			lines := bufio.NewReader(response.Body)
			for wanted > 0 {
				line, err := lines.ReadBytes('\n')
				if err != nil {
					return err
				}
				if bytes.Contains(line, []byte(`"type":"MODIFIED"`)) {
					wanted--
				}
			}
			return nil
		})
	}
	err := each(ctx, patched, func(ctx context.Context, i int) error {
		return s.do(ctx, http.MethodPatch, fmt.Sprintf("%s/o%d", resource(i%l.definitions), i), "application/merge-patch+json", `{"spec":{"rows":9}}`)
	})
	if err != nil {
		return err
	}
	return all.Wait()
}

// loadDefinition is a definition, of a name and a group.
const loadDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":%q},"spec":{
"group":%q,"scope":"Namespaced","names":{"plural":"trellises","singular":"trellis","kind":"Trellis","listKind":"TrellisList"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
"rows":{"type":"integer","minimum":0,"maximum":100},"height":{"type":"integer","default":2},"material":{"type":"string","enum":["wood","steel"],"default":"wood"},
"plants":{"type":"array","maxItems":100,"items":{"type":"object","required":["name"],"properties":{
"name":{"type":"string","maxLength":63,"pattern":"^[a-z0-9-]+$"},
"water":{"type":"object","properties":{"litres":{"type":"integer"},"at":{"type":"string"},"every":{"type":"string","default":"24h"}}},
"labels":{"type":"object","additionalProperties":{"type":"string"}}}}}}}}}}}]}}`
