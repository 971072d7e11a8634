package command

import (
	"cmp"
	"errors"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/experiments/cluster"
)

// ClusterAccess says how to connect to a cluster, beside --cluster.
type ClusterAccess struct {
	Creds  string `flag:"cluster-creds FILE" usage:"NATS credentials"`
	CA     string `flag:"cluster-ca FILE" usage:"certificate authorities to trust, in PEM"`
	Cert   string `flag:"cluster-cert FILE" usage:"client certificate in PEM"`
	Key    string `flag:"cluster-key FILE" usage:"the client certificate's key in PEM"`
	Prefix string `flag:"cluster-prefix NAME" default:"strategylab" usage:"first words of all NATS subjects"`
}

// Config returns how to reach the broker at a URL.
func (a *ClusterAccess) Config(p *Process, c *cli.Context, url string) (cluster.Config, error) {
	config := cluster.Config{URL: url, Creds: p.Path(a.Creds), CA: p.Path(a.CA), Cert: p.Path(a.Cert), Key: p.Path(a.Key), Prefix: a.Prefix, Name: "strategylab " + Name(c)}
	if !strings.Contains(url, "://") {
		return config, Usagef("--cluster is %q, want a URL such as nats://TOKEN@HOST:4222", url)
	}
	return config, nil
}

// ClusterError adds what to do to an error of a connection to a broker.
func ClusterError(err error) error {
	var refused *cluster.RefusedError
	if errors.As(err, &refused) && refused.Hint != "" {
		return Advise(err, "%s", refused.Hint)
	}
	return err
}

// Machine returns the name of this machine, for people.
func Machine() string {
	name, _ := os.Hostname()
	return cmp.Or(name, "unknown")
}
