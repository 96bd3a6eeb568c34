// Command server is a small Caddy with the module, for measurements: make
// bench-http starts it. xcaddy builds a whole one.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	_ "github.com/caddyserver/caddy/v2/modules/filestorage"

	_ "github.com/espalier-dev/espalier/caddy"
)

func main() { caddycmd.Main() }
