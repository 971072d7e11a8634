package strategytest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// sample is how many choices are compared: two random series of this length
// agree with a chance of 2^-32.
const sample = 32

// movesOf is moves; a failure is reported and yields nil.
func (p *probe) movesOf(ctx context.Context, name string, f strategies.Factory, key game.Key) []strategies.Choice {
	got, err := moves(ctx, f, key, sample)
	if err != nil {
		p.fail(name, "after %d matches: %v", len(got), err)
		return nil
	}
	return got
}

func checkInfo(_ context.Context, p *probe) {
	p.with("Random", p.subject.Random, roomy, func(f strategies.Factory) {
		info := f.Info()
		if info.Name == "" || info.Fingerprint == "" {
			p.fail("Random", "Info() = %+v, want a name and a fingerprint", info)
		}
		if p.subject.Kind != "" && info.Kind != p.subject.Kind {
			p.fail("Random", "Info().Kind = %q, want %q", info.Kind, p.subject.Kind)
		}
		if again := f.Info(); again != info {
			p.fail("Random", "Info() changes: first %+v, then %+v", info, again)
		}
	})
}

func checkSeed(ctx context.Context, p *probe) {
	p.with("Random", p.subject.Random, roomy, func(f strategies.Factory) {
		first := p.movesOf(ctx, "Random", f, game.Key{1, 2})
		again := p.movesOf(ctx, "Random", f, game.Key{1, 2})
		other := p.movesOf(ctx, "Random", f, game.Key{2, 2})
		if first == nil || again == nil || other == nil {
			return
		}
		if !slices.Equal(first, again) {
			p.fail("Random", "the same key gave two games:\n %v\n %v", first, again)
		}
		if slices.Equal(first, other) {
			p.fail("Random", "two keys gave the same %d choices: %v", sample, first)
		}
	})
}

// checkOwnMatch compares a seat that has played from the beginning with one
// that comes in halfway, as a replaced player does.
func checkOwnMatch(ctx context.Context, p *probe) {
	p.seated(ctx, "Random", p.subject.Random, roomy, func(whole *player) {
		all, err := play(ctx, whole, 0, sample)
		if err != nil {
			p.fail("Random", "%v", err)
			return
		}
		p.seated(ctx, "Random", p.subject.Random, roomy, func(late *player) {
			second, err := play(ctx, late, sample/2, sample)
			if err != nil {
				p.fail("Random", "%v", err)
			} else if !slices.Equal(second, all[sample/2:]) {
				p.fail("Random", "choices depend on earlier matches:\n %v\n %v", all[sample/2:], second)
			}
		})
	})
}

func checkUnseeded(ctx context.Context, p *probe) {
	for _, u := range p.subject.Unseeded {
		p.with(u.Name, u.Make, roomy, func(f strategies.Factory) {
			first := p.movesOf(ctx, u.Name, f, game.Key{1, 2})
			again := p.movesOf(ctx, u.Name, f, game.Key{1, 2})
			if !slices.Equal(first, again) {
				p.fail(u.Name, "the same key gave two games:\n %v\n %v", first, again)
			}
			// A second factory stands for a second run of the program.
			p.with(u.Name, u.Make, roomy, func(g strategies.Factory) {
				if other := p.movesOf(ctx, u.Name, g, game.Key{1, 2}); !slices.Equal(first, other) {
					p.fail(u.Name, "compiled twice, the same key gave two games:\n %v\n %v", first, other)
				}
			})
		})
	}
}

func checkConcurrent(ctx context.Context, p *probe) {
	p.with("Random", p.subject.Random, roomy, func(f strategies.Factory) {
		const seats = 8
		var alone, together [seats][]strategies.Choice
		for i := range seats {
			alone[i] = p.movesOf(ctx, "Random", f, game.Key{uint64(i), 7})
		}
		var errs [seats]error
		var seated, done sync.WaitGroup
		seated.Add(seats) // all are open before the first is asked
		for i := range seats {
			done.Go(func() {
				s, err := sit(ctx, f, setup(), game.Key{uint64(i), 7})
				seated.Done()
				if err != nil {
					errs[i] = err
					return
				}
				seated.Wait()
				together[i], errs[i] = play(ctx, s, 0, sample)
				errs[i] = errors.Join(errs[i], s.Close())
			})
		}
		done.Wait()
		for i := range seats {
			if errs[i] != nil {
				p.fail("Random", "beside other seats: %v", errs[i])
			} else if !slices.Equal(alone[i], together[i]) {
				p.fail("Random", "alone and beside other seats it plays differently:\n %v\n %v", alone[i], together[i])
			}
		}
	})
}

// checkFreshSeat has two seats remember at once, and a third after both.
func checkFreshSeat(ctx context.Context, p *probe) {
	want := []strategies.Choice{strategies.Even, strategies.Odd, strategies.Odd}
	p.with("Memory", p.subject.Memory, roomy, func(f strategies.Factory) {
		s, err := sit(ctx, f, setup(), game.Key{1, 2})
		if err != nil {
			p.fail("Memory", "New = %v, want a seat", err)
			return
		}
		first, err := play(ctx, s, 0, len(want))
		if err != nil || !slices.Equal(first, want) {
			p.fail("Memory", "a first seat chose %v (%v), want %v: it does not remember", first, err, want)
		}
		if beside, err := moves(ctx, f, game.Key{1, 2}, len(want)); err != nil || !slices.Equal(beside, want) {
			p.fail("Memory", "a seat beside another chose %v (%v), want %v", beside, err, want)
		}
		p.leave("Memory", s)
		if after, err := moves(ctx, f, game.Key{1, 2}, len(want)); err != nil || !slices.Equal(after, want) {
			p.fail("Memory", "a seat after another chose %v (%v), want %v", after, err, want)
		}
	})
}
