// Command program is a Caddy with Espalier, as xcaddy writes it.
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"

	_ "github.com/espalier-dev/espalier/caddy"
)

func main() { caddycmd.Main() }
