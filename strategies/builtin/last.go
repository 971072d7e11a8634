package builtin

import (
	"context"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// opponents keeps one state for every opponent, made when it is first asked
// for. The zero S is the state of an opponent never met.
//
// The lookup is on the path of every call, so the ids of a league.v2 field,
// "P01" to "P999", are read as numbers and index a slice; any other id, and a
// number beyond the field, goes through a map.
type opponents[S any] struct {
	numbered []S
	named    map[string]*S
}

func newOpponents[S any](field []string) opponents[S] {
	return opponents[S]{numbered: make([]S, len(field)+1)} // ids count from 1
}

// at returns the state of an opponent. The empty id, for an opponent who is not known, is an id
// like any other. The pointer stays good for the seat's life.
func (o *opponents[S]) at(id string) *S {
	if n := twoDigits(id); uint(n) < uint(len(o.numbered)) {
		return &o.numbered[n]
	}
	return o.atOther(id)
}

// atOther is at for the ids that are not two digits.
func (o *opponents[S]) atOther(id string) *S {
	if n := threeDigits(id); uint(n) < uint(len(o.numbered)) {
		return &o.numbered[n]
	}
	if s, ok := o.named[id]; ok {
		return s
	}
	if o.named == nil {
		o.named = make(map[string]*S)
	}
	s := new(S)
	o.named[id] = s
	return s
}

// twoDigits returns the n of which id is the game.PlayerID, "P00" to "P99", or -1. It is apart from
// threeDigits, and has no loop, so that the compiler makes it part of the lookup.
func twoDigits(id string) int {
	if len(id) != 3 || id[0] != 'P' {
		return -1
	}
	tens, ones := id[1]-'0', id[2]-'0'
	if tens > 9 || ones > 9 {
		return -1
	}
	return int(tens)*10 + int(ones)
}

// threeDigits returns the n of which id is the game.PlayerID, "P100" to "P999", or -1.
func threeDigits(id string) int {
	if len(id) != 4 || id[0] != 'P' || id[1] == '0' {
		return -1
	}
	n := 0
	for _, c := range []byte(id[1:]) {
		digit := c - '0'
		if digit > 9 {
			return -1
		}
		n = n*10 + int(digit)
	}
	return n
}

// copyLast plays what the opponent played in their last match, and at random before that:
// Rapoport's tit for tat (Axelrod, The Evolution of Cooperation, 1984), which here coordinates with
// nobody who stands still and with everybody who alternates.
type copyLast struct{ learner[game.Parity] }

var copyLastFactory = define("copy-last", "What the opponent played last",
	"Repeats the opponent's last choice; the first is random. It differs from opponents that change in every match. "+
		"Source: Rapoport's tit for tat, Axelrod 1984.",
	func(s strategies.Setup) strategies.Strategy { return &copyLast{newLearner[game.Parity](s)} })

func (c *copyLast) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return play(*c.memory.at(t.Opponent), c.rnd), nil
}

func (c *copyLast) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.OpponentChoice != game.NoParity {
		*c.memory.at(o.Opponent) = o.OpponentChoice
	}
	return nil
}

// oppositeLast plays the opposite of what the opponent played in their last match, and at random
// before that: the myopic best reply of Cournot (Recherches sur les principes mathématiques de la
// théorie des richesses, 1838, chapter 7).
type oppositeLast struct{ copyLast }

var oppositeLastFactory = define("opposite-last", "The opposite of what the opponent played last",
	"Replies to the opponent's last choice as if it were the next; the first choice is random. It differs from "+
		"opponents that never change. Source: the myopic best reply of Cournot 1838.",
	func(s strategies.Setup) strategies.Strategy {
		return &oppositeLast{copyLast{newLearner[game.Parity](s)}}
	})

func (c *oppositeLast) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return play(c.memory.at(t.Opponent).Opposite(), c.rnd), nil
}

// stayOrFlip repeats its choice after a match in which the choices differed, and otherwise changes
// it with probability one half: learning by trial until players are coordinated, then standing
// still (Crawford and Haller, Learning How to Cooperate, Econometrica 58, 1990). Two of them first
// differ in their k-th match with probability 2^-k, and then for ever.
type stayOrFlip struct {
	learner[game.Parity] // what differed last time, or no parity
}

var stayOrFlipFactory = define("stay-or-flip", "Stays where the choices differed, otherwise flips a coin",
	"Keeps a choice that differed from the opponent's and gives up any other with probability one half. Two of them "+
		"find differing choices within two matches on average and keep them. Source: Crawford and Haller 1990.",
	func(s strategies.Setup) strategies.Strategy { return &stayOrFlip{newLearner[game.Parity](s)} })

// Choose tosses where it does not stay: to flip a choice with probability one
// half is to choose again.
func (c *stayOrFlip) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return play(*c.memory.at(t.Opponent), c.rnd), nil
}

func (c *stayOrFlip) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.Choice == game.NoParity || o.OpponentChoice == game.NoParity {
		return nil
	}
	stay := game.NoParity
	if o.Choice != o.OpponentChoice {
		stay = o.Choice
	}
	*c.memory.at(o.Opponent) = stay
	return nil
}
