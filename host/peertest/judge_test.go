package peertest

import (
	"context"
	"fmt"
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

func newJudge(t testing.TB, s *style) *judge {
	return judgeNamed(t, s, "REF01")
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
	var choices [2]string
	var both sync.WaitGroup
	for side := range 2 {
		both.Go(func() {
			if j.invite(ctx, p, side, round) {
				time.Sleep(j.style.thinks) // it is a slow one
				choices[side] = j.choose(ctx, p, side, round)
			}
		})
	}
	both.Wait()
	number := len(p.id)%2 + max(j.style.draw-1, 3)
	result := j.result(p, choices, number)
	for side := range 2 {
		j.sendResult(ctx, p, side, round, choices, number, result)
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
		return contains([]string{"ACK", "RECEIVED", "ACCEPTED"}, text(answer, "status"))
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
func (j *judge) result(p matchup, choices [2]string, number int) object {
	ids := [2]string{p.sides[0].id, p.sides[1].id}
	parity := []string{"even", "odd"}[number%2]
	points := j.points()
	score := object{ids[0]: points[1], ids[1]: points[1]}
	chosen := object{}
	for side, choice := range choices {
		if choice != "" {
			chosen[ids[side]] = choice
		}
	}
	details := object{"drawn_number": number, "number_parity": parity, "choices": chosen, "status": "DRAW"}
	var winner any
	if j.style.winnerDraw {
		winner = "DRAW"
	}
	var absent []any
	for side := range 2 {
		switch {
		case choices[side] == "":
			absent = append(absent, ids[side])
		case choices[side] == parity && choices[1-side] != parity:
			winner = ids[side]
			score = object{ids[side]: points[0], ids[1-side]: points[2]}
			details["status"] = "WIN"
		}
	}
	if absent != nil {
		winner, score = nil, object{ids[0]: 0, ids[1]: 0}
		if len(absent) == 1 {
			other := ids[0]
			if absent[0] == other {
				other = ids[1]
			}
			winner, score[other] = other, points[0]
		}
		delete(details, "drawn_number")
		delete(details, "number_parity")
		details["status"], details["technical_loss_player_ids"] = "TECHNICAL_LOSS", absent
	}
	return object{"match_id": p.id, "result": object{"winner": winner, "score": score, "details": details}, "technical_loss_player_ids": absent}
}

func (j *judge) points() [3]int {
	if j.style.points == [3]int{} {
		return [3]int{3, 1, 0}
	}
	return j.style.points
}

func (j *judge) sendResult(ctx context.Context, p matchup, side int, round any, choices [2]string, number int, report object) {
	result, _ := report["result"].(object)
	details, _ := result["details"].(object)
	own, other := p.sides[side].id, p.sides[1-side].id
	fields := j.fields(p, round)
	score, _ := result["score"].(object)
	word := "DRAW"
	if result["winner"] == own {
		word = "WIN"
	} else if result["winner"] == other {
		word = "LOSS"
	}
	if details["status"] == "TECHNICAL_LOSS" {
		word = "TECHNICAL_LOSS"
	}
	switch j.style.over {
	case "flat":
		fields["your_choice"], fields["opponent_choice"] = choices[side], choices[1-side]
		fields["result"], fields["points_earned"], fields["drawn_number"] = word, score[own], number
	case "player":
		fields["game_result"] = object{"status": word, "drawn_number": number, "player_choices": details["choices"]}
		fields["reason"] = fmt.Sprintf("the number was %d", number)
	case "winner": // who has won follows from this where nobody has failed
		fields["winner_id"], fields["drawn_number"], fields["choices"] = result["winner"], number, details["choices"]
	default:
		fields["game_result"] = object{
			"status": details["status"], "winner_player_id": result["winner"], "drawn_number": number,
			"number_parity": details["number_parity"], "choices": details["choices"], "reason": "as drawn",
		}
	}
	j.program.call(ctx, p.sides[side].endpoint, "GAME_OVER", fields)
}
