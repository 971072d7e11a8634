package conformance_test

import (
	"slices"
	"testing"
	"time"

	"github.com/strategylab/strategylab/host/conformance"
	"github.com/strategylab/strategylab/host/conformance/kit"
)

// TestRefereeMutants has, for every check, a referee that fails it and no other.
func TestRefereeMutants(t *testing.T) {
	t.Parallel()
	examineMutants(t, kit.Referee, refereeMutants, refereeSilence, func(mu mutant) maker {
		if slices.Contains(inSilence, mu.check) {
			return aReferee(mu.scale, refereeDeadline)
		}
		return aReferee(mu.scale, refereePatience)
	})
}

// TestUnregisteredReferee checks a referee that does not register: what cannot be
// tested is left out, and said so.
func TestUnregisteredReferee(t *testing.T) {
	t.Parallel()
	r := examined(t, kit.Referee, func(s scale) (*testAgent, error) {
		return mutated(mutant{out: replaces(isType(refereeRegistration), acceptsReferee)}, aReferee(s, refereePatience))
	}, failing(), func(s scale, o *kit.Config) { o.Wait, o.Timeout = s.of(time.Second), s.of(refereeSilence) })
	onlyUntested(t, r, "referee.round.plays")
	if slices.Contains(idsWith(r, kit.Skipped), "referee.hostile.json") {
		t.Error("referee.hostile.json is skipped")
	}
}

// TestRefereeWithLongDeadlines checks a referee that gives players longer than
// anybody wants to wait: what depends on that is not tested, and said so.
func TestRefereeWithLongDeadlines(t *testing.T) {
	t.Parallel()
	want := []string{"referee.call.whole", "referee.fault.choice", "referee.fault.join", "referee.reply.late"}
	asWanted := func(r *conformance.Report) bool {
		skipped := idsWith(r, kit.Skipped)
		slices.Sort(skipped)
		return idsWith(r, kit.Failed) == nil && slices.Equal(skipped, want)
	}
	r := examined(t, kit.Referee, func(s scale) (*testAgent, error) { return mutated(mutant{}, aReferee(s, refereePatience)) }, asWanted, func(s scale, o *kit.Config) {
		o.Only, o.Timeout = append([]string{"referee.round.plays"}, want...), s.of(2*time.Second)
	})
	if !asWanted(r) {
		t.Errorf("failed %q, skipped %q, want %q\n%s", idsWith(r, kit.Failed), idsWith(r, kit.Skipped), want, explain(r))
	}
}
