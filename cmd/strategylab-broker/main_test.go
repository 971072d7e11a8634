package main

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/experiments/cluster"
)

// TestMain lets the test binary be the program.
func TestMain(m *testing.M) {
	if os.Getenv("STRATEGYLAB_TEST_MAIN") != "" {
		main()
		return
	}
	if err := os.Setenv("STRATEGYLAB_TEST_MAIN", "1"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestProgram starts the program as strategylab does, and connects to its broker.
func TestProgram(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	config := cluster.BrokerConfig{Listen: "0.0.0.0:0", Token: "secret"}
	b, err := cluster.StartBroker(t.Context(), os.Args[0], &stderr, config, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	if u, err := url.Parse(b.Local()); err != nil || u.Hostname() != "127.0.0.1" || u.User.Username() != "secret" {
		t.Errorf("this machine reaches the broker at %s, %v", b.Local(), err)
	}
	if u, err := url.Parse(b.URL()); err != nil || u.Hostname() != "0.0.0.0" || b.Token() != "secret" || !strings.HasSuffix(b.Address(), u.Port()) {
		t.Errorf("the broker is at %s, %v, and listens at %s with the token %q", b.URL(), err, b.Address(), b.Token())
	}
	l, err := cluster.Connect(t.Context(), cluster.Config{URL: b.Local()})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	again := cluster.BrokerConfig{Listen: b.Address()}
	if _, err := cluster.StartBroker(t.Context(), os.Args[0], nil, again, nil); err == nil || !strings.HasPrefix(err.Error(), "start broker on "+b.Address()+": ") {
		t.Errorf("a second broker there: %v", err)
	}
	if err := b.Close(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v: %s", err, stderr.String())
	}
}

// TestStartIsInterrupted starts a broker for somebody who does not wait for it.
func TestStartIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b, err := cluster.StartBroker(ctx, os.Args[0], nil, cluster.BrokerConfig{Listen: "127.0.0.1:0"}, func(err error) { t.Error(err) })
	if err == nil { // it may be ready at once
		err = b.Close()
	} else if errors.Is(err, context.Canceled) {
		err = nil
	}
	if err != nil {
		t.Error(err)
	}
}

// TestArguments has somebody run the program by hand.
func TestArguments(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), os.Args[0], "--help").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "run strategylab broker") {
		t.Errorf("%v: %s", err, out)
	}
}
