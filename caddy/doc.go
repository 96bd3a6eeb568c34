// Package caddyespalier is Espalier's middleware as a module of the web server
// Caddy: http.handlers.espalier. It prunes, defaults and checks the bodies of
// requests by the schemas of custom resources, as a kube-apiserver does, before
// the handlers behind it see them. What it decides is that of package
// middleware and of package request.
//
// A Caddy with the module is built with
//
//	xcaddy build --with github.com/espalier-dev/espalier/caddy
//
// # In a Caddyfile
//
//	:8080 {
//		espalier {
//			crd crds/
//		}
//		reverse_proxy 127.0.0.1:8001
//	}
//
// The directive runs after rewrites and authentication, and before handle,
// route and what answers requests. It sees the path as it is then: if
// handle_path takes a part of it away, the directive belongs into that block,
// since it would pass what it does not take for the path of a resource. With
// all fields of [Handler], of which none needs to be there but crd:
//
//	espalier [<matcher>] {
//		crd             <file or folder>...
//		find            path|kind
//		pass_unknown    none|groups|all
//		action          rewrite|report
//		patches         check|pass
//		kubernetes
//		stream
//		gzip
//		problem_details
//		max_bytes       <size>
//		max_held_bytes  <size>
//		reload_interval <duration>
//	}
//
// A request that the matcher does not match is not judged. As with every
// directive of Caddy, an argument that starts with a slash is a matcher.
//
// # Refusals
//
// A refused request is answered with a metav1.Status or problem details. If the
// site has routes for errors (handle_errors), they answer instead: the handler
// returns a [caddyhttp.HandlerError] with the code, whose Err is a
// *request.StatusError. The headers of the refusal, such as Retry-After, are
// set then, and there are variables, which are
// empty for errors of others:
//
//	{vars.espalier_answer}        the Status, or the problem details
//	{vars.espalier_content_type}  its media type
//	{vars.espalier_reason}        its reason, such as BadRequest
//
// They find the request without its body, so that a proxy among them does not
// send on what was refused.
//
// Error routes of a server are asked as far as their own matchers tell whether
// they answer; those within a subroute are not looked for.
//
// # Definitions that change
//
// The files are read again when they have changed, and when Caddy loads a
// configuration. If they are broken, the old definitions stay, and a line of
// the log and a metric say so; a new configuration is refused. Requests are
// neither dropped nor kept waiting.
//
// # Memory
//
// Handlers with the same limit share one budget, whatever site they are in, and
// so do those of the configurations before and after a reload.
//
// # Time
//
// How long a body may take is for the server to say: read_timeout,
// read_idle_timeout and read_min_rate are fields of Caddy's server.
package caddyespalier
