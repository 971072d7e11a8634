package peertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// judge is a foreign referee.
type judge struct {
	style   *style
	program *program
	id      string
	token   string

	mu       sync.Mutex
	joined   map[string]chan struct{} // by match and player
	patience time.Duration
}

// judgeNamed is a referee with an id of its own.
func judgeNamed(t testing.TB, s *style, id string) *judge {
	return judgeIn(t, nil, 0, s, id)
}

// judgeIn is a referee on a port, in the network of a league if there is one.
func judgeIn(t testing.TB, w *world, port int, s *style, id string) *judge {
	j := &judge{style: s, id: id, token: "token-of-" + id, joined: make(map[string]chan struct{}), patience: time.Minute}
	j.program = launchIn(t, w, port, s, "referee:"+id, func(p *program, kind string, message object) object {
		if kind == "GAME_JOIN_ACK" {
			j.join(text(message, "match_id"), text(message, "player_id"))
		}
		answer := p.header(kind + "_ACK")
		answer["status"] = "ACKNOWLEDGED"
		return answer
	})
	return j
}

func (j *judge) arrival(match, player string) chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := match + "/" + player
	if j.joined[key] == nil {
		j.joined[key] = make(chan struct{})
	}
	return j.joined[key]
}

func (j *judge) join(match, player string) {
	c := j.arrival(match, player)
	j.mu.Lock()
	defer j.mu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

func (j *judge) fields(p matchup, round any) object {
	f := object{"match_id": p.id, "game_type": "even_odd", "auth_token": j.token, "conversation_id": "conv-" + p.id, "round_id": round}
	if j.style.bare {
		delete(f, "conversation_id")
		return f
	}
	f["league_id"] = "league_2025"
	return f
}

// play conducts a match and returns what is reported of it. A side that has not
// joined or chosen stands in its technical_loss_player_ids.
func (j *judge) play(ctx context.Context, p matchup, round any) object {
	o := outcome{ids: [2]string{p.sides[0].id, p.sides[1].id}, number: len(p.id)%2 + max(j.style.draw-1, 3), pays: j.style.points}
	o = conduct(o, func(side int) bool { return j.invite(ctx, p, side, round) }, func(side int) string {
		time.Sleep(j.style.thinks) // it is a slow one
		return j.choose(ctx, p, side, round)
	})
	result := j.result(p, o)
	for side := range 2 {
		j.sendResult(ctx, p, side, round, o, result)
	}
	return result
}

func (j *judge) invite(ctx context.Context, p matchup, side int, round any) bool {
	fields := j.fields(p, round)
	fields["role_in_match"] = []string{"PLAYER_A", "PLAYER_B"}[side]
	if j.style.lowerRoles {
		fields["role_in_match"] = strings.ToLower(text(fields, "role_in_match"))
	}
	if !j.style.bare {
		fields["opponent_id"] = p.sides[1-side].id
	}
	answer := j.program.call(ctx, p.sides[side].endpoint, "GAME_INVITATION", fields)
	if j.style.async {
		select {
		case <-j.arrival(p.id, p.sides[side].id):
			return true
		case <-time.After(j.patience):
			return false
		case <-ctx.Done():
			return false
		}
	}
	if j.style.joins == "never" {
		return answer != nil
	}
	switch j.style.joinField {
	case "status":
		return slices.Contains([]string{"ACK", "RECEIVED", "ACCEPTED"}, text(answer, "status"))
	case "accepted":
		return answer["accepted"] == true
	}
	return answer["accept"] == true
}

func (j *judge) choose(ctx context.Context, p matchup, side int, round any) string {
	fields := j.fields(p, round)
	fields["player_id"] = p.sides[side].id
	deadline := time.Now().Add(5 * time.Minute)
	if j.style.past {
		deadline = time.Now().Add(-time.Second)
	}
	fields["deadline"] = deadline.UTC().Format("2006-01-02T15:04:05Z")
	if !j.style.bare {
		fields["context"] = object{"opponent_id": p.sides[1-side].id, "round_id": round, "your_standings": object{"wins": 0, "losses": 0, "draws": 0}}
	}
	answer := j.program.call(ctx, p.sides[side].endpoint, "CHOOSE_PARITY_CALL", fields)
	field := j.style.choiceField
	if field == "" {
		field = "parity_choice"
	}
	return text(answer, field)
}

// result is what the referee reports.
func (j *judge) result(p matchup, o outcome) object {
	details := object{"drawn_number": o.number, "number_parity": o.parity(), "choices": o.chosen(), "status": o.status()}
	winner, absent := o.winnerID(), o.absent()
	switch {
	case absent != nil:
		details = object{"choices": o.chosen(), "status": o.status(), "technical_loss_player_ids": absent}
	case winner == nil && j.style.winnerDraw:
		winner = "DRAW"
	}
	return object{"match_id": p.id, "result": object{"winner": winner, "score": o.score(), "details": details}, "technical_loss_player_ids": absent}
}

func (j *judge) sendResult(ctx context.Context, p matchup, side int, round any, o outcome, report object) {
	result := inner(report, "result")
	details := inner(result, "details")
	fields := j.fields(p, round)
	word := o.word(side)
	if o.absent() != nil {
		word = o.status()
	}
	switch j.style.over {
	case "flat":
		fields["your_choice"], fields["opponent_choice"] = o.choices[side], o.choices[1-side]
		fields["result"], fields["points_earned"], fields["drawn_number"] = word, o.points(side), o.number
	case "player":
		fields["game_result"] = object{"status": word, "drawn_number": o.number, "player_choices": o.chosen()}
		fields["reason"] = fmt.Sprintf("the number was %d", o.number)
	case "rows": // by roles, in a list, the number as a text
		role := object{p.sides[0].id: "PLAYER_A", p.sides[1].id: "PLAYER_B"}
		rows := []any{}
		for id, choice := range o.chosen() {
			rows = append(rows, object{"player": role[id], "choice": choice})
		}
		winner, _ := result["winner"].(string)
		fields["game_result"] = object{"status": o.status(), "winner": role[winner], "number": fmt.Sprint(o.number), "choices": rows}
	case "winner": // who has won follows from this where nobody has failed
		fields["winner_id"], fields["drawn_number"], fields["choices"] = result["winner"], o.number, o.chosen()
	default:
		fields["game_result"] = object{
			"status": o.status(), "winner_player_id": result["winner"], "drawn_number": o.number,
			"number_parity": details["number_parity"], "choices": o.chosen(), "reason": "as drawn",
		}
	}
	j.program.call(ctx, p.sides[side].endpoint, "GAME_OVER", fields)
}
