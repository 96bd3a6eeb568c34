package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"unicode/utf8"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
)

// A Server is put under load: it reads the body of a POST, does its work, and answers 201.
type Server struct {
	Name, Less string // the part of the first server's work that it does not do, if any
	New        func(*Schema) http.Handler
	ForMemory  bool // it differs from the first in nothing else
}

// Servers returns the servers that are measured. Ratios are relative to the first.
func Servers() []Server {
	pruned := func(opts middleware.Options, next http.HandlerFunc) func(*Schema) http.Handler {
		return func(s *Schema) http.Handler {
			find := request.Always(&request.Resource{APIVersion: "apps.example.com/v1", Kind: "Workload", Program: s.Program})
			return middleware.New(find, opts)(next)
		}
	}
	return []Server{
		{"Espalier's middleware", "", pruned(middleware.Options{}, copies), false},
		{"the same, Stream", "holds no body", pruned(middleware.Options{Stream: true}, discards), false},
		{"the same, MaxHeldBytes 32 MiB", "", pruned(middleware.Options{Options: request.Options{MaxHeldBytes: 32 << 20}}, copies), true},
		{"Kubernetes, as its server", "to a map", pipeline(false), false},
		{"Kubernetes, as its server, to JSON", "", pipeline(true), false},
		{"copies the body", "decodes nothing", func(*Schema) http.Handler { return http.HandlerFunc(copies) }, false},
	}
}

var copied = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// copies is the handler after the middleware. Without the middleware it is the least that a server
// can do.
func copies(w http.ResponseWriter, r *http.Request) {
	b := copied.Get().(*bytes.Buffer)
	defer copied.Put(b)
	b.Reset()
	if _, err := b.ReadFrom(io.LimitReader(r.Body, request.DefaultMaxBytes+1)); err != nil || b.Len() > request.DefaultMaxBytes {
		http.Error(w, "no", http.StatusRequestEntityTooLarge)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

// discards reads a body without keeping it.
func discards(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

// pipeline does the work of the server: it reads the body up to its limit, decodes it strictly, and
// makes warnings of the findings.
func pipeline(toJSON bool) func(*Schema) http.Handler {
	return func(s *Schema) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			limited := &io.LimitedReader{R: r.Body, N: request.DefaultMaxBytes + 1}
			body, err := io.ReadAll(limited)
			if err != nil || limited.N <= 0 {
				http.Error(w, "no", http.StatusRequestEntityTooLarge)
				return
			}
			m, findings, err := decodeServer(body, s.Structural, true)
			if err == nil && toJSON {
				_, err = json.Marshal(m)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			warn(w.Header(), findings)
			w.WriteHeader(http.StatusCreated)
		})
	}
}

// warn adds warnings up to the server's budget. Once the server would cut them, it drops the rest.
func warn(header http.Header, findings []string) {
	runes := 0
	for _, text := range findings {
		if runes += utf8.RuneCountInString(text); runes > 4096 {
			return
		}
		if value, err := utilnet.NewWarningHeader(299, "-", text); err == nil {
			header.Add("Warning", value)
		}
	}
}

// serveHTTP serves until it is killed, on an address that it prints.
func serveHTTP(name string) error {
	for _, s := range Servers() {
		if s.Name != name {
			continue
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		fmt.Println(listener.Addr())
		return http.Serve(listener, s.New(MustSchema(resourceSchema(specSchema))))
	}
	if found, err := serveProcessor(name); found {
		return err
	}
	return fmt.Errorf("no server %q", name)
}
