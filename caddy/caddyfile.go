package caddyespalier

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/dustin/go-humanize"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("espalier", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		handler := new(Handler)
		return handler, handler.UnmarshalCaddyfile(h.Dispenser)
	})
	// After rewrites and authentication, and before everything that can answer or pass on a request.
	httpcaddyfile.RegisterDirectiveOrder("espalier", httpcaddyfile.Before, "invoke")
}

// UnmarshalCaddyfile reads the directive, as the documentation of the package
// has it.
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next()         // its name
	if d.NextArg() { // Caddy has taken what looks like a matcher, such as /etc/crds
		return d.Err("definitions are named by crd, in a block")
	}
	words := map[string]*string{
		"find": &h.Find, "pass_unknown": &h.PassUnknown, "action": &h.Action, "patches": &h.Patches,
	}
	switches := map[string]*bool{
		"kubernetes": &h.Kubernetes, "stream": &h.Stream, "gzip": &h.Gzip, "problem_details": &h.ProblemDetails,
	}
	sizes := map[string]*int64{"max_bytes": &h.MaxBytes, "max_held_bytes": &h.MaxHeldBytes}
	seen := map[string]bool{}
	for d.NextBlock(0) {
		name := d.Val()
		if seen[name] && name != "crd" {
			return d.Errf("%s is there twice", name)
		}
		seen[name] = true
		var err error
		switch {
		case name == "crd":
			names := d.RemainingArgs()
			if len(names) == 0 {
				return d.ArgErr()
			}
			h.CRDs = append(h.CRDs, names...)
		case name == "reload_interval":
			h.ReloadInterval, err = interval(d)
		case words[name] != nil:
			*words[name], err = one(d)
		case switches[name] != nil:
			*switches[name] = true
			if d.NextArg() {
				err = d.ArgErr()
			}
		case sizes[name] != nil:
			*sizes[name], err = size(d)
		default:
			err = d.Errf("there is no %s", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// one returns the one argument of a line.
func one(d *caddyfile.Dispenser) (text string, err error) {
	if !d.AllArgs(&text) {
		return "", d.ArgErr()
	}
	return text, nil
}

// size returns a number of bytes, such as 3MiB, that is greater than 0.
func size(d *caddyfile.Dispenser) (int64, error) {
	text, err := one(d)
	if err != nil {
		return 0, err
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > 1<<62 {
		return 0, d.Errf("%q is no size", text)
	}
	return int64(n), nil
}

// interval returns a duration that is greater than 0.
func interval(d *caddyfile.Dispenser) (caddy.Duration, error) {
	text, err := one(d)
	if err != nil {
		return 0, err
	}
	every, err := caddy.ParseDuration(text)
	if err != nil || every <= 0 {
		return 0, d.Errf("%q is no duration", text)
	}
	return caddy.Duration(every), nil
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
