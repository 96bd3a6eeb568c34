package request

import "fmt"

const (
	// DefaultMaxBytes is the limit of a kube-apiserver for the body of a
	// request: 3 MiB.
	DefaultMaxBytes = 3 << 20
	// DefaultMaxHeldBytes has room for some 20 requests of the default
	// size, with their results and the memory of decoding them: 256 MiB.
	DefaultMaxHeldBytes = 256 << 20
)

// An Action says what is passed on in place of an accepted body.
type Action uint8

const (
	// Rewrite passes on the result: pruned, defaulted and in JSON. To prune
	// without inserting defaults, use programs of schemas without defaults.
	Rewrite Action = iota
	// Report passes on the body as it was sent, decompressed if it was
	// compressed. Findings are reported, and bodies that cannot be decoded
	// are refused, as with Rewrite. An object with invalid values is not
	// refused: each of them is a warning, whatever fieldValidation says.
	// YAML that yamlbridge.Server reads and yamlbridge.Kubernetes refuses is
	// refused, whatever the options of the decoder are: others may read
	// something else in it.
	Report
)

// Patches say what becomes of the bodies of PATCH.
type Patches uint8

const (
	// CheckPatches decodes merge patches and apply patches by
	// [Resource].Patch, and refuses all others, including JSON patches:
	// their effect is not known without the object that they apply to.
	//
	// A merge patch is pruned, its nulls stay, and nothing is defaulted.
	// The findings in it are those that the API server has for the result,
	// because an object that was pruned when it was stored adds none.
	// Findings under Strict are a 422, as in the server; the text of the
	// patch, up to 1 KiB, replaces that of the result.
	//
	// An apply patch with an unknown field is refused whatever
	// fieldValidation says, as in the API server, but with 400 instead of
	// its 500. Other apply patches are passed on as JSON, which is YAML.
	CheckPatches Patches = iota
	// PassPatches passes all patches untouched, except those that the
	// [Finder] refuses without looking into them. It is for handlers that
	// prune the patched object, as an API server does.
	PassPatches
)

// Options configure a [Gate]. The zero value of each field is its default.
type Options struct {
	Action  Action
	Patches Patches
	// MaxBytes limits the bytes of one body, before and after
	// decompression. The default is DefaultMaxBytes. Results may be larger
	// by the defaults that are inserted: see decoder.Limits.
	MaxBytes int64
	// MaxHeldBytes limits the bytes that all requests hold together, in
	// bodies, results, decoders and answers. The default is
	// DefaultMaxHeldBytes. Requests for which there is no room are refused
	// with 503.
	MaxHeldBytes int64
	// Budget is the memory that the gate shares with others, instead of one
	// of its own. MaxHeldBytes is then ignored. Nil means one of its own.
	Budget *Budget
	// Gzip accepts bodies that are compressed with gzip. They are passed on
	// decompressed.
	Gzip bool
	// ProblemDetails selects answers with problem details (RFC 9457)
	// instead of metav1.Status. They have a member errors, with the places
	// of the faults in the body.
	ProblemDetails bool
}

// A Gate judges the bodies of requests and has the memory budget that they
// share. Any number of goroutines can use it.
type Gate struct {
	opts   Options
	budget *budget
}

// NewGate returns a gate. It panics if the Action or the Patches of opts is not
// one of the constants.
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
	if opts.Budget == nil {
		opts.Budget = NewBudget(opts.MaxHeldBytes)
	}
	opts.MaxHeldBytes = opts.Budget.Limit()
	return &Gate{opts: opts, budget: opts.Budget.shared}
}

// Options returns the options of the gate, with defaults in place of limits
// that were not set, and with its Budget.
func (g *Gate) Options() Options { return g.opts }

// Held returns how many bytes of its budget requests hold, and how many are
// kept for later requests. The sum of both is within the limit.
func (g *Gate) Held() (requests, idle int64) { return g.budget.heldNow() }
