package caddyespalier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema/reload"
)

func init() { caddy.RegisterModule(Handler{}) }

// DefaultReloadInterval is how often files are looked at.
const DefaultReloadInterval = caddy.Duration(5 * time.Second)

// Handler prunes, defaults and checks the bodies of POST, PUT and PATCH. Its
// fields are the configuration in JSON; the zero value of each is its default.
// Caddy calls the methods.
type Handler struct {
	// CRDs are files and folders with custom resource definitions, in JSON
	// or YAML. At least one is needed, and each must hold a definition.
	// Global placeholders, such as {env.CRDS}, are replaced.
	CRDs []string `json:"crds,omitempty"`
	// Find says how the schema for a request is found: "path", by the paths
	// of the Kubernetes API, is the default; "kind" is by the type of the
	// object in the body.
	Find string `json:"find,omitempty"`
	// PassUnknown says which writes pass without a definition, by path:
	// "groups", those outside of /apis and those for groups without any
	// definition, is the default; "none" and "all" are the others.
	PassUnknown string `json:"pass_unknown,omitempty"`
	// Action says what is passed on: "rewrite", the result, is the default;
	// with "report" it is the body as it was sent, and findings are
	// warnings.
	Action string `json:"action,omitempty"`
	// Patches says what becomes of patches: "check", check those that can
	// be checked and refuse the rest, is the default; "pass" passes all.
	Patches string `json:"patches,omitempty"`
	// Kubernetes decodes exactly as a kube-apiserver does, and refuses no
	// more than it does.
	Kubernetes bool `json:"kubernetes,omitempty"`
	// Stream decodes JSON objects while the next handler reads them:
	// middleware.Options has what is different then.
	Stream bool `json:"stream,omitempty"`
	// Gzip accepts bodies that are compressed with gzip, and passes them on
	// decompressed.
	Gzip bool `json:"gzip,omitempty"`
	// ProblemDetails answers with problem details (RFC 9457) instead of a
	// metav1.Status.
	ProblemDetails bool `json:"problem_details,omitempty"`
	// MaxBytes limits the bytes of one body. The default is
	// request.DefaultMaxBytes.
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// MaxHeldBytes limits the bytes that requests hold while they are
	// decoded and passed on. All handlers with the same limit share it. The
	// default is request.DefaultMaxHeldBytes.
	MaxHeldBytes int64 `json:"max_held_bytes,omitempty"`
	// ReloadInterval is how often the files are looked at. A change counts
	// once they have been left alone for as long. The default is
	// DefaultReloadInterval.
	ReloadInterval caddy.Duration `json:"reload_interval,omitempty"`

	logger *zap.Logger
	files  *reload.Files
	budget *request.Budget // counted in budgets
	judge  http.Handler

	stop     context.CancelFunc
	followed chan struct{} // closed when nobody follows the files any more
}

// CaddyModule returns what Caddy needs to know of the module.
func (Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.espalier", New: func() caddy.Module { return new(Handler) }}
}

// budgets has the budgets in use, by their limits, so that all sites share one and a new
// configuration takes over that of the old one, with what requests still hold.
var budgets = caddy.NewUsagePool()

// Provision reads the definitions. It fails if they cannot be read or compiled,
// and if a word of the configuration has no meaning.
func (h *Handler) Provision(ctx caddy.Context) error {
	h.logger = ctx.Logger()
	opts, paths, err := h.options()
	if err != nil {
		return err
	}
	replacer := caddy.NewReplacer()
	names := make([]string, len(h.CRDs))
	for i, name := range h.CRDs {
		names[i] = replacer.ReplaceAll(name, "")
	}
	if h.files, err = reload.Open(reload.Paths(names)); err != nil {
		return err
	}
	if h.MaxHeldBytes == 0 {
		h.MaxHeldBytes = request.DefaultMaxHeldBytes
	}
	shared, _ := budgets.LoadOrStore(h.MaxHeldBytes, request.NewBudget(h.MaxHeldBytes))
	h.budget = shared.(*request.Budget)
	opts.Budget = h.budget
	paths.Catalog = h.files.Catalog()
	find := paths.Finder()
	if h.Find == "kind" {
		find = request.ByKind(paths.Catalog, paths.Decoder...)
	}
	h.judge = middleware.New(find, opts)(http.HandlerFunc(passOn))
	if err := observed.register(ctx.GetMetricsRegistry(), h); err != nil {
		return err
	}
	h.follow(ctx)
	return nil
}

// options returns the options for the middleware and for the finder.
func (h *Handler) options() (opts middleware.Options, paths request.Paths, err error) {
	opts = middleware.Options{Stream: h.Stream, Observer: observed, Refuse: h.refuse}
	opts.MaxBytes, opts.Gzip, opts.ProblemDetails = h.MaxBytes, h.Gzip, h.ProblemDetails
	if h.Kubernetes {
		paths.Decoder = []decoder.Option{decoder.ServerRequests}
	}
	var errs [4]error
	opts.Action, errs[0] = word("action", h.Action, map[string]request.Action{
		"": request.Rewrite, "rewrite": request.Rewrite, "report": request.Report})
	opts.Patches, errs[1] = word("patches", h.Patches, map[string]request.Patches{
		"": request.CheckPatches, "check": request.CheckPatches, "pass": request.PassPatches})
	paths.Unknown, errs[2] = word("pass_unknown", h.PassUnknown, map[string]request.Unknown{
		"": request.PassUnknownGroups, "groups": request.PassUnknownGroups,
		"none": request.PassNothing, "all": request.PassUnknown})
	_, errs[3] = word("find", h.Find, map[string]bool{"": true, "path": true, "kind": true})
	return opts, paths, errors.Join(errs[:]...)
}

