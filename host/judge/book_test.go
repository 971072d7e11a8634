package judge_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/strategylab/strategylab/host/draws"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/trace"
)

// played is one match of the league that a book holds.
type played struct {
	id      string
	round   int
	players [2]string
	choices [2]protocol.Choice
	number  int
}

// season is a league of three whose table has no ties: P01 has four points, P02
// three, P03 one.
var season = []played{
	{"R1M1", 1, [2]string{"P01", "P02"}, [2]protocol.Choice{"even", "odd"}, 8},
	{"R2M1", 2, [2]string{"P01", "P03"}, [2]protocol.Choice{"even", "even"}, 7},
	{"R3M1", 3, [2]string{"P02", "P03"}, [2]protocol.Choice{"odd", "even"}, 3},
}

// book writes the messages of a small league as its referee and its manager record
// them, of the documented examples. Unlike the league of agents, every word of it is
// known, so that a test can say which finding a change has to cause.
type book struct {
	t      *testing.T
	xs     []*trace.Exchange
	at     time.Time
	sealed bool // the draws are verifiable
}

func write(t *testing.T, sealed bool) *book {
	t.Helper()
	b := &book{t: t, at: time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC), sealed: sealed}
	points, rows := map[string]int{}, map[string]*protocol.Standing{}
	for _, p := range []string{"P01", "P02", "P03"} {
		none := protocol.Some(0)
		rows[p] = &protocol.Standing{PlayerID: p, Played: none, Wins: none, Draws: none, Losses: none}
	}
	for _, m := range season {
		b.match(m)
		v := game.Judge(game.Side{Choice: of(m.choices[0])}, game.Side{Choice: of(m.choices[1])}, m.number)
		for i, n := range [2]int{v.PointsA, v.PointsB} {
			points[m.players[i]] += n
			count(rows[m.players[i]], n)
		}
		b.say("manager", "P01", "league_standings_update", doc{"round_id": m.round, "standings": table(rows)}, nil)
	}
	b.say("manager", "P01", "league_completed", doc{
		"total_rounds": 3, "total_matches": 3, "champion": doc{"player_id": "P01", "points": points["P01"]}, "final_standings": table(rows),
	}, nil)
	return b
}

// doc is a JSON object.
type doc = map[string]any

func of(c protocol.Choice) game.Parity {
	p, err := game.ParseParity(string(c))
	if err != nil {
		panic(err)
	}
	return p
}

func count(row *protocol.Standing, points int) {
	add := func(o *protocol.Opt[int], n int) { *o = protocol.Some(o.Value() + n) }
	add(&row.Played, 1)
	add(&row.Wins, points/game.WinPoints)
	add(&row.Draws, points%game.WinPoints)
	add(&row.Losses, map[int]int{0: 1}[points])
	row.Points += points
}

func table(rows map[string]*protocol.Standing) []protocol.Standing {
	var all []protocol.Standing
	for _, p := range slices.Sorted(maps.Keys(rows)) {
		all = append(all, *rows[p])
	}
	slices.SortStableFunc(all, func(a, b protocol.Standing) int { return b.Points - a.Points })
	for i := range all {
		all[i].Rank = i + 1
	}
	return all
}

func endpoint(player string) string { return "http://" + strings.ToLower(player) + ".example:8101/mcp" }

// match writes the messages of a match, from its announcement to its report.
func (b *book) match(m played) {
	about := doc{"match_id": m.id, "round_id": m.round, "conversation_id": m.id}
	with := func(more doc) doc {
		d := maps.Clone(about)
		maps.Copy(d, more)
		return d
	}
	rests := slices.DeleteFunc([]string{"P01", "P02", "P03"}, func(p string) bool { return slices.Contains(m.players[:], p) })
	b.say("manager", "P01", "round_announcement", doc{"round_id": m.round, "byes": rests, "matches": []doc{{
		"match_id": m.id, "game_type": "even_odd", "player_A_id": m.players[0], "player_B_id": m.players[1],
		"player_A_endpoint": endpoint(m.players[0]), "player_B_endpoint": endpoint(m.players[1]),
	}}}, nil)
	s := seal(m)
	result := doc{"drawn_number": m.number, "number_parity": game.ParityOf(m.number).String(), "choices": doc{}}
	score := doc{}
	v := game.Judge(game.Side{Choice: of(m.choices[0])}, game.Side{Choice: of(m.choices[1])}, m.number)
	points, winner := [2]int{v.PointsA, v.PointsB}, any(nil)
	for i, p := range m.players {
		role := []string{"PLAYER_A", "PLAYER_B"}[i]
		b.say("REF01", p, "game_invitation", with(doc{"role_in_match": role, "opponent_id": m.players[1-i]}),
			with(b.only(doc{"sender": "player:" + p, "player_id": p}, doc{"draw_scheme": draws.Scheme})))
	}
	for i, p := range m.players {
		b.say("REF01", p, "choose_parity_call",
			with(b.only(doc{"player_id": p, "timestamp": stamp(b.at), "deadline": stamp(b.at.Add(30 * time.Second))}, doc{"draw_commitment": s.commitment})),
			with(b.only(doc{"sender": "player:" + p, "player_id": p, "parity_choice": m.choices[i]}, doc{"draw_nonce": s.nonces[p]})))
		result["choices"].(doc)[p], score[p] = m.choices[i], points[i]
		if points[i] == game.WinPoints {
			winner = p
		}
	}
	result["status"] = map[bool]string{true: "DRAW", false: "WIN"}[winner == nil]
	told := maps.Clone(result)
	told["winner_player_id"] = winner
	for _, p := range m.players {
		b.say("REF01", p, "game_over", with(b.only(doc{"game_result": told}, doc{"draw_key": s.key, "draw_nonces": s.nonces})), nil)
	}
	b.say("REF01", "manager", "match_result_report", with(doc{"result": doc{"winner": winner, "score": score, "details": result}}), nil)
}

