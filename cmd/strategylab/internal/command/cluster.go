package command

import (
	"cmp"
	"errors"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/experiments/cluster"
)

// Flags that say how to reach a cluster. [ClusterConfig] reads them.
const (
	FlagCluster       = "cluster"
	FlagClusterCreds  = "cluster-creds"
	FlagClusterCA     = "cluster-ca"
	FlagClusterCert   = "cluster-cert"
	FlagClusterKey    = "cluster-key"
	FlagClusterPrefix = "cluster-prefix"
)

// ClusterFlags are the flags of a connection to a cluster, beside --cluster.
func ClusterFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: FlagClusterCreds, Usage: "`FILE`: NATS credentials"},
		&cli.StringFlag{Name: FlagClusterCA, Usage: "`FILE`: certificate authorities to trust, in PEM"},
		&cli.StringFlag{Name: FlagClusterCert, Usage: "`FILE`: client certificate in PEM"},
		&cli.StringFlag{Name: FlagClusterKey, Usage: "`FILE`: the client certificate's key in PEM"},
		&cli.StringFlag{Name: FlagClusterPrefix, Value: cluster.DefaultPrefix, Usage: "`NAME`: first words of all NATS subjects"},
	}
}

// ClusterFlag is the broker of a cluster that is running.
func ClusterFlag() cli.Flag {
	return &cli.StringFlag{Name: FlagCluster, Usage: "`URL`: broker, such as nats://TOKEN@HOST:4222 or tls://HOST:4222"}
}

// ClusterConfig returns how to reach the broker at a URL.
func ClusterConfig(p *Process, c *cli.Context, url string) (cluster.Config, error) {
	config := cluster.Config{
		URL: url, Creds: p.Path(c.String(FlagClusterCreds)), CA: p.Path(c.String(FlagClusterCA)), Cert: p.Path(c.String(FlagClusterCert)),
		Key: p.Path(c.String(FlagClusterKey)), Prefix: c.String(FlagClusterPrefix), Name: "strategylab " + Name(c),
	}
	if (config.Cert == "") != (config.Key == "") {
		return config, Usagef("--%s and --%s need each other", FlagClusterCert, FlagClusterKey)
	}
	if !strings.Contains(url, "://") {
		return config, Usagef("--%s is %q, want a URL such as nats://TOKEN@HOST:4222", FlagCluster, url)
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
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return cmp.Or(name, "unknown")
}