// word returns what a word of the configuration means.
func word[T any](field, value string, meanings map[string]T) (T, error) {
	meaning, ok := meanings[value]
	if !ok {
		return meaning, fmt.Errorf("%s: there is no %q", field, value)
	}
	return meaning, nil
}

// Validate returns an error for a configuration that names no definitions or
// has numbers without a meaning.
func (h *Handler) Validate() error {
	switch {
	case len(h.CRDs) == 0:
		return errors.New("crds: there is none, and nothing could be judged")
	case h.MaxBytes < 0 || h.MaxHeldBytes < 0:
		return errors.New("max_bytes and max_held_bytes must be greater than 0")
	case h.ReloadInterval < 0:
		return errors.New("reload_interval must be greater than 0")
	case h.Find == "kind" && h.PassUnknown != "":
		return errors.New("pass_unknown is by path, and find is kind")
	}
	return nil
}

// follow starts to follow the files.
func (h *Handler) follow(ctx context.Context) {
	every := h.ReloadInterval
	if every <= 0 {
		every = DefaultReloadInterval
	}
	ctx, h.stop = context.WithCancel(ctx)
	h.followed = make(chan struct{})
	go func() {
		defer close(h.followed)
		h.files.Follow(ctx, time.Duration(every), h.reloaded)
	}()
}

// reloaded is called when the definitions were read again.
func (h *Handler) reloaded(err error) {
	observed.reloaded(err)
	if err != nil {
		h.logger.Error("the new definitions cannot be used, and the old ones stay", zap.Strings("crds", h.CRDs), zap.Error(err))
		return
	}
	h.budget.DropIdle()
	h.logger.Info("definitions were read again", zap.Strings("crds", h.CRDs), zap.Int("versions", versions(h.files.Catalog())))
}

// Cleanup ends what Provision has begun. Requests may still be on their way.
func (h *Handler) Cleanup() error {
	if h.stop != nil {
		h.stop()
		<-h.followed
	}
	observed.forget(h)
	if h.budget == nil {
		return nil
	}
	h.budget.DropIdle()
	_, err := budgets.Delete(h.MaxHeldBytes)
	return err
}

// A call is a request on its way through a Handler.
type call struct {
	next    caddyhttp.Handler
	r       *http.Request // as the error routes of the server see it
	body    seenBody
	refused bool
	err     error
}

// A seenBody is the body of a request. It knows whether it was read to its end, and drops the trailers
// that nobody has announced: reading the end adds them to those that were.
type seenBody struct {
	io.ReadCloser
	trailer, announced http.Header
	ended              atomic.Bool // a transport may still be reading
}

func (b *seenBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF && !b.ended.Swap(true) {
		maps.DeleteFunc(b.trailer, func(name string, _ []string) bool {
			_, isAnnounced := b.announced[name]
			return !isAnnounced
		})
	}
	return n, err
}

// callKey is the key of the call in the context of a request.
type callKey struct{}

// ServeHTTP judges the body of a request, and calls the next handler with the
// result.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	c := &call{next: next, r: r}
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	if r.Body != nil && r.Body != http.NoBody {
		c.body.ReadCloser, c.body.trailer, c.body.announced = r.Body, r.Trailer, maps.Clone(r.Trailer)
		r.Body = &c.body
	}
	h.judge.ServeHTTP(w, r)
	return c.err
}

// callOf returns the call that a request belongs to.
func callOf(r *http.Request) *call { return r.Context().Value(callKey{}).(*call) }

// passOn calls the next handler. What it says of a body that was refused while it read it does not
// matter.
func passOn(w http.ResponseWriter, r *http.Request) {
	c := callOf(r)
	if err := c.next.ServeHTTP(w, r); !c.refused {
		c.err = err
	}
}

// refuse answers a refused request, or leaves that to the error routes of the site.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, refused *request.StatusError) {
	c := callOf(r)
	c.refused, c.err = true, nil
	if r.ProtoMajor == 1 && c.body.ReadCloser != nil && !c.body.ended.Load() {
		// Otherwise the server waits for the rest of the body before it answers.
		w.Header().Set("Connection", "close")
	}
	err := caddyhttp.Error(refused.Code, refused)
	answer := refused.Answer(h.ProblemDetails)
	if !hasErrorRoute(r, err) {
		h.logger.Debug("refused", zap.Int("status", refused.Code), zap.String("reason", refused.Reason))
		middleware.WriteAnswer(w, answer)
		return
	}
	for name, value := range refused.Header {
		w.Header().Set(name, value)
	}
	caddyhttp.SetVar(r.Context(), "espalier_answer", string(answer.Body))
	caddyhttp.SetVar(r.Context(), "espalier_content_type", answer.Header["Content-Type"])
	caddyhttp.SetVar(r.Context(), "espalier_reason", refused.Reason)
	c.err = err
	// Error routes may be a reverse proxy, which would send on what was never judged.
	c.r.Body, c.r.ContentLength, c.r.Trailer = http.NoBody, 0, nil
	c.r.Header.Del("Content-Length")
}

// hasErrorRoute reports whether the server has a route for the error of a request. A server has those
// of all its sites.
func hasErrorRoute(r *http.Request, err error) bool {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server.Errors == nil || len(server.Errors.Routes) == 0 {
		return false
	}
	r = server.Errors.WithError(r, err) // matchers may look at the error
	return slices.ContainsFunc(server.Errors.Routes, func(route caddyhttp.Route) bool {
		matches, _ := route.MatcherSets.AnyMatchWithError(r)
		return matches
	})
}

var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
