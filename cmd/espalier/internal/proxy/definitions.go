package proxy

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/reload"
	"github.com/espalier-dev/espalier/schema/validation"
)

// rulesTimeout is how long the rules in CEL of an object may take. Strangers choose the object, and a
// rule may take time in proportion to the square of a list, until it has cost too much.
const rulesTimeout = 5 * time.Second

// definitions reads the definitions, from now on whenever they change. Each --crd must have some:
// without them, requests would pass or be refused by mistake.
func (c *Config) definitions() (*reload.Files, error) {
	var compile []schema.Option
	if c.values {
		compile = append(compile, validation.Values(cel.Rules(cel.Timeout(rulesTimeout))))
	}
	return reload.Open(reload.Source{
		List: func() []string {
			names, _ := input.Expand(c.crds, true) // Read returns the errors
			return names
		},
		Read: func() (*schema.Catalog, error) {
			catalog := schema.NewCatalog(compile...)
			for _, name := range c.crds {
				if err := schemas.AddDefinitions(catalog, name); err != nil {
					return nil, err
				}
			}
			return catalog, nil
		},
	})
}

// finder returns the finder of the definitions in a catalog.
func (c *Config) finder(catalog *schema.Catalog) request.Finder {
	var opts []decoder.Option
	if c.values {
		opts = append(opts, decoder.ValidateCreate)
	}
	if c.kubernetes {
		opts = append(opts, decoder.ServerRequests)
	}
	if c.find.Value == "kind" {
		return request.ByKind(catalog, opts...)
	}
	unknown := map[string]request.Unknown{"none": request.PassNothing, "groups": request.PassUnknownGroups, "all": request.PassUnknown}
	return request.Paths{Catalog: catalog, Unknown: unknown[c.passUnknown.Value], Decoder: opts}.Finder()
}

// follow keeps the definitions as their files are, until the function that it returns is called: at
// intervals, unless the interval is 0, and at a SIGHUP.
func (c *Config) follow(files *reload.Files, budget *request.Budget, logger *log.Logger) (stop func()) {
	report := func(err error) {
		if err != nil {
			logger.Printf("the new definitions cannot be used, and the old ones stay: %v", err)
			return
		}
		budget.DropIdle() // of the old definitions
		logger.Printf("definitions were read again: %d versions of kinds", served(files.Catalog()))
	}
	ctx, cancel := context.WithCancel(context.Background())
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangup:
				report(files.Load())
			}
		}
	})
	if c.reloadInterval > 0 {
		all.Go(func() { files.Follow(ctx, c.reloadInterval, report) })
	}
	return func() {
		signal.Stop(hangup)
		cancel()
		all.Wait()
	}
}

// served returns how many served versions a catalog has.
func served(catalog *schema.Catalog) (n int) {
	for e := range catalog.All() {
		if e.Version.Served {
			n++
		}
	}
	return n
}

// A readiness is the answer of /readyz.
type readiness struct {
	Ready       bool        `json:"ready"`
	Reason      string      `json:"reason,omitempty"` // why it is not
	Loaded      time.Time   `json:"loaded"`
	Loads       uint64      `json:"loads"`
	Failures    uint64      `json:"failures"`
	Failed      *time.Time  `json:"failed,omitempty"`
	Error       string      `json:"error,omitempty"` // of the last attempt
	Definitions int         `json:"definitions"`
	Kinds       []readyKind `json:"kinds"`
}

// A readyKind is a kind of a group with the versions that are served.
type readyKind struct {
	Group    string   `json:"group"`
	Kind     string   `json:"kind"`
	Versions []string `json:"versions"`
}

// readyz says whether the proxy takes requests, and by which definitions it judges them. Files that
// are broken do not make it unready: the definitions from before are in use.
func readyz(files *reload.Files, isStopping *atomic.Bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		state := files.State()
		answer := readiness{
			Ready: !isStopping.Load(), Loaded: state.Loaded, Loads: state.Loads, Failures: state.Failures, Kinds: []readyKind{},
		}
		if state.Err != nil {
			answer.Error, answer.Failed = state.Err.Error(), &state.Failed
		}
		definitions := map[*schema.CRD]bool{}
		for e := range files.Catalog().All() { // sorted by group and kind
			definitions[e.CRD] = true
			if !e.Version.Served {
				continue
			}
			if n := len(answer.Kinds); n == 0 || answer.Kinds[n-1].Group != e.CRD.Group || answer.Kinds[n-1].Kind != e.Kind {
				answer.Kinds = append(answer.Kinds, readyKind{Group: e.CRD.Group, Kind: e.Kind})
			}
			last := &answer.Kinds[len(answer.Kinds)-1]
			last.Versions = append(last.Versions, e.Version.Name)
		}
		answer.Definitions = len(definitions)
		code := http.StatusOK
		if !answer.Ready {
			code, answer.Reason = http.StatusServiceUnavailable, "shutting down"
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(answer)
	}
}
