package setup

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Config is how a connection to the server is encrypted; nil where it is not.
func (f Files) Config() (*tls.Config, error) {
	if f == (Files{}) {
		return nil, nil
	}
	own, err := tls.LoadX509KeyPair(f.Certificate, f.Key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of this machine: %w", err)
	}
	ca, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, fmt.Errorf("read the certificate of the fleet's authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("cannot use %q as the certificate of the fleet's authority: found none in it", f.CA)
	}
	return &tls.Config{Certificates: []tls.Certificate{own}, RootCAs: pool, MinVersion: tls.VersionTLS13}, nil
}
