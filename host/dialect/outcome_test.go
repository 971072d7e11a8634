package dialect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/protocol"
)

// outcomeText is an Outcome in one line, for tables.
func outcomeText(o Outcome) string {
	s := o.Status
	if o.Winner != "" {
		s += " of " + o.Winner
	}
	for _, id := range o.TechnicalLossPlayerIDs {
		s += " fault " + id
	}
	return s
}

// TestReportedOutcome: results as referees report them, by the book and
// otherwise, between P01 and P02.
func TestReportedOutcome(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct{ result, want string }{
		"a win":                              {`{"winner":"P01","score":{"P01":3,"P02":0},"details":{"drawn_number":7,"choices":{"P01":"odd","P02":"even"},"status":"WIN"}}`, "WIN of P01"},
		"a draw":                             {`{"winner":null,"score":{"P01":1,"P02":1},"details":{"drawn_number":4,"choices":{"P01":"odd","P02":"odd"},"status":"DRAW"}}`, "DRAW"},
		"a technical loss":                   {`{"winner":"P01","score":{"P01":3,"P02":0},"details":{"drawn_number":null,"choices":{"P01":"odd"},"status":"TECHNICAL_LOSS","technical_loss_player_ids":["P02"]}}`, "TECHNICAL_LOSS of P01 fault P02"},
		"both at fault":                      {`{"winner":null,"score":{"P01":0,"P02":0},"details":{"choices":{},"status":"TECHNICAL_LOSS","technical_loss_player_ids":["P02","P01"]}}`, "TECHNICAL_LOSS fault P01 fault P02"},
		"one at fault, nobody named":         {`{"winner":"P02","score":{"P01":0,"P02":3},"details":{"status":"TECHNICAL_LOSS"}}`, "TECHNICAL_LOSS of P02 fault P01"},
		"both at fault, nobody named":        {`{"winner":null,"score":{"P01":0,"P02":0},"details":{"status":"TECHNICAL_LOSS"}}`, "TECHNICAL_LOSS fault P01 fault P02"},
		"no status, a win":                   {`{"winner":"P01","score":{"P01":3,"P02":0},"details":{"drawn_number":8,"choices":{"P01":"even","P02":"odd"}}}`, "WIN of P01"},
		"no status, a draw":                  {`{"winner":null,"score":{"P01":1,"P02":1},"details":{"drawn_number":8,"choices":{"P01":"odd","P02":"odd"}}}`, "DRAW"},
		"no status, a choice missing":        {`{"winner":"P01","score":{"P01":3,"P02":0},"details":{"drawn_number":8,"choices":{"P01":"even"}}}`, "TECHNICAL_LOSS of P01 fault P02"},
		"no status, no number":               {`{"winner":"P01","score":{"P01":3,"P02":0},"details":{"choices":{"P01":"even","P02":"odd"}}}`, "WIN of P01"},
		"no status, no points":               {`{"winner":null,"score":{"P01":0,"P02":0},"details":{}}`, "TECHNICAL_LOSS fault P01 fault P02"},
		"no points, choices, a number":       {`{"winner":null,"score":{"P01":0,"P02":0},"details":{"drawn_number":8,"choices":{"P01":"odd","P02":"even"}}}`, "WIN of P02"},
		"no details, a winner":               {`{"winner":"P02","score":{"P01":0,"P02":3}}`, "WIN of P02"},
		"no details, no score":               {`{"winner":null}`, "DRAW"},
		"no choices, a number":               {`{"winner":"P02","details":{"drawn_number":3}}`, "WIN of P02"},
		"a draw as winner":                   {`{"winner":"DRAW","score":{"P01":1,"P02":1},"details":{"drawn_number":1,"status":"draw"}}`, "DRAW"},
		"points of another league":           {`{"winner":"P01","score":{"P01":2,"P02":-1},"details":{"drawn_number":8,"choices":{"P01":"even","P02":"odd"}}}`, "WIN of P01"},
		"a winner from elsewhere":            {`{"winner":"P07","details":{"status":"WIN"}}`, "E046"},
		"a win of nobody":                    {`{"winner":null,"details":{"status":"WIN"}}`, "E046"},
		"a draw that somebody wins":          {`{"winner":"P01","details":{"status":"DRAW"}}`, "E046"},
		"a status that does not exist":       {`{"winner":"P01","details":{"status":"RAIN"}}`, "E046"},
		"a fault of the winner":              {`{"winner":"P01","details":{"status":"TECHNICAL_LOSS","technical_loss_player_ids":["P01"]}}`, "E046"},
		"a fault of somebody from elsewhere": {`{"winner":"P01","details":{"status":"TECHNICAL_LOSS","technical_loss_player_ids":["P07"]}}`, "E046"},
		"no word about the winner":           {`{"score":{"P01":3}}`, "E003"},
		"a time of its own":                  {`{"match_id":"R1M1","timestamp":1763800000,"result":{"winner":"P01","details":{"drawn_number":4,"choices":{"P01":"even","P02":"odd"}}}}`, "WIN of P01"},
		"beside the header":                  {`{"match_id":"R1M1","winner":null,"drawn_number":4,"choices":{"P01":"odd","P02":"even"}}`, "WIN of P02"},
		"under other names":                  {`{"match_id":"R1M1","league_id":"our league","result":{"winner_player_id":"P01","number":4,"player_choices":{"P01":"even","P02":"odd"}}}`, "WIN of P01"},
		"in a member of another name":        {`{"match_id":"R1M1","match_result":{"winner_id":"tie","number":4,"choices":[{"player":"P01","choice":"odd"},{"player":"P02","choice":"odd"}]}}`, "DRAW"},
		"a fault beside the header":          {`{"match_id":"R1M1","winner":null,"status":"TECHNICAL_LOSS","technical_loss_player_ids":"P02"}`, "TECHNICAL_LOSS fault P02"},
	} {
		report := tt.result
		if !strings.HasPrefix(report, `{"match_id"`) {
			report = `{"match_id":"R1M1","result":` + report + `}`
		}
		m, err := opened(t, protocol.Tolerant, "report_match_result", report)
		var o Outcome
		if err == nil {
			o, err = ReportedOutcome(m.(*protocol.MatchResultReport), heron, otter)
		}
		got := outcomeText(o)
		if err != nil {
			got = string(CodeOf(err))
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", what, got, tt.want)
		}
	}
}

