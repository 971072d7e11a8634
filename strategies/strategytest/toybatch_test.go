package strategytest_test

import (
	"context"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/batch"
)

// NewBatch makes every toy a Batcher.
func (f *toyFactory) NewBatch(ctx context.Context) (strategies.Batch, error) {
	b, err := batch.Of(alone{f}).NewBatch(ctx)
	return toyBatch{b, f.toy.bug}, err
}

// alone hides NewBatch.
type alone struct{ strategies.Factory }

// toyBatch is a batch with a bug.
type toyBatch struct {
	strategies.Batch
	bug string
}

func (b toyBatch) Step(ctx context.Context, s *strategies.Step) error {
	if b.bug == "batch-mixes-seats" {
		for i := range s.Choose {
			s.Choose[i].Seat = 0
		}
	}
	err := b.Batch.Step(ctx, s)
	if b.bug == "batch-drops" && len(s.Choices) > 1 {
		s.Choices = s.Choices[1:]
	}
	return err
}
