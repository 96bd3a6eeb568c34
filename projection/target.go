package projection

import (
	"net/http"
	"net/url"
	"strings"
)

// A target is what a request is about.
type target struct {
	rule              *rule // nil if there is none for it
	name, subresource string
	// odd says that servers may read the path differently, and that one of them may find the
	// resource of a rule in it.
	odd bool
}

// target reads the path of a request as k8s.io/apiserver does
// (pkg/endpoints/request/requestinfo.go). The path may have a prefix before /api and /apis, as
// the servers behind some proxies have, such as /api/clusters/c.
func (p *Projection) target(r *http.Request) target {
	parts := split(r.URL)
	start := startOf(parts)
	if start < 0 {
		return target{odd: p.mayMean(r.URL)}
	}
	parts = parts[start:]
	group := ""
	if parts[0] == "apis" {
		if len(parts) < 2 {
			return target{}
		}
		group, parts = parts[1], parts[1:]
	}
	if len(parts) < 3 { // a version and a resource
		return target{}
	}
	parts = parts[2:]
	if parts[0] == "watch" || parts[0] == "proxy" { // as in the first versions of Kubernetes
		return target{odd: p.mayMean(r.URL)}
	}
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		parts = parts[2:]
	}
	t := target{rule: p.rules[groupResource{group, parts[0]}]}
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = parts[2]
	}
	return t
}

// startOf returns the index of the element that starts the path of a resource, or -1. The core group
// has one version.
func startOf(parts []string) int {
	for i, part := range parts {
		if part == "apis" || part == "api" && i+1 < len(parts) && parts[i+1] == "v1" {
			return i
		}
	}
	return -1
}

// split returns the elements of a path, or none if there are none, or if servers may read others.
func split(u *url.URL) []string {
	path := u.Path
	if u.Opaque != "" || !strings.HasPrefix(path, "/") {
		return nil
	}
	// With an escaped slash, or with an escape within an escape, elements depend on who decodes.
	if strings.ContainsAny(path, `\%;`) || strings.Count(u.EscapedPath(), "/") != strings.Count(path, "/") {
		return nil
	}
	parts := strings.Split(path[1:], "/")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return nil
		}
	}
	return parts
}

// mayMean reports whether the resource of a rule may be in a path, however it is read.
func (p *Projection) mayMean(u *url.URL) bool {
	path := u.Opaque + u.Path
	for strings.Contains(path, "%") {
		decoded, err := url.PathUnescape(path)
		if err != nil || decoded == path {
			break
		}
		path = decoded
	}
	path = strings.ToLower(path)
	for name := range p.rules {
		if strings.Contains(path, name.resource) {
			return true
		}
	}
	return false
}
