package proxy

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"sync"
	"time"
)

// servingTLS returns nil if the proxy serves without TLS.
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
	if err := setFallbackRoots(); err != nil {
		return nil, err
	}
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

// A keyPair is a certificate and its key in files. Because certificates are renewed while the
// proxy runs, the files are read again when they change.
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

// times returns when the files were modified, or zero for a file that does not exist.
func (p *keyPair) times() (times [2]time.Time) {
	for i, name := range []string{p.certFile, p.keyFile} {
		if info, err := os.Stat(name); err == nil {
			times[i] = info.ModTime()
		}
	}
	return times
}

// get returns the certificate. While the files do not match, because only one of them is
// renewed yet, the previous certificate is returned.
func (p *keyPair) get() *tls.Certificate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.times() != p.modified {
		_ = p.load() // the next call tries again
	}
	return p.loaded
}
