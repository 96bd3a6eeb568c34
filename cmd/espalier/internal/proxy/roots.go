package proxy

import (
	"crypto/x509"
	"fmt"
	"sync"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// setFallbackRoots gives the process root certificates for systems without any, as an image from
// scratch is, by which the proxy can verify the upstream server. The package that does this when
// it is imported would slow down the start of all commands.
var setFallbackRoots = sync.OnceValue(func() error {
	roots := x509.NewCertPool()
	for root := range bundle.Roots() {
		certificate, err := x509.ParseCertificate(root.Certificate)
		switch {
		case err != nil:
			return fmt.Errorf("root certificates of the program: %w", err)
		case root.Constraint != nil:
			roots.AddCertWithConstraint(certificate, root.Constraint)
		default:
			roots.AddCert(certificate)
		}
	}
	x509.SetFallbackRoots(roots)
	return nil
})
