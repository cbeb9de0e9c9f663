package members

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"orange/fleet/registry"
	"orange/fleet/setup"
	"orange/internal/rules/task"
	"orange/internal/run/proc"
)

// How long certificates hold.
const (
	caFor     = 10 * 365 * 24 * time.Hour
	memberFor = 365 * 24 * time.Hour
	early     = 5 * time.Minute     // before now, for clocks that are behind
	renew     = 30 * 24 * time.Hour // before its end a certificate is made again
	serials   = 126                 // bits of the number of a certificate
)

// pair is a certificate with its key, as PEM.
type pair struct{ cert, key []byte }

// ca is the small authority for certificates of a fleet.
type ca struct {
	cert *x509.Certificate
	key  crypto.Signer
	pem  []byte
}

func caPath(home string) string { return filepath.Join(AuthorityDir(home), "ca.pem") }

// hasCertificates reports whether this machine can sign certificates for the fleet.
func (a Authority) hasCertificates() (bool, error) {
	_, err := os.Stat(caPath(a.home))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// MakeCertificates makes a small authority for certificates, a certificate of the server with its names or addresses,
// and one of this machine. What is there stays; a
// certificate is made again where it is for other names, of another authority, or ends soon.
func (a Authority) MakeCertificates(fleet string, names []string, now time.Time) (setup.Files, error) {
	there, err := a.hasCertificates()
	if err != nil {
		return setup.Files{}, fmt.Errorf("look for the certificates of the fleet: %w", err)
	}
	if !there {
		if err := a.makeCA(fleet, now); err != nil {
			return setup.Files{}, err
		}
	}
	c, err := a.readCA()
	if err != nil {
		return setup.Files{}, err
	}
	if err := c.forServer(AuthorityDir(a.home), names, now); err != nil {
		return setup.Files{}, err
	}
	files := tlsFiles(a.home)
	if err := os.MkdirAll(filepath.Dir(files.CA), task.PrivateFolder); err != nil {
		return files, fmt.Errorf("make the certificate of this machine: %w", err)
	}
	if err := proc.ReplaceFile(files.CA, c.pem); err != nil {
		return files, err
	}
	if c.holds(files.Certificate, nil, now) {
		return files, nil
	}
	own, err := c.issue("authority", "core", nil, now, memberFor)
	if err != nil {
		return files, err
	}
	return files, own.write(files.Certificate, files.Key)
}

// tlsFiles are the files of this machine's certificate below a home.
func tlsFiles(home string) setup.Files {
	dir := filepath.Join(setup.Dir(home), "tls")
	return setup.Files{CA: filepath.Join(dir, "ca.pem"), Certificate: filepath.Join(dir, "this.pem"),
		Key: filepath.Join(dir, "this.key")}
}

func (p pair) write(cert, key string) error {
	if err := proc.ReplaceFile(key, p.key); err != nil {
		return err
	}
	return proc.ReplaceFile(cert, p.cert)
}

func (a Authority) makeCA(fleet string, now time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make the key of certificates: %w", err)
	}
	form, err := certificate("orange fleet "+fleet, "authority", now, caFor)
	if err != nil {
		return err
	}
	form.IsCA, form.BasicConstraintsValid, form.MaxPathLenZero = true, true, true
	form.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	raw, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return fmt.Errorf("make the certificate of the fleet's authority: %w", err)
	}
	made, err := pemPair(raw, key)
	if err != nil {
		return err
	}
	return made.write(caPath(a.home), filepath.Join(AuthorityDir(a.home), "ca.key"))
}

