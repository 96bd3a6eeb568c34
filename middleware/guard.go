package middleware

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/request"
)

// guard refuses requests that the handler may read differently than the middleware does, whatever
// they are about, and reports whether a schema judges the body of the others. It returns the request
// without headers that would make the handler do so.
func (h *handler) guard(r *http.Request) (_ *http.Request, isWrite bool, refused *request.StatusError) {
	passes := func() bool {
		seen := seenAs(r)
		return h.find.Passes(&seen)
	}
	// Only clients leave the method empty, and mean GET.
	screening, refused := request.Screen(cmp.Or(r.Method, http.MethodGet), r.URL.RawQuery, r.Header, passes)
	if refused != nil || len(screening.Drop) == 0 {
		return r, screening.Write, refused
	}
	out := new(http.Request)
	*out = *r
	out.Header = r.Header.Clone()
	for _, name := range screening.Drop {
		delete(out.Header, name)
	}
	if !screening.Upgrade {
		dropOptions(out.Header)
	}
	return out, screening.Write, nil
}

// dropOptions removes what belongs to the headers that ask for another protocol, which are dropped.
func dropOptions(h http.Header) {
	if _, ok := h["Connection"]; !ok {
		return
	}
	options := slices.DeleteFunc(request.ConnectionOptions(h["Connection"]), func(option string) bool {
		return option == "upgrade" || option == "http2-settings"
	})
	delete(h, "Connection")
	if len(options) > 0 {
		h.Set("Connection", strings.Join(options, ", "))
	}
}

// safeTrailers returns the announced trailers by which nobody reads a request.
func safeTrailers(trailers http.Header, announced []string, changed bool) http.Header {
	var safe http.Header
	for _, name := range request.SafeTrailers(announced, changed) {
		if safe == nil {
			safe = http.Header{}
		}
		safe[name] = slices.Clone(trailers[name])
	}
	return safe
}
