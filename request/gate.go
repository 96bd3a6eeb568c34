package request

import "fmt"

const (
	// DefaultMaxBytes is the limit of a kube-apiserver for the body of a request.
	DefaultMaxBytes = 3 << 20
	// DefaultMaxHeldBytes has room for some 20 requests of the default size, their results and what decoding them takes.
	DefaultMaxHeldBytes = 256 << 20
)

// An Action is what becomes of bodies that are accepted.
type Action uint8

const (
	// Rewrite passes on the result: pruned, defaulted and in JSON. To prune alone, use programs
	// of schemas without defaults.
	Rewrite Action = iota
	// Report passes on the body as it was sent, decompressed where it was compressed. What is
	// found is reported, and what cannot be decoded is refused, as with Rewrite. YAML that yamlbridge.Server reads and
	// yamlbridge.Kubernetes refuses is refused whatever the options of the decoder: others may read something else in it.
	Report
)

// Patches says what becomes of the bodies of PATCH.
type Patches uint8

const (
	// CheckPatches decodes merge patches and apply patches by [Resource].Patch, and refuses
	// all others, JSON patches among them: what these make of an object cannot be known without
	// it.
	//
	// A merge patch is pruned, its nulls stay, and nothing is defaulted. What is found in it is what
	// the API server finds in the result, which an object that was pruned when it
	// was stored adds nothing to. Findings under Strict are a 422 as there, in which the text of
	// the patch, up to 1 KiB, stands for that of the result.
	//
	// An apply patch with an unknown field is refused whatever fieldValidation says, as in the API
	// server, but with 400 instead of its 500. Others are passed on as JSON, which is YAML.
	CheckPatches Patches = iota
	// PassPatches passes all patches on untouched, but for those that the [Finder] refuses without looking
	// into them. It is for handlers that prune the patched object, as an API server does.
	PassPatches
)

// Options say how a [Gate] judges. The zero value of each is its default.
type Options struct {
	Action  Action
	Patches Patches
	// MaxBytes limits one body, before and after decompression: DefaultMaxBytes. Results may be
	// larger by what defaults insert: see decoder.Limits.
	MaxBytes int64
	// MaxHeldBytes limits what all requests hold together, in bodies, results, decoders and answers:
	// DefaultMaxHeldBytes. Requests for which there is no room are refused with 503.
	MaxHeldBytes int64
	// Gzip accepts bodies that are compressed with gzip. They are passed on decompressed.
	Gzip bool
	// ProblemDetails answers with problem details (RFC 9457) instead of metav1.Status.
	// They have a member errors, which says where in the body something is wrong.
	ProblemDetails bool
}

// A Gate judges the bodies of requests, and has the budget that they share. It is for any number of goroutines.
type Gate struct {
	opts Options
	held *ledger
}

// NewGate returns a gate. It panics for an action or a treatment of patches that does not exist.
func NewGate(opts Options) *Gate {
	switch {
	case opts.Action > Report:
		panic(fmt.Sprintf("request: NewGate: there is no Action(%d)", opts.Action))
	case opts.Patches > PassPatches:
		panic(fmt.Sprintf("request: NewGate: there is no Patches(%d)", opts.Patches))
	}
	if opts.MaxBytes <= 0 {
		opts.MaxBytes = DefaultMaxBytes
	}
	if opts.MaxHeldBytes <= 0 {
		opts.MaxHeldBytes = DefaultMaxHeldBytes
	}
	return &Gate{opts: opts, held: newLedger(opts.MaxHeldBytes)}
}

// Options returns the options of the gate, with the limits that hold.
func (g *Gate) Options() Options { return g.opts }

// Held returns how many bytes requests hold of Options.MaxHeldBytes, and how many are kept besides for the
// requests to come. Both together are no more than the limit.
func (g *Gate) Held() (requests, idle int64) {
	g.held.mu.Lock()
	defer g.held.mu.Unlock()
	return g.held.held, g.held.idle
}
