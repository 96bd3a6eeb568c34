package command

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/proxy"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
)

const extProcHelp = `Ext-proc is an external processor for Envoy: a server of gRPC to which Envoy's HTTP filter
ext_proc sends requests before it passes them on. It decides about them as proxy does;
"espalier proxy --help" says what becomes of bodies, and which requests pass untouched.

It supports all ways in which Envoy sends the bodies of HTTP requests: BUFFERED,
BUFFERED_PARTIAL, in which bodies that are too large for Envoy are refused, STREAMED
and FULL_DUPLEX_STREAMED. In mode NONE, writes that have a schema are refused, because
their bodies are not seen. With --stream, JSON objects are decoded while they arrive,
in the last two modes; a body that is refused in the end is cut off before its last
byte.

Envoy asks, and must heed the answer: leave failure_mode_allow, observability_mode and
disable_immediate_response unset, let the processor see the headers of requests and
responses, as it does by default, and set request_trailer_mode to SEND. It needs Envoy
1.34 or newer. docs/http.md has a configuration.

All requests together hold --max-held-bytes. Requests for which there is no room get a
503; what has no schema, and responses, need no room.

The health check of gRPC is on the same address. HTTP has another for health and
metrics: /healthz, /readyz, which says in JSON which definitions are loaded, and
/metrics for Prometheus. Definitions are read again when their files change, and at
SIGHUP. After SIGINT or SIGTERM, requests have --shutdown-timeout to end. Bodies are
never logged.

Exit codes: 0 after a shutdown; 2 if the arguments are wrong; 3 if a file cannot be
read or an address cannot be listened on.`

const extProcExamples = `  # For an Envoy on the same machine.
  espalier ext-proc --crd crds/ --listen 127.0.0.1:9002

  # With TLS, and with large objects decoded while they arrive.
  espalier ext-proc --crd crds/ --listen :9002 --tls-cert cert.pem --tls-key key.pem --stream`

func newExtProcCommand(code *int) *cobra.Command {
	c := proxy.NewExtProc()
	cmd := &cobra.Command{
		Use:                   "ext-proc --crd FILE|DIR... [flags]",
		DisableFlagsInUseLine: true,
		Short:                 "Decode the bodies of requests for Envoy",
		Long:                  extProcHelp,
		Example:               extProcExamples,
		Args:                  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.Check(); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if err := c.Run(ctx, cmd.ErrOrStderr()); err != nil {
				sanitize.WriteErrors(cmd.ErrOrStderr(), err)
				*code = ExitInput
			}
			return nil
		},
	}
	c.AddFlags(cmd)
	return cmd
}
