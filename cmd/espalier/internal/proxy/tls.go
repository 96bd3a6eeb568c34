package proxy

import _ "golang.org/x/crypto/x509roots/fallback"

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"
)

// servingTLS is nil where there is none.
func (c *Config) servingTLS() (*tls.Config, error) {
	if c.tlsCert == "" {
		return nil, nil
	}
	pair, err := newKeyPair(c.tlsCert, c.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return pair.get(), nil },
	}, nil
}

func (c *Config) upstreamTLS() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.upstreamCA != "" {
		pem, err := os.ReadFile(c.upstreamCA)
		if err != nil {
			return nil, fmt.Errorf("--upstream-ca: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--upstream-ca: there is no certificate in %s", c.upstreamCA)
		}
	}
	if c.upstreamCert != "" {
		pair, err := newKeyPair(c.upstreamCert, c.upstreamKey)
		if err != nil {
			return nil, fmt.Errorf("--upstream-cert, --upstream-key: %w", err)
		}
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair.get(), nil }
	}
	return config, nil
}

// A keyPair is a certificate and its key in files, which are read again when they have changed:
// certificates are renewed while the proxy runs.
type keyPair struct {
	certFile, keyFile string

	mu       sync.Mutex
	loaded   *tls.Certificate
	modified [2]time.Time
}

func newKeyPair(certFile, keyFile string) (*keyPair, error) {
	p := &keyPair{certFile: certFile, keyFile: keyFile}
	if err := p.load(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *keyPair) load() error {
	modified := p.times()
	pair, err := tls.LoadX509KeyPair(p.certFile, p.keyFile)
	if err != nil {
		return err
	}
	p.loaded, p.modified = &pair, modified
	return nil
}

// times are those of the files, zero for one that is not there.
func (p *keyPair) times() (times [2]time.Time) {
	for i, name := range []string{p.certFile, p.keyFile} {
		if info, err := os.Stat(name); err == nil {
			times[i] = info.ModTime()
		}
	}
	return times
}

// get returns the certificate. While the files do not fit, as only one is written yet, it is the one
// before.
func (p *keyPair) get() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.times() != p.modified {
		_ = p.load() // it is tried again the next time
	}
	return p.loaded
}
