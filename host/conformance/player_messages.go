package conformance

import (
	"fmt"
	"time"

	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
)

// playerT is what a check of a player works with.
type playerT struct {
	*T
	*playerSide
}

// forPlayer makes a check's function of one that is given the player's side.
func forPlayer(run func(p playerT)) func(*T) {
	return func(t *T) { run(playerT{t, t.side.(*playerSide)}) }
}

// apart is T.apart for a check of a player.
func (p playerT) apart(do func(p playerT)) (wait func()) {
	return p.T.apart(func(t *T) { do(playerT{t, p.playerSide}) })
}

// accepted is T.accepted. A player that is not registered here may well refuse
// what it is sent: it knows another manager, or none.
func (p playerT) accepted(a *Answer, want protocol.Type) {
	if a.Refused && !p.registered() {
		p.Skip("it is not registered with this manager and answers with %s; start it with the manager %s, so that it knows who speaks", a, p.manager.url)
	}
	p.T.accepted(a, want)
}

// bout is a match of the player under test.
type bout struct {
	id           string
	round        int
	conversation string
	referee      string
	opponent     string
}

// bout begins a match of its own for a check, in a round of its own, which is
// announced. What the player makes of the announcement is no matter here.
func (p playerT) bout() bout {
	p.mu.Lock()
	p.rounds++
	b := bout{
		id: roundMatch(p.rounds), round: p.rounds, conversation: jsonrpc.RandomID(),
		referee: ownReferee, opponent: opponentOf(p.id),
	}
	mute := p.mute
	p.mu.Unlock()
	if mute {
		return b
	}
	own := &T{ctx: p.ctx, counter: p.counter, side: p.side} // no evidence of the check
	a := own.Send(letter{message: p.announcement(b), dialect: p.dialect})
	if a.Err != nil {
		p.mu.Lock()
		p.mute = true
		p.mu.Unlock()
		p.unreachable = p.unreachable || own.unreachable
	}
	return b
}

// roundMatch is the id of the match of a round.
func roundMatch(round int) string { return fmt.Sprintf("R%dM1", round) }

// send sends a message in the dialect that the player registered in.
func (p playerT) send(m protocol.Message) *Answer {
	return p.deliver(letter{message: m, dialect: p.dialect})
}

// edited sends a message after changing its members.
func (p playerT) edited(m protocol.Message, edit func(map[string]any)) *Answer {
	return p.deliver(letter{message: m, dialect: p.dialect, edit: edit})
}

// fromManager is the header of a message of the manager.
func (p playerT) fromManager(t protocol.Type, round int) protocol.Header {
	h := protocol.NewHeader(t, "league_manager", protocol.Timestamp(time.Now()), jsonrpc.RandomID())
	h.LeagueID, h.RoundID = p.league, protocol.RoundNumber(round)
	if !p.keyless() {
		h.AuthToken = p.verifier.ManagerToken(p.league)
	}
	return h
}

// fromReferee is the header of a message of the match's referee.
func (p playerT) fromReferee(t protocol.Type, b bout) protocol.Header {
	h := protocol.NewHeader(t, protocol.Sender(protocol.RoleReferee, b.referee), protocol.Timestamp(time.Now()), b.conversation)
	h.LeagueID, h.RoundID, h.MatchID, h.GameType = p.league, protocol.RoundNumber(b.round), b.id, protocol.GameEvenOdd
	if !p.keyless() {
		h.AuthToken = p.verifier.MatchKeys(p.league, b.id, b.referee).Send
	}
	return h
}

func (p playerT) announcement(b bout) *protocol.RoundAnnouncement {
	return &protocol.RoundAnnouncement{Header: p.fromManager(protocol.TypeRoundAnnouncement, b.round), Matches: []protocol.AnnouncedMatch{{
		MatchID: b.id, GameType: protocol.GameEvenOdd, PlayerAID: p.id, PlayerBID: b.opponent, RefereeID: b.referee,
		RefereeEndpoint: p.manager.url,
	}}}
}

func standings(ids ...string) []protocol.Standing {
	var out []protocol.Standing
	for i, id := range ids {
		out = append(out, protocol.Standing{
			Rank: i + 1, PlayerID: id, DisplayName: id, Played: protocol.Some(1), Wins: protocol.Some(0), Draws: protocol.Some(1), Losses: protocol.Some(0), Points: 1,
		})
	}
	return out
}

func (p playerT) standings() *protocol.LeagueStandingsUpdate {
	return &protocol.LeagueStandingsUpdate{Header: p.fromManager(protocol.TypeLeagueStandingsUpdate, 1), Standings: standings(p.id, opponentOf(p.id))}
}

