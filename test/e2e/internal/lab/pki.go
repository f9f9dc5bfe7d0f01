package lab

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// authority signs every certificate of one run of the lab.
type authority struct {
	lab    Lab
	cert   *x509.Certificate
	key    crypto.Signer
	pem    []byte
	serial int64
}

// identity is what a certificate says of its owner.
type identity struct {
	user   string
	groups []string
	names  []string
	ips    []string
}

// writePKI creates the keys and kubeconfigs of all components.
func (l Lab) writePKI() error {
	if err := os.MkdirAll(l.path("pki"), 0o700); err != nil {
		return err
	}
	a, err := newAuthority(l)
	if err != nil {
		return err
	}
	if err := a.account("sa"); err != nil {
		return err
	}
	pairs := map[string]identity{
		"apiserver":         {user: "kube-apiserver", names: []string{"kubernetes", "localhost"}, ips: []string{HostIP, "127.0.0.1", "10.96.0.1"}},
		"apiserver-kubelet": {user: "kube-apiserver", groups: []string{"system:masters"}},
	}
	users := map[string]identity{
		"admin":     {user: "admin", groups: []string{"system:masters"}},
		"manager":   {user: "system:kube-controller-manager"},
		"scheduler": {user: "system:kube-scheduler"},
		"oncall":    {user: "oncall"}, // without any right, until a test grants some
	}
	for _, n := range Nodes {
		pairs["kubelet-"+n.Name] = identity{user: n.Name, names: []string{n.Name}, ips: []string{n.IP}}
		users["node-"+n.Name] = identity{user: "system:node:" + n.Name, groups: []string{"system:nodes"}}
	}
	for name, id := range pairs {
		if _, _, err := a.pair(name, id); err != nil {
			return err
		}
	}
	for name, id := range users {
		if err := a.kubeconfig(name, id); err != nil {
			return err
		}
	}
	return nil
}

func newAuthority(l Lab) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	a := &authority{lab: l, key: key, serial: 1}
	template := a.template(identity{user: "lab"})
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage |= x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, err
	}
	a.pem = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return a, os.WriteFile(l.path("pki", "ca.crt"), a.pem, 0o600)
}

func (a *authority) template(id identity) *x509.Certificate {
	a.serial++
	t := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial),
		Subject:      pkix.Name{CommonName: id.user, Organization: id.groups},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(48 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		DNSNames:     id.names,
	}
	for _, ip := range id.ips {
		t.IPAddresses = append(t.IPAddresses, net.ParseIP(ip))
	}
	return t
}

// pair writes NAME.crt and NAME.key.
func (a *authority) pair(name string, id identity) (cert, key []byte, err error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, a.template(id), a.cert, k.Public(), a.key)
	if err != nil {
		return nil, nil, fmt.Errorf("sign %s: %w", name, err)
	}
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if key, err = encodeKey(k); err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(a.lab.path("pki", name+".crt"), cert, 0o600); err != nil {
		return nil, nil, err
	}
	return cert, key, os.WriteFile(a.lab.path("pki", name+".key"), key, 0o600)
}

// account writes the key that signs tokens of service accounts, both halves.
func (a *authority) account(name string) error {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	key, err := encodeKey(k)
	if err != nil {
		return err
	}
	return os.WriteFile(a.lab.path("pki", name+".key"), key, 0o600)
}

func encodeKey(k *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

const kubeconfigForm = `apiVersion: v1
kind: Config
current-context: lab
contexts: [{name: lab, context: {cluster: lab, user: %[1]s}}]
clusters: [{name: lab, cluster: {server: "%[2]s", certificate-authority-data: %[3]s}}]
users: [{name: %[1]s, user: {client-certificate-data: %[4]s, client-key-data: %[5]s}}]
`

func (a *authority) kubeconfig(name string, id identity) error {
	cert, key, err := a.pair("client-"+name, id)
	if err != nil {
		return err
	}
	b64 := base64.StdEncoding.EncodeToString
	text := fmt.Sprintf(kubeconfigForm, name, API, b64(a.pem), b64(cert), b64(key))
	return os.WriteFile(a.lab.Kubeconfig(name), []byte(text), 0o600)
}
