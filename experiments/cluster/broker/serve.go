package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/strategylab/strategylab/experiments/cluster"
)

// Serve runs a broker for cluster.StartBroker in another process, which sends the settings
// over in and receives address and token over out. The broker ends when in does: that also
// happens if the other process is killed, on every system.
func Serve(in io.Reader, out io.Writer) error {
	lines := json.NewDecoder(in)
	lines.DisallowUnknownFields() // a program of another version must not misunderstand them
	var c cluster.BrokerConfig
	if err := lines.Decode(&c); err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer cancel()
		_, _ = io.Copy(io.Discard, in) // any end is the end
	}()
	var ready cluster.BrokerReady
	b, err := Start(ctx, c)
	if err != nil {
		ready.Error = err.Error()
	} else {
		ready = cluster.BrokerReady{URL: b.URL(), Address: b.Address(), Token: b.Token()}
	}
	err = json.NewEncoder(out).Encode(ready)
	<-ended
	if b == nil {
		return err
	}
	return b.Close() // nobody is left to read why out has failed
}
