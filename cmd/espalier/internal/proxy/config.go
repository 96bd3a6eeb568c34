// Package proxy is a reverse proxy with Espalier's middleware in front of a
// server, with TLS, metrics, timeouts and a graceful shutdown. Its Config has
// flags, as options of Kubernetes' servers have.
package proxy

import (
	stderrors "errors"
	"fmt"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/middleware"
	"github.com/espalier-dev/espalier/request"
)

// Config is the configuration of a proxy, which flags set.
type Config struct {
	upstream                              string
	upstreamCA, upstreamCert, upstreamKey string
	listen, tlsCert, tlsKey               string
	adminListen                           string
	crds                                  []string
	find, action, patches, passUnknown    flagvalue.Choice
	kubernetes, values                    bool
	options                               middleware.Options
	headerBytes                           int
	headerTimeout, bodyTimeout            time.Duration
	idleTimeout, shutdownTimeout          time.Duration
	reloadInterval                        time.Duration
}

// NewConfig returns a configuration with the defaults of the choices.
func NewConfig() *Config {
	return &Config{
		find:        flagvalue.Choice{Value: "path", Values: []string{"path", "kind"}},
		action:      flagvalue.Choice{Value: "rewrite", Values: []string{"rewrite", "report"}},
		patches:     flagvalue.Choice{Value: "check", Values: []string{"check", "pass"}},
		passUnknown: flagvalue.Choice{Value: "groups", Values: []string{"none", "groups", "all"}},
	}
}

// AddFlags adds the flags to a command.
func (c *Config) AddFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&c.upstream, "upstream", "", "URL of the server, http or https")
	flags.StringArrayVar(&c.crds, "crd", nil, "file or folder with custom resource definitions; may be repeated")
	flags.DurationVar(&c.reloadInterval, "reload-interval", 5*time.Second, "how often the files of --crd are looked at; a change counts once they were left alone for as long; 0 reads them again only at SIGHUP")
	flags.StringVar(&c.listen, "listen", "127.0.0.1:8080", "address for requests")
	flags.StringVar(&c.adminListen, "admin-listen", "127.0.0.1:8081", "address for health, readiness and metrics; empty for none")
	flagvalue.Add(cmd, &c.find, "find", "", "how the schema for a request is found: by its path, or by the kind of the object")
	flagvalue.Add(cmd, &c.action, "action", "", "whether to pass on the decoded body, or only report findings and pass on the body as it was sent")
	flagvalue.Add(cmd, &c.patches, "patches", "", "whether to check the patches that can be checked and refuse the rest, or pass all of them untouched")
	flagvalue.Add(cmd, &c.passUnknown, "pass-unknown", "", "which writes without a known definition pass untouched, by path: none, those outside of /apis and for groups without a definition, or all")
	flags.BoolVar(&c.kubernetes, "kubernetes", false, "decode exactly as a kube-apiserver does, and refuse no more than it does")
	flags.BoolVar(&c.values, "values", false, "validate the values of objects that POST creates as the API server does, and refuse those that are invalid")
	flags.BoolVar(&c.options.ProblemDetails, "problem-details", false, "answer with problem details (RFC 9457) instead of metav1.Status")
	flags.BoolVar(&c.options.Gzip, "gzip", false, "accept bodies compressed with gzip, and pass them on decompressed")
	flags.Int64Var(&c.options.MaxBytes, "max-bytes", request.DefaultMaxBytes, "limit for one body")
	flags.Int64Var(&c.options.MaxHeldBytes, "max-held-bytes", request.DefaultMaxHeldBytes, "limit for the memory that all requests hold while they are decoded and passed on; requests beyond it get a 503")
	flags.StringVar(&c.tlsCert, "tls-cert", "", "PEM file with the certificate chain for --listen; it is read again when it changes")
	flags.StringVar(&c.tlsKey, "tls-key", "", "file with its key")
	flags.StringVar(&c.upstreamCA, "upstream-ca", "", "file with the certificates that verify the server's, instead of the system's")
	flags.StringVar(&c.upstreamCert, "upstream-cert", "", "file with a client certificate for the server")
	flags.StringVar(&c.upstreamKey, "upstream-key", "", "file with its key")
	flags.IntVar(&c.headerBytes, "max-header-bytes", 64<<10, "limit for the headers of a request")
	flags.DurationVar(&c.headerTimeout, "header-timeout", 10*time.Second, "how long the headers of a request may take")
	flags.DurationVar(&c.bodyTimeout, "body-timeout", time.Minute, "how long a body that is decoded may take; other bodies may pause for so long, and must average 1 KiB/s after it")
	flags.DurationVar(&c.idleTimeout, "idle-timeout", 2*time.Minute, "how long a connection may wait for its next request")
	flags.DurationVar(&c.shutdownTimeout, "shutdown-timeout", 30*time.Second, "how long requests may take to end at a shutdown")
	flagvalue.MarkRequired(cmd, "upstream", "crd")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	cmd.MarkFlagsRequiredTogether("upstream-cert", "upstream-key")
}

// Check returns the URL of the upstream server, or an error for arguments that are wrong in
// themselves.
func (c *Config) Check() (*url.URL, error) {
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
	case c.reloadInterval < 0:
		return nil, stderrors.New("--reload-interval must not be less than 0")
	case c.headerTimeout <= 0 || c.bodyTimeout <= 0 || c.idleTimeout <= 0 || c.shutdownTimeout < 0:
		return nil, stderrors.New("timeouts must be greater than 0")
	}
	return u, nil
}
