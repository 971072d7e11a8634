package cluster_test

import (
	"context"
	"fmt"

	"github.com/strategylab/strategylab/experiments"
	"github.com/strategylab/strategylab/experiments/cluster"
	"github.com/strategylab/strategylab/experiments/cluster/broker"
)

// Example plays a plan with a broker and a worker in this process.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b, err := broker.Start(ctx, cluster.BrokerConfig{Listen: "127.0.0.1:0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer b.Close()
	link, err := cluster.Connect(ctx, cluster.Config{URL: b.URL(), Memory: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer link.Close()
	worker := make(chan error, 1)
	go func() { worker <- link.Serve(ctx, cluster.ServeConfig{Cores: 1, Name: "here", Open: open}) }()

	plan := planOf(100)
	run, err := link.Coordinate(ctx, cluster.RunConfig{Plan: plan})
	if err != nil {
		fmt.Println(err)
		return
	}
	played, err := experiments.Run(ctx, plan, run, experiments.Tee(), experiments.Config{Workers: cluster.MaxChunks})
	fmt.Println(played.Leagues, played.Matches, err)
	fmt.Println(run.Close())
	cancel()
	fmt.Println(<-worker)
	// Output:
	// 100 1200 <nil>
	// <nil>
	// <nil>
}