func (p playerT) roundCompleted() *protocol.RoundCompleted {
	one, none := protocol.Some(1), protocol.Some(0)
	return &protocol.RoundCompleted{
		Header: p.fromManager(protocol.TypeRoundCompleted, 1), MatchesCompleted: one, MatchesPlayed: one, NextRoundID: protocol.RoundNumber(2),
		Summary: &protocol.RoundSummary{TotalMatches: one, Wins: none, Draws: one, TechnicalLosses: none},
	}
}

func (p playerT) leagueCompleted() *protocol.LeagueCompleted {
	p.mu.Lock()
	rounds := max(p.rounds, 1)
	p.mu.Unlock()
	m := &protocol.LeagueCompleted{
		Header: p.fromManager(protocol.TypeLeagueCompleted, rounds), TotalRounds: protocol.Some(rounds), TotalMatches: protocol.Some(rounds),
		Champion:       &protocol.Champion{PlayerID: p.id, DisplayName: p.id, Points: protocol.Some(1)},
		FinalStandings: standings(p.id, opponentOf(p.id)),
	}
	m.RoundID = protocol.Round{}
	return m
}

func (p playerT) invitation(b bout) *protocol.GameInvitation {
	return &protocol.GameInvitation{Header: p.fromReferee(protocol.TypeGameInvitation, b), RoleInMatch: protocol.PlayerA, OpponentID: b.opponent}
}

func (p playerT) call(b bout) *protocol.ChooseParityCall {
	none := protocol.Some(0)
	return &protocol.ChooseParityCall{
		Header: p.fromReferee(protocol.TypeChooseParityCall, b), PlayerID: p.id,
		Context: &protocol.ChoiceContext{
			OpponentID: b.opponent, RoundID: protocol.RoundNumber(b.round),
			YourStandings: &protocol.OwnStandings{Wins: none, Losses: none, Draws: none, Points: none},
		},
		Deadline: protocol.Deadline(time.Now().Add(p.counter.opts.Timeout)),
	}
}

func (p playerT) over(b bout, own protocol.Choice) *protocol.GameOver {
	return &protocol.GameOver{Header: p.fromReferee(protocol.TypeGameOver, b), GameResult: &protocol.GameResult{
		Status: protocol.StatusWin, WinnerPlayerID: protocol.Some(b.opponent), DrawnNumber: protocol.Some(numberOf(other(own))),
		NumberParity: protocol.Some(string(other(own))),
		Choices:      map[string]protocol.Choice{p.id: own, b.opponent: other(own)}, Reason: "the number drawn has the parity that the opponent chose",
	}}
}

func other(c protocol.Choice) protocol.Choice {
	if c == protocol.Even {
		return protocol.Odd
	}
	return protocol.Even
}

func numberOf(c protocol.Choice) int {
	if c == protocol.Even {
		return 4
	}
	return 7
}

func (p playerT) gameError(b bout) *protocol.GameError {
	m, err := protocol.NewGameError(p.fromReferee(protocol.TypeGameError, b), protocol.Refuse(protocol.CodeTimeout, "", "no choice has come in time; it is asked for again"))
	if err != nil {
		panic(err) // it has nothing in it that cannot be written
	}
	m.PlayerID, m.AffectedPlayer, m.GameState, m.ActionRequired = p.id, p.id, "COLLECTING_CHOICES", "CHOOSE_PARITY_RESPONSE"
	m.Retryable, m.RetryCount, m.MaxRetries = protocol.Some(true), protocol.Some(1), protocol.Some(3)
	m.RetryInfo = &protocol.RetryInfo{RetryCount: protocol.Some(1), MaxRetries: protocol.Some(3), NextRetryAt: protocol.Deadline(time.Now())}
	m.Consequence = "a technical loss once the retries are spent"
	return m
}

// joined begins a match and has the player join it.
func (p playerT) joined() bout {
	b := p.bout()
	p.accepted(p.send(p.invitation(b)), protocol.TypeGameJoinAck)
	return b
}

// chooses reads the choice out of an answer that must bear one.
func (p playerT) chooses(a *Answer) protocol.Choice {
	p.accepted(a, protocol.TypeChooseParityResponse)
	c := choiceIn(a)
	if !c.Valid() {
		p.Fail("the answer bears no choice: neither parity_choice nor choice is even or odd")
	}
	return c
}

// choiceIn returns the choice in an answer, "" without one.
func choiceIn(a *Answer) protocol.Choice {
	for _, name := range []string{"parity_choice", "choice"} {
		if c := protocol.Choice(a.Message.text(name)); c != "" {
			return c
		}
	}
	return ""
}
