package builtin

import (
	"context"
	"math/bits"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
)

// longestMatch looks for the stretch of the past that repeats the present for longest and expects
// what came after it to come again, as in prediction from the longest matching suffix (Ehrenfeucht
// and Mycielski, A pseudorandom sequence, American Mathematical Monthly 99, 1992) and in Iocaine
// Powder, the winner of the first RoShamBo competition (Egnor, ICGA Journal 23(1), 2000), from
// which it takes the levels above.
//
// Like Iocaine Powder it matches on the opponent's choices, on its own, and on both together, adds
// plain frequencies, and uses each predictor twice: P, to predict the opponent, and P', to predict
// itself as an opponent with the same method would, and to meet the reply to that. Each further
// level of "he knows that I know" either confirms a guess or inverts it, for there are but two
// choices. So every guess has one running score, of how often it would have differed lately, and
// the strongest is followed or, if the score is negative, inverted. When its own choices have
// lately missed more often than a coin, it tosses one: the random guess with which Iocaine Powder
// cuts its losses, and what parts two copies that mirror each other.
type longestMatch struct{ learner[recall] }

var longestMatchFactory = define("longest-match", "Finds the longest repetition, and second-guesses itself",
	"Looks in the last 64 matches for the longest stretch that repeats the present one, on either player's choices and "+
		"on both, and follows or inverts whichever guess has lately been right. Source: Iocaine Powder, Egnor 2000; "+
		"longest-suffix prediction, Ehrenfeucht and Mycielski 1992.",
	func(s strategies.Setup) strategies.Strategy { return &longestMatch{newLearner[recall](s)} })

func (l *longestMatch) Choose(_ context.Context, t *strategies.Turn) (strategies.Choice, error) {
	return play(l.memory.at(t.Opponent).best(), l.rnd), nil
}

func (l *longestMatch) Observe(_ context.Context, o *strategies.Outcome) error {
	if o.Choice != game.NoParity && o.OpponentChoice != game.NoParity {
		l.memory.at(o.Opponent).add(o.Choice, o.OpponentChoice)
	}
	return nil
}

const (
	window  = 64 // matches recalled: two words, searched by shifting them
	guesses = 8

	// Scores are in units of 1/hit of a match, and forget with a horizon of 1<<horizonBits matches.
	// At giveUp, three misses in a row or as many more than hits of late, the coin takes over.
	hit         = 1 << 10
	horizonBits = 4
	giveUp      = -5 * hit / 2
)

// recall is what longestMatch knows of one opponent. Histories have the last
// match in the lowest bit, set for even.
type recall struct {
	own, opponent               uint64
	length                      int           // matches in the histories, at most window
	ownSurplus, opponentSurplus int32         // how many more times even than odd
	guess                       [guesses]int8 // what to play next, as sign has it
	score                       [guesses]int32
	self                        int32 // the score of its own choices
}

// best returns what the strongest guess says, or game.NoParity for a toss.
func (r *recall) best() game.Parity {
	if r.self <= giveUp {
		return game.NoParity
	}
	best, strength := int32(0), int32(-1)
	for i, g := range r.guess {
		s := r.score[i]
		if g == 0 || max(s, -s) <= strength {
			continue
		}
		best, strength = int32(g), max(s, -s)
		if s < 0 {
			best = -best
		}
	}
	return lean(best)
}

func (r *recall) add(own, opponent game.Parity) {
	o := sign(opponent)
	for i, g := range r.guess {
		r.score[i] = judged(r.score[i], int32(g), o)
	}
	r.self = judged(r.self, sign(own), o)

	r.own = r.own<<1 | bit(own)
	r.opponent = r.opponent<<1 | bit(opponent)
	r.length = min(r.length+1, window)
	r.ownSurplus += sign(own)
	r.opponentSurplus += o
	r.think()
}

// judged moves a score by whether a play differed from the opponent's.
func judged(score, played, opponent int32) int32 {
	return score - score>>horizonBits - played*opponent*hit
}

// think works out the guesses for the next match. The two of a predictor
// stand together: what it says the opponent will play, inverted; and what it
// says we shall play, for that is what the opponent means to differ from.
func (r *recall) think() {
	lags := r.lags()
	for k, lag := range lags {
		if lag == 0 {
			r.guess[2*k], r.guess[2*k+1] = 0, 0
			continue
		}
		r.guess[2*k] = -plusMinus(r.opponent >> (lag - 1))
		r.guess[2*k+1] = plusMinus(r.own >> (lag - 1))
	}
	r.guess[guesses-2] = -int8(sign(lean(r.opponentSurplus)))
	r.guess[guesses-1] = int8(sign(lean(r.ownSurplus)))
}

// plusMinus maps the lowest bit to 1 if set and -1 otherwise.
func plusMinus(w uint64) int8 { return int8(w&1)<<1 - 1 }

// lags returns how many matches ago the past was most like the present: for both players' choices
// together, for the opponent's, and for our own. The longest repetition counts, the most recent
// among equals; 0 means that none was found.
func (r *recall) lags() [3]int {
	var lags, longest [3]int
	for lag := 1; lag < r.length; lag++ {
		most := r.length - lag
		if most <= longest[0] { // so the others are no shorter
			break
		}
		opponent := r.opponent ^ r.opponent>>lag
		own := r.own ^ r.own>>lag
		for k, mismatch := range [3]uint64{own | opponent, opponent, own} {
			if n := min(bits.TrailingZeros64(mismatch), most); n > longest[k] {
				lags[k], longest[k] = lag, n
			}
		}
	}
	return lags
}