// TestOutcomeForPlayer: results as players receive them, by the book, once for
// each player, and flat. P01 is told, P02 is the opponent.
func TestOutcomeForPlayer(t *testing.T) {
	t.Parallel()
	both := map[string]protocol.Choice{heron: protocol.Odd, otter: protocol.Even}
	for what, tt := range map[string]struct {
		body, want string
		choices    map[string]protocol.Choice
		number     int
	}{
		"by the book":                  {`{"game_result":{"status":"WIN","winner_player_id":"P02","drawn_number":8,"choices":{"P01":"odd","P02":"even"},"reason":"r"}}`, "WIN of P02", both, 8},
		"a technical loss":             {`{"game_result":{"status":"TECHNICAL_LOSS","winner_player_id":"P01","drawn_number":null,"choices":{"P01":"odd"},"technical_loss_player_ids":["P02"]}}`, "TECHNICAL_LOSS of P01 fault P02", map[string]protocol.Choice{heron: protocol.Odd}, 0},
		"for each player, won":         {`{"game_result":{"status":"WIN","drawn_number":7,"player_choices":{"P01":"odd","P02":"even"}},"reason":"r"}`, "WIN of P01", both, 7},
		"for each player, lost":        {`{"game_result":{"status":"LOSS","drawn_number":8,"choices":{"P01":"odd","P02":"even"}}}`, "WIN of P02", both, 8},
		"for each player, draw":        {`{"game_result":{"status":"DRAW","winner_player_id":"DRAW","drawn_number":8}}`, "DRAW", nil, 8},
		"flat, lost":                   {`{"result":"loss","your_choice":"odd","opponent_choice":"even","drawn_number":8,"points_earned":0,"reason":"r"}`, "WIN of P02", both, 8},
		"flat, won":                    {`{"result":"WIN","your_choice":"odd","opponent_choice":"even","drawn_number":17,"points_earned":2}`, "WIN of P01", both, 17},
		"flat, one choice":             {`{"result":"DRAW","your_choice":"odd","drawn_number":8}`, "DRAW", map[string]protocol.Choice{heron: protocol.Odd}, 8},
		"flat, all choices and more":   {`{"result":"win","status":"completed","number":7,"choices":{"P01":"odd","P02":"even"}}`, "WIN of P01", both, 7},
		"flat, all choices":            {`{"result":"DRAW","player_choices":{"P01":"odd","P02":"even"}}`, "DRAW", both, 0},
		"no status at all":             {`{"game_result":{"winner_player_id":"P01","drawn_number":7,"choices":{"P01":"odd","P02":"even"}}}`, "WIN of P01", both, 7},
		"nothing at all":               {`{}`, "", nil, 0},
		"the winner beside the header": {`{"winner_id":"P02","drawn_number":8,"choices":{"P01":"odd","P02":"even"}}`, "WIN of P02", both, 8},
		"choices and number alone":     {`{"round_id":1,"number":8,"playerChoices":{"P01":"odd","P02":"even"}}`, "WIN of P02", both, 8},
		"no points, choices, a number": {`{"points":0,"number":8,"choices":{"P01":"odd","P02":"even"}}`, "WIN of P02", both, 8},
		"equal choices alone":          {`{"drawn_number":8,"choices":{"P01":"odd","P02":"odd"}}`, "DRAW", map[string]protocol.Choice{heron: protocol.Odd, otter: protocol.Odd}, 8},
		"nobody, by its word":          {`{"winner":"none","drawn_number":8}`, "DRAW", nil, 8},
		"a result of another name":     {`{"result":{"winner":"P01","drawn_number":7,"choices":{"P01":"odd","P02":"even"}}}`, "WIN of P01", both, 7},
		"players by their roles":       {`{"game_result":{"winner":"PLAYER_A","drawn_number":8,"choices":{"PLAYER_A":"EVEN","player_b":"ODD"}}}`, "WIN of P02", both, 8},
		"players as senders, a text":   {`{"game_result":{"result":{"winner":"player:P02","number":"8","choices":{"player:P01":"odd","player:P02":"even"}}}}`, "WIN of P02", both, 8},
		"in lists and objects":         {`{"gameResult":{"outcome":"win","winner":{"playerId":"P02"},"drawnNumber":8,"moves":[{"playerId":"P01","choice":"odd"},{"playerId":"P02","choice":"even"}]}}`, "WIN of P02", both, 8},
		"players by their names":       {`{"winner":"Heron 7","drawn_number":7,"choices":{"Heron 7":"odd","Otter":"even"}}`, "WIN of P01", both, 7},
		"the other by its name":        {`{"winner":"Otter","drawn_number":8,"choices":{"P01":"odd","Otter":"even"}}`, "WIN of P02", both, 8},
		"the winner in the status":     {`{"game_result":{"outcome":"PLAYER_B_WINS","number":8}}`, "WIN of P01", nil, 8},
		"a status of its own":          {`{"game_result":{"status":"FORFEIT","winner_player_id":"P01","choices":{"P01":"odd"}}}`, "TECHNICAL_LOSS of P01 fault P02", map[string]protocol.Choice{heron: protocol.Odd}, 0},
		"a winner of elsewhere":        {`{"game_result":{"status":"WIN","winner_player_id":"P09"}}`, "E046", nil, 0},
	} {
		m, err := opened(t, protocol.Tolerant, "notify_match_result", strings.Replace(`{"match_id":"R1M1",`+tt.body[1:], ",}", "}", 1))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		o, err := OutcomeFor(m.(*protocol.GameOver), heron, "Heron 7", otter, game.RoleB)
		got := outcomeText(o)
		if err != nil {
			got = string(CodeOf(err))
		}
		if got != tt.want || o.DrawnNumber.Value() != tt.number {
			t.Errorf("%s: %s with %d, want %s with %d", what, got, o.DrawnNumber.Value(), tt.want, tt.number)
		}
		if diff := cmp.Diff(tt.choices, o.Choices); diff != "" && err == nil {
			t.Errorf("%s: choices %s", what, diff)
		}
	}
}
