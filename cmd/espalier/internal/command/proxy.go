package command

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/proxy"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
)

const proxyHelp = `Proxy runs in front of a server of custom resources. It decodes the bodies of POST, PUT
and PATCH requests before the server sees them, as a kube-apiserver does: unknown
fields are removed, defaults are inserted, and findings are returned as warnings or,
with ?fieldValidation=Strict, as an error. The server receives JSON.

The schema for a request is found by its path, /apis/GROUP/VERSION/..., among the
custom resource definitions that --crd names, or with --find kind by the type of the
object in the body. A body that cannot be decoded does not reach the server.

These requests pass untouched, by path:
  GET, HEAD, DELETE, OPTIONS    with any body; other methods are refused, as are post and MERGE
  /apis/GROUP, /api, others     if --crd has no definition of the group, or with --pass-unknown all
  .../NAME/scale                of resources that are known
If --crd has a definition of a group, its undeclared versions, resources and
subresources are refused, so that nothing passes by oversight. --pass-unknown none
refuses all writes without a known definition. A path is refused if the server could
read it as the path of a known resource: if it has an element .. in any spelling,
characters other than ASCII letters, digits and -._~:@ below /api and /apis (except
after .../proxy/), or a known name with other capitals.

A connection can be upgraded to websocket and SPDY/3.1 only, for requests that pass
untouched, and only by path. Upgrades to h2c, which would carry requests, are not
passed on. Headers with which frameworks override the method are refused. Headers
with which they override the path are dropped from writes, and so are trailers that
were not announced or that change how a request is read.

Values are accepted unless --values is given, because most servers validate them. With
it, an object that POST creates is validated as check does it, after defaults were
inserted, with its rules in CEL. For invalid values the answer is that of the API
server, with 422, and the server does not see the object; with --action report the
object passes, with a warning for each value. With --find kind each POST counts as a
creation. PUT and PATCH are not refused for values, also of a status: a kube-apiserver
excuses those that the stored object has already. It validates after its mutating
webhooks; if these complete objects, --values refuses too much.

JSON patches cannot be checked without the object that they apply to. They are
refused unless --patches is pass, which passes all patches untouched: use that if the
server prunes the patched object, as a kube-apiserver does. Merge patches and apply
patches are checked by default.

Credentials in headers are passed on. Client certificates cannot be: the server sees
the one of --upstream-cert, if there is one, and whoever reaches the proxy acts as its
owner. The server authorises requests, but only after their bodies were decoded.

The files of --crd are read again when they have changed, and at SIGHUP. All definitions
are replaced at once, and no request waits or is lost. If the new files are broken, the
old definitions stay: a line of the log, /readyz and a metric say so.

Health and metrics have an address of their own: /healthz, /readyz, which says in JSON
which definitions are in use and fails once the proxy is shutting down, and /metrics for
Prometheus. After SIGINT or SIGTERM, requests have --shutdown-timeout to end. Bodies are
never logged.

Exit codes: 0 after a shutdown; 2 if the arguments are wrong; 3 if a file cannot be
read or an address cannot be listened on.`

const proxyExamples = `  # In front of a server on the same machine.
  espalier proxy --upstream http://127.0.0.1:8001 --crd crds/

  # In front of a kube-apiserver, with TLS on both sides and exactly its decisions.
  espalier proxy --upstream https://10.0.0.1:6443 --upstream-ca ca.pem --crd crds/ \
    --listen :8443 --tls-cert cert.pem --tls-key key.pem --patches pass --kubernetes

  # In front of a server that does not validate.
  espalier proxy --upstream http://127.0.0.1:9000 --crd crds/ --values

  # Only report findings, in warnings and metrics, for webhooks on any path.
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
