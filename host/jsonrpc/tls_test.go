package jsonrpc_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/host/jsonrpc"
)

// certificate writes a certificate for 127.0.0.1 and returns the paths and a pool that
// trusts it.
func certificate(t *testing.T) (certFile, keyFile string, trust *x509.CertPool) {
	t.Helper()
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	key, err := x509.MarshalPKCS8PrivateKey(srv.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	trust = x509.NewCertPool()
	trust.AddCert(srv.Certificate())
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("cert.pem", "CERTIFICATE", srv.Certificate().Raw), write("key.pem", "PRIVATE KEY", key), trust
}

func TestTLS(t *testing.T) {
	t.Parallel()
	certFile, keyFile, trust := certificate(t)
	var log logBuffer
	srv := startHTTP(t, jsonrpc.Config{TLSCert: certFile, TLSKey: keyFile, Logger: log.logger()}, echo)
	if !strings.HasPrefix(srv.URL(), "https://127.0.0.1:") {
		t.Errorf("URL = %s", srv.URL())
	}
	friend := jsonrpc.NewClient(jsonrpc.OverTLS(&tls.Config{RootCAs: trust}), jsonrpc.ClientConfig{})
	defer friend.Close()
	for range 3 {
		if _, err := friend.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "m"}); err != nil {
			t.Fatal(err)
		}
	}
	stranger := newClient(t, jsonrpc.ClientConfig{})
	_, err := stranger.Call(t.Context(), srv.URL(), jsonrpc.Message{Method: "m"})
	if kindOf(err) != jsonrpc.ErrConnect || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without trust: %v, want ErrConnect that names the certificate", err)
	}
	if !eventually(func() bool { return strings.Contains(log.String(), "TLS handshake error") }) {
		t.Errorf("the log does not tell of the failed handshake: %s", log.String())
	}
}