func (a Authority) readCA() (ca, error) {
	c := ca{}
	var err error
	if c.pem, err = os.ReadFile(caPath(a.home)); err != nil {
		return c, fmt.Errorf("read the certificate of the fleet's authority: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(AuthorityDir(a.home), "ca.key"))
	if err != nil {
		return c, fmt.Errorf("read the key of certificates: %w", err)
	}
	if c.cert, err = readCertificate(c.pem); err != nil {
		return c, fmt.Errorf("read the certificate of the fleet's authority: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return c, fmt.Errorf("read the key of certificates: found no PEM in %q", AuthorityDir(a.home))
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return c, fmt.Errorf("read the key of certificates: %w", err)
	}
	var is bool
	if c.key, is = key.(crypto.Signer); !is {
		return c, errors.New("read the key of certificates: it cannot sign")
	}
	return c, nil
}

func readCertificate(text []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("found no certificate")
	}
	return x509.ParseCertificate(block.Bytes)
}

func certificate(name, unit string, now time.Time, length time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serials))
	if err != nil {
		return nil, fmt.Errorf("number a certificate: %w", err)
	}
	return &x509.Certificate{SerialNumber: serial, NotBefore: now.Add(-early), NotAfter: now.Add(length),
		Subject: pkix.Name{CommonName: name, OrganizationalUnit: []string{unit}}}, nil
}

func pemPair(raw []byte, key crypto.Signer) (pair, error) {
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return pair{}, fmt.Errorf("write the key of a certificate: %w", err)
	}
	return pair{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})}, nil
}

// issue makes a certificate with a key of its own: for a server that has names, else for a client.
func (c ca) issue(name, unit string, names []string, now time.Time, length time.Duration) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("make the key of a certificate: %w", err)
	}
	raw, err := c.sign(key.Public(), name, unit, names, now, length)
	if err != nil {
		return pair{}, err
	}
	return pemPair(raw, key)
}

func (c ca) sign(key crypto.PublicKey, name, unit string, names []string, now time.Time, length time.Duration) (
	[]byte, error) {
	form, err := certificate(name, unit, now, length)
	if err != nil {
		return nil, err
	}
	form.KeyUsage = x509.KeyUsageDigitalSignature
	form.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			form.IPAddresses = append(form.IPAddresses, ip)
		} else {
			form.DNSNames = append(form.DNSNames, n)
		}
	}
	if len(names) > 0 { // the server's own workers are its clients
		form.ExtKeyUsage = append(form.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	}
	raw, err := x509.CreateCertificate(rand.Reader, form, c.cert, key, c.key)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate of %q: %w", name, err)
	}
	return raw, nil
}

// holds reports whether a file has a certificate of this authority for these names that does not end soon.
func (c ca) holds(path string, names []string, now time.Time) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return false // what cannot be read is made again, in the place of it
	}
	had, err := readCertificate(text)
	if err != nil || had.CheckSignatureFrom(c.cert) != nil || now.Add(renew).After(had.NotAfter) {
		return false
	}
	has := slices.Clone(had.DNSNames)
	for _, ip := range had.IPAddresses {
		has = append(has, ip.String())
	}
	slices.Sort(has)
	return slices.Equal(has, slices.Sorted(slices.Values(names)))
}

// forServer makes the certificate of the server, if there is none for its names.
func (c ca) forServer(dir string, names []string, now time.Time) error {
	path := filepath.Join(dir, "server.pem")
	if c.holds(path, names, now) {
		return nil
	}
	made, err := c.issue(names[0], "server", names, now, memberFor)
	if err != nil {
		return err
	}
	return made.write(path, filepath.Join(dir, "server.key"))
}

// member signs the certificate that a new member asked for: its key is in the request, and its name is not.
func (c ca) member(j registry.Join, now time.Time) (string, error) {
	block, _ := pem.Decode([]byte(j.Request))
	if block == nil {
		return "", task.Notef(registry.ErrRefused, "cannot join as %q: the connection to the server is encrypted, "+
			"and there is no request for a certificate", j.Name)
	}
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err == nil {
		err = asked.CheckSignature()
	}
	if err != nil {
		return "", task.Notef(registry.ErrRefused, "cannot join as %q: the request for a certificate cannot be used: "+
			"%v",
			j.Name, err)
	}
	raw, err := c.sign(asked.PublicKey, j.Name, j.Of, nil, now, memberFor)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})), err
}
