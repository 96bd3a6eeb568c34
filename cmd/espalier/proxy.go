package main

import (
	"context"
	stderrors "errors"
	"fmt"
	"net/url"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
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

// proxyConfig is what the flags of proxy say.
type proxyConfig struct {
	upstream                              string
	upstreamCA, upstreamCert, upstreamKey string
	listen, tlsCert, tlsKey               string
	adminListen                           string
	crds                                  []string
	find, action, patches, passUnknown    choice
	kubernetes                            bool
	options                               middleware.Options
	headerBytes                           int
	headerTimeout, bodyTimeout            time.Duration
	idleTimeout, shutdownTimeout          time.Duration
}

func newProxyConfig() *proxyConfig {
	return &proxyConfig{
		find:        choice{value: "path", values: []string{"path", "kind"}},
		action:      choice{value: "rewrite", values: []string{"rewrite", "report"}},
		patches:     choice{value: "check", values: []string{"check", "pass"}},
		passUnknown: choice{value: "groups", values: []string{"none", "groups", "all"}},
	}
}

func newProxyCommand(code *int) *cobra.Command {
	c := newProxyConfig()
	cmd := &cobra.Command{
		Use:                   "proxy --upstream URL --crd FILE|DIR... [flags]",
		DisableFlagsInUseLine: true,
		Short:                 "Decode the bodies of requests in front of a server",
		Long:                  proxyHelp,
		Example:               proxyExamples,
		Args:                  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			upstream, err := c.check()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if err := c.run(ctx, upstream, cmd.ErrOrStderr()); err != nil {
				writeErrors(cmd.ErrOrStderr(), err)
				*code = exitInput
			}
			return nil
		},
	}
	c.addFlags(cmd)
	return cmd
}

func (c *proxyConfig) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&c.upstream, "upstream", "", "URL of the server, http or https")
	flags.StringArrayVar(&c.crds, "crd", nil, "file or folder with custom resource definitions; may be repeated")
	flags.StringVar(&c.listen, "listen", "127.0.0.1:8080", "address for requests")
	flags.StringVar(&c.adminListen, "admin-listen", "127.0.0.1:8081", "address for health and metrics, or nothing for none")
	addChoice(cmd, &c.find, "find", "", "what says which schema a request is for: its path, or the kind of the object")
	addChoice(cmd, &c.action, "action", "", "pass on what was decoded, or only report and pass on the body as it was sent")
	addChoice(cmd, &c.patches, "patches", "", "check what can be checked and refuse the rest, or pass all untouched")
	addChoice(cmd, &c.passUnknown, "pass-unknown", "", "which writes pass untouched that no definition is known for, by path: none, those for groups of which nothing is known and outside of /apis, or all")
	flags.BoolVar(&c.kubernetes, "kubernetes", false, "decode as a kube-apiserver does to the letter, and refuse no more than it does")
	flags.BoolVar(&c.options.ProblemDetails, "problem-details", false, "answer with problem details (RFC 9457) instead of metav1.Status")
	flags.BoolVar(&c.options.Gzip, "gzip", false, "accept bodies that are compressed with gzip, and pass them on decompressed")
	flags.Int64Var(&c.options.MaxBytes, "max-bytes", request.DefaultMaxBytes, "limit for one body")
	flags.Int64Var(&c.options.MaxHeldBytes, "max-held-bytes", request.DefaultMaxHeldBytes, "limit for what all requests hold while they are decoded and passed on; those beyond it get a 503")
	flags.StringVar(&c.tlsCert, "tls-cert", "", "file with the certificate chain for --listen, in PEM, which is read again when it has changed")
	flags.StringVar(&c.tlsKey, "tls-key", "", "file with its key")
	flags.StringVar(&c.upstreamCA, "upstream-ca", "", "file with the certificates that the server's is verified by, instead of the system's")
	flags.StringVar(&c.upstreamCert, "upstream-cert", "", "file with a client certificate for the server")
	flags.StringVar(&c.upstreamKey, "upstream-key", "", "file with its key")
	flags.IntVar(&c.headerBytes, "max-header-bytes", 64<<10, "limit for the headers of a request")
	flags.DurationVar(&c.headerTimeout, "header-timeout", 10*time.Second, "how long the headers of a request may take")
	flags.DurationVar(&c.bodyTimeout, "body-timeout", time.Minute, "how long a body that is decoded may take; others may stop for so long, and must have 1 KiB/s on average after it")
	flags.DurationVar(&c.idleTimeout, "idle-timeout", 2*time.Minute, "how long a connection may wait for its next request")
	flags.DurationVar(&c.shutdownTimeout, "shutdown-timeout", 30*time.Second, "how long requests may take to end at a shutdown")
	markRequired(cmd, "upstream", "crd")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	cmd.MarkFlagsRequiredTogether("upstream-cert", "upstream-key")
}

// check finds what is wrong with the arguments alone.
func (c *proxyConfig) check() (*url.URL, error) {
	u, err := url.Parse(c.upstream)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--upstream: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("--upstream must be a URL such as https://10.0.0.1:6443, not %q", c.upstream)
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, stderrors.New("--upstream must be a URL without user, query and fragment")
	case c.options.MaxBytes <= 0 || c.options.MaxHeldBytes <= 0 || c.headerBytes <= 0:
		return nil, stderrors.New("limits must be greater than 0")
	case c.headerTimeout <= 0 || c.bodyTimeout <= 0 || c.idleTimeout <= 0 || c.shutdownTimeout < 0:
		return nil, stderrors.New("timeouts must be greater than 0")
	}
	return u, nil
}

// finder reads the definitions. Each --crd must have some: what a wrong one was for would
// pass, or be refused.
func (c *proxyConfig) finder() (request.Finder, error) {
	catalog := schema.NewCatalog()
	for _, name := range c.crds {
		if err := addDefinitions(catalog, name); err != nil {
			return nil, err
		}
	}
	var opts []decoder.Option
	if c.kubernetes {
		opts = append(opts, decoder.ServerRequests)
	}
	if c.find.value == "kind" {
		return request.ByKind(catalog, opts...), nil
	}
	unknown := map[string]request.Unknown{"none": request.PassNothing, "groups": request.PassUnknownGroups, "all": request.PassUnknown}
	return request.Paths{Catalog: catalog, Unknown: unknown[c.passUnknown.value], Decoder: opts}.Finder(), nil
}
