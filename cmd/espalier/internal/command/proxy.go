package command

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/proxy"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
)

const proxyHelp = `Proxy stands in front of a server of custom resources and decodes the bodies of
POST, PUT and PATCH before that sees them, as a kube-apiserver does: unknown fields
are removed, defaults are inserted, and findings are warnings or, with
?fieldValidation=Strict, the answer. The server gets JSON.

The schema for a request is found by its path, /apis/GROUP/VERSION/..., among the
custom resource definitions that --crd names, or with --find kind by the type of the
object in the body. What cannot be decoded does not get to the server.

What passes untouched, by path:
  GET, HEAD, DELETE, OPTIONS    with whatever body; other methods are refused, post as well as MERGE
  /apis/GROUP, /api, others     where --crd has no definition of the group, or with --pass-unknown all
  .../NAME/scale                of resources that are known
Of a group that --crd has a definition of, versions, resources and subresources that are
not declared are refused, so that nothing passes which was forgotten. --pass-unknown none
refuses all writes that no definition is known for. Paths are refused if the server could take
them for those of a known resource: with an element .. in any spelling, with characters
other than ASCII letters, digits and -._~:@ below /api and /apis (but not behind .../proxy/), with
names that are known only in another case.

Connections are switched to websocket and SPDY/3.1 only, for what passes untouched and only
by path; h2c, in which there are requests, is not passed on. Headers by which frameworks override
the method are refused, those by which they override the path are dropped from writes. Of
trailers those are dropped that were not announced, or that a request is read by.

JSON patches cannot be checked without the object that they are for, and are refused
unless --patches is pass, which passes all patches untouched: use it where the server
prunes what comes out, as a kube-apiserver does. Merge patches and apply patches
are checked by default.

Credentials in headers are passed on. Client certificates cannot be: the server sees
that of --upstream-cert, if any, and then whoever reaches the proxy acts as its owner. Who may
send what is for the server to decide, but it is asked after the body was decoded.

Health and metrics are on an address of their own: /healthz, /readyz, which fails
once the proxy is shutting down, and /metrics for Prometheus. SIGINT and SIGTERM let
requests end for --shutdown-timeout. Bodies are never logged.

Exit codes: 0 after a shutdown; 2 if the arguments are wrong; 3 if a file cannot be
read or an address cannot be listened on.`

const proxyExamples = `  # In front of a server on the same machine.
  espalier proxy --upstream http://127.0.0.1:8001 --crd crds/

  # In front of a kube-apiserver, with TLS on both sides, deciding as it does to the letter.
  espalier proxy --upstream https://10.0.0.1:6443 --upstream-ca ca.pem --crd crds/ \
    --listen :8443 --tls-cert cert.pem --tls-key key.pem --patches pass --kubernetes

  # Only report what is found, in warnings and metrics, for webhooks of any path.
  espalier proxy --upstream http://127.0.0.1:9000 --crd crds/ --action report --find kind`

func newProxyCommand(code *int) *cobra.Command {
	c := proxy.NewConfig()
	cmd := &cobra.Command{
		Use:                   "proxy --upstream URL --crd FILE|DIR... [flags]",
		DisableFlagsInUseLine: true,
		Short:                 "Decode the bodies of requests in front of a server",
		Long:                  proxyHelp,
		Example:               proxyExamples,
		Args:                  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			upstream, err := c.Check()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if err := c.Run(ctx, upstream, cmd.ErrOrStderr()); err != nil {
				sanitize.WriteErrors(cmd.ErrOrStderr(), err)
				*code = ExitInput
			}
			return nil
		},
	}
	c.AddFlags(cmd)
	return cmd
}