// only adds to a message what it has in a league with verifiable draws.
func (b *book) only(d, sealed doc) doc {
	if b.sealed {
		maps.Copy(d, sealed)
	}
	return d
}

// sealing is what a verifiable draw consists of.
type sealing struct {
	key, commitment string
	nonces          map[string]string
}

// seal finds a key that gives the number of a match.
func seal(m played) sealing {
	s := sealing{nonces: map[string]string{}}
	d := draws.Match{League: "cup", ID: m.id, Round: m.round}
	for i, p := range m.players {
		s.nonces[p] = fmt.Sprintf("%032x", i+1)
		d.Players[i] = draws.Player{ID: p, Choice: string(m.choices[i]), Nonce: s.nonces[p]}
	}
	for i := 1; ; i++ {
		s.key = fmt.Sprintf("%064x", i)
		if n, err := d.Number(s.key); err != nil {
			panic(err)
		} else if n == m.number {
			break
		}
	}
	s.commitment, _ = d.Commitment(s.key)
	return s
}

func stamp(t time.Time) string { return t.Format(time.RFC3339) }

// answers are the examples of the answers that a test looks into.
var answers = map[string]string{"game_invitation": "game_join_ack", "choose_parity_call": "choose_parity_response"}

// say adds a message like a documented example, with other members, and its answer
// a second later.
func (b *book) say(agent, to, example string, members, answer doc) {
	b.t.Helper()
	request := b.example(example)
	params := request["params"].(doc)
	params["league_id"] = "cup"
	maps.Copy(params, members)
	x := trace.ReadRequest(b.json(request))
	if x.Invalid != nil {
		b.t.Fatalf("%s: %v", example, x.Invalid)
	}
	if answer != nil {
		response := b.example(answers[example])
		result := response["result"].(doc)
		result["league_id"] = "cup"
		maps.Copy(result, answer)
		x = x.WithAnswer(200, b.json(response))
		if x.Refused != nil {
			b.t.Fatalf("%s: %v", example, x.Refused)
		}
		x.Latency = time.Second
	}
	x.Agent, x.Sent, x.Peer, x.At = agent, true, endpoint(to), b.at
	b.xs = append(b.xs, x)
	b.at = b.at.Add(time.Second)
}

func (b *book) json(d doc) []byte {
	b.t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

func (b *book) example(name string) doc {
	b.t.Helper()
	raw, err := os.ReadFile(filepath.Join("../../docs/protocol/examples/contracts", name+".json"))
	if err != nil {
		b.t.Fatal(err)
	}
	var d doc
	if err := json.Unmarshal(raw, &d); err != nil {
		b.t.Fatal(err)
	}
	return d
}

// find returns the exchange with a message of type M about a match, or of a round,
// that went to an agent.
func find[M protocol.Message](b *book, about, to string) (*trace.Exchange, M) {
	b.t.Helper()
	for _, x := range b.xs {
		if m, ok := x.Request.(M); ok && x.Peer == endpoint(to) && (x.Match == about || about == "" || m.Head().RoundID.String() == about) {
			return x, m
		}
	}
	b.t.Fatalf("no such message about %q to %s", about, to)
	panic("unreachable")
}

// over returns the result of a match that a player received.
func (b *book) over(match, to string) *protocol.GameOver {
	b.t.Helper()
	_, m := find[*protocol.GameOver](b, match, to)
	return m
}

func (b *book) report(match string) *protocol.MatchResultReport {
	b.t.Helper()
	_, m := find[*protocol.MatchResultReport](b, match, "manager")
	return m
}

func (b *book) standings(round string) []protocol.Standing {
	b.t.Helper()
	_, m := find[*protocol.LeagueStandingsUpdate](b, round, "P01")
	return m.Standings
}

func (b *book) end() *protocol.LeagueCompleted {
	b.t.Helper()
	_, m := find[*protocol.LeagueCompleted](b, "", "P01")
	return m
}

// call returns the call for a choice and its answer.
func (b *book) call(match, to string) (*trace.Exchange, *protocol.ChooseParityCall, *protocol.ChooseParityResponse) {
	b.t.Helper()
	x, m := find[*protocol.ChooseParityCall](b, match, to)
	return x, m, x.Answer.(*protocol.ChooseParityResponse)
}

// drop removes the exchanges for which gone holds.
func (b *book) drop(gone func(x *trace.Exchange) bool) { b.xs = slices.DeleteFunc(b.xs, gone) }

// anonymize leaves out of the messages between the referee and the players whom they come
// from and go to, and gives the referee a league id of its own. The addresses remain.
func (b *book) anonymize() {
	b.drop(func(x *trace.Exchange) bool {
		for _, m := range []protocol.Message{x.Request, x.Answer} {
			switch m := m.(type) {
			case *protocol.GameInvitation:
				m.OpponentID = ""
			case *protocol.GameJoinAck:
				m.PlayerID = ""
			case *protocol.ChooseParityCall:
				m.PlayerID = ""
			case *protocol.ChooseParityResponse:
				m.PlayerID = ""
			case *protocol.GameOver:
				m.PlayerID = ""
			default:
				continue
			}
			m.Head().Sender, m.Head().LeagueID = "", "league_of_its_own"
		}
		return false
	})
}

// dropType removes the messages of a type about a match, of all matches if it is
// empty.
func (b *book) dropType(typ protocol.Type, match string) {
	b.drop(func(x *trace.Exchange) bool { return x.Type == typ && (match == "" || x.Match == match) })
}
