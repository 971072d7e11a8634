package cluster_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"github.com/strategylab/strategylab/experiments/cluster"
)

// certificate writes a certificate for 127.0.0.1 that is its own authority, and its key.
func certificate(t *testing.T) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	write(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return certFile, keyFile
}

func write(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestTLS plays over TLS, and refuses a broker that no authority vouches for.
func TestTLS(t *testing.T) {
	t.Parallel()
	certFile, keyFile := certificate(t)
	b := startBroker(t, cluster.BrokerConfig{Cert: certFile, Key: keyFile})
	if !strings.HasPrefix(b.URL(), "tls://") {
		t.Fatalf("the URL is %s", b.URL())
	}
	_, err := cluster.Connect(t.Context(), cluster.Config{URL: b.URL()})
	var refused *cluster.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "certificate") || !strings.Contains(refused.Hint, "--cluster-ca") {
		t.Errorf("without the authority: %v", err)
	}
	l := link(t, cluster.Config{URL: b.URL(), CA: certFile})
	serveOn(t, link(t, cluster.Config{URL: b.URL(), CA: certFile}), func(*cluster.ServeConfig) {})
	plan := planOf(20)
	if out, _, err := coordinate(t, l, cluster.RunConfig{Plan: plan}); err != nil || out.Digest != here(t, plan).Digest {
		t.Errorf("%+v, %v", out, err)
	}
}

// allowed are the subjects of an experiment and its workers with the prefix lab, as an
// administrator gives them to an account.
func allowed() []string {
	list := []string{"lab.>", "$JS.API.INFO", "$JS.ACK.>", "$JS.FC.>", "$KV.lab_runs.>", "$O.lab_code.>", "_INBOX.>"}
	for _, stream := range []string{"lab_chunks", "lab_records", "KV_lab_runs", "OBJ_lab_code"} {
		for _, call := range []string{"STREAM.CREATE", "STREAM.INFO", "STREAM.PURGE", "STREAM.MSG.GET", "STREAM.MSG.DELETE", "DIRECT.GET"} {
			list = append(list, "$JS.API."+call+"."+stream)
		}
		list = append(list, "$JS.API.DIRECT.GET."+stream+".>", "$JS.API.CONSUMER.*."+stream+".>", "$JS.API.CONSUMER.*.*."+stream+".>")
	}
	return list
}

// official starts the nats-server of the module with TLS and accounts, and returns its
// address and the credentials file of a user who may use the prefix lab.
func official(t *testing.T, certFile, keyFile string) (url, creds string) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "nats-server")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Fatalf("build nats-server: %v: %s", err, out)
	}
	pair := func(make func() (nkeys.KeyPair, error)) (nkeys.KeyPair, string) {
		k, err := make()
		if err != nil {
			t.Fatal(err)
		}
		public, err := k.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return k, public
	}
	encode := func(claims jwt.Claims, k nkeys.KeyPair) string {
		text, err := claims.Encode(k)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	operator, operatorID := pair(nkeys.CreateOperator)
	_, systemID := pair(nkeys.CreateAccount)
	account, accountID := pair(nkeys.CreateAccount)
	user, userID := pair(nkeys.CreateUser)
	accountClaims := jwt.NewAccountClaims(accountID)
	accountClaims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	userClaims := jwt.NewUserClaims(userID)
	userClaims.Pub.Allow, userClaims.Sub.Allow = allowed(), jwt.StringList{"_INBOX.>", "lab.>", "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.lab_chunks.*"}
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(encode(userClaims, account), seed)
	if err != nil {
		t.Fatal(err)
	}
	creds = filepath.Join(dir, "lab.creds")
	write(t, creds, text)
	config := filepath.Join(dir, "server.conf")
	write(t, config, fmt.Appendf(nil, `
listen: "127.0.0.1:-1"
ports_file_dir: %q
jetstream { store_dir: %q }
tls { cert_file: %q, key_file: %q }
operator: %s
system_account: %s
resolver: MEMORY
resolver_preload { %s: %s, %s: %s }
`, dir, filepath.Join(dir, "data"), certFile, keyFile, encode(jwt.NewOperatorClaims(operatorID), operator), systemID,
		systemID, encode(jwt.NewAccountClaims(systemID), operator), accountID, encode(accountClaims, operator)))
	server := exec.Command(program, "-c", config)
	var log strings.Builder
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-ended
	})
	ports := filepath.Join(dir, fmt.Sprintf("nats-server_%d.ports", server.Process.Pid))
	for {
		text, err := os.ReadFile(ports)
		var listens struct{ NATS []string }
		if err == nil && json.Unmarshal(text, &listens) == nil && len(listens.NATS) > 0 {
			return "tls://" + listens.NATS[0][strings.LastIndex(listens.NATS[0], "/")+1:], creds
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("nats-server: %v: %s", err, log.String())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// TestOfficialServer plays on the nats-server binary, as a user who has credentials and
// may use one prefix only.
func TestOfficialServer(t *testing.T) {
	t.Parallel()
	if os.Getenv("WHOLE_TESTS") == "" {
		t.Skip("WHOLE_TESTS is not set")
	}
	certFile, keyFile := certificate(t)
	url, creds := official(t, certFile, keyFile)
	if _, err := cluster.Connect(t.Context(), cluster.Config{URL: url, CA: certFile}); err == nil || !strings.Contains(err.Error(), "it refuses the token or credentials") {
		t.Errorf("without credentials: %v", err)
	}
	other := link(t, cluster.Config{URL: url, CA: certFile, Creds: creds, Prefix: "other"})
	if _, err := other.Coordinate(t.Context(), cluster.RunConfig{Plan: planOf(10), Version: "test"}); err == nil || !strings.Contains(err.Error(), `does not allow the prefix "other"`) {
		t.Errorf("another prefix: %v", err)
	}
	if err := other.Serve(t.Context(), cluster.ServeConfig{Cores: 1, Name: "test", Version: "test", Open: open}); err == nil || !strings.Contains(err.Error(), `does not allow the prefix "other"`) {
		t.Errorf("a worker with another prefix: %v", err)
	}
	own := cluster.Config{URL: url, CA: certFile, Creds: creds, Prefix: "lab"}
	serveOn(t, link(t, own), func(*cluster.ServeConfig) {})
	plan := planOf(100)
	if out, _, err := coordinate(t, link(t, own), cluster.RunConfig{Plan: plan}); err != nil || out.Digest != here(t, plan).Digest {
		t.Errorf("%+v, %v", out, err)
	}
}
