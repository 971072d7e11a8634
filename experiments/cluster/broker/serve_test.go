package broker_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/experiments/cluster/broker"
)

// Example serves a broker until the input ends.
func Example() {
	in, settings := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- broker.Serve(in, out) }()
	if err := json.NewEncoder(settings).Encode(cluster.BrokerConfig{Listen: "127.0.0.1:0", Token: "secret"}); err != nil {
		fmt.Println(err)
		return
	}
	var ready cluster.BrokerReady
	fmt.Println(json.NewDecoder(answers).Decode(&ready), ready.Token)
	_ = settings.Close()
	fmt.Println(<-ended)
	_, err := net.Dial("tcp", ready.Address)
	fmt.Println(err != nil)
	// Output:
	// <nil> secret
	// <nil>
	// true
}

// TestServeRefuses has settings that are none, and a broker that cannot start.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "read settings: EOF", `{"Hosts":1}`: `unknown field "Hosts"`} {
		if err := broker.Serve(strings.NewReader(in), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
	for in, want := range map[string]string{`{"Listen":"x"}`: `start broker: address "x": `, `{"Listen":"127.0.0.1:0","Cert":"none"}`: "start broker: certificate: "} {
		var out strings.Builder
		var ready cluster.BrokerReady
		err := broker.Serve(strings.NewReader(in), &out)
		if perr := json.Unmarshal([]byte(out.String()), &ready); err != nil || perr != nil || !strings.HasPrefix(ready.Error, want) {
			t.Errorf("%s: %v, %v: %q, want %s", in, err, perr, out.String(), want)
		}
	}
}

// TestTokenStays has a broker keep its token in its folder.
func TestTokenStays(t *testing.T) {
	t.Parallel()
	dir, token := t.TempDir(), ""
	for range 2 {
		b, err := broker.Start(t.Context(), cluster.BrokerConfig{Listen: "127.0.0.1:0", Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if token != "" && token != b.Token() {
			t.Errorf("the token %s becomes %s", token, b.Token())
		}
		token = b.Token()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}
