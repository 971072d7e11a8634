package strategytest

import (
	"context"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
)

const (
	// hostileTime and hungryTime are time budgets far below the default,
	// because there are many such behaviours and most of them use it up.
	hostileTime = 60 * time.Millisecond
	hungryTime  = 100 * time.Millisecond
	// hostileAtOnce is how many behaviours are let loose at the same time.
	hostileAtOnce = 4
	// mostHeap is how much the heap of the process may grow in one match.
	mostHeap = 512 << 20
	// heapEvery is the time between two looks at the heap.
	heapEvery = 2 * time.Millisecond
)

// checkHostile lets each behaviour do its worst for one match. Whatever it
// answers, it has to end.
//
// Several do so at once, since a time budget is mostly spent waiting for others
// where there are few processors.
func checkHostile(ctx context.Context, p *probe) {
	alone := make([]*probe, len(p.subject.Hostile))
	var all sync.WaitGroup
	places := make(chan struct{}, hostileAtOnce)
	for i, h := range p.subject.Hostile {
		alone[i] = &probe{subject: p.subject, id: p.id}
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			alone[i].unleash(ctx, h, budget.Limits{Time: hostileTime})
		})
	}
	all.Wait()
	for _, one := range alone {
		p.tried += one.tried
		p.findings = append(p.findings, one.findings...)
	}
}

// checkHungry does the same for those who are after the memory of the host. It
// has to live, too.
func checkHungry(ctx context.Context, p *probe) {
	for _, h := range p.subject.Hungry {
		runtime.GC() // what others left behind is not counted against it
		grown := watchHeap(ctx)
		p.unleash(ctx, h, budget.Limits{Time: hungryTime})
		if most := grown(); most > mostHeap {
			p.fail(h.Name, "the heap grew by %d MiB, want at most %d", most>>20, mostHeap>>20)
		}
	}
}

func (p *probe) unleash(ctx context.Context, h Named, l budget.Limits) {
	e := ending{limits: l, enter: context.WithCancel}
	p.with(h.Name, h.Make, e.limits, func(f strategies.Factory) {
		_, _ = p.bounded(ctx, e, h.Name, func(ctx context.Context) error {
			_, err := moves(ctx, f, game.Key{1, 2}, 1)
			return err
		})
	})
}

// watchHeap looks at the heap of the process until the function it returns is
// called, which tells by how much it had grown at most.
func watchHeap(ctx context.Context) (grown func() uint64) {
	ctx, cancel := context.WithCancel(ctx)
	before := heap()
	most := make(chan uint64)
	go func() {
		peak := before
		for ctx.Err() == nil {
			tick, stop := context.WithTimeout(ctx, heapEvery)
			<-tick.Done()
			stop()
			peak = max(peak, heap())
		}
		most <- peak - before
	}()
	return func() uint64 { cancel(); return <-most }
}

// heap returns the bytes of all objects that are alive or not yet swept.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
