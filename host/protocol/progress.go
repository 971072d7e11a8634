package protocol

import "github.com/go-json-experiment/json/jsontext"

// MatchProgress is how far the matches of a referee are, for people who watch. It
// holds no choice, and no result depends on it. A referee sends it only to a manager
// whose announcement asks for it.
type MatchProgress struct {
	Header
	Matches []MatchState `json:"matches"`
}

// MatchState is how far a match is. Asked, Chosen and Retried are players.
type MatchState struct {
	MatchID    string            `json:"match_id"`
	Asked      []string          `json:"asked,omitzero"`        // for their choice
	Chosen     []string          `json:"chosen,omitzero"`       // their choice is in
	Retried    []string          `json:"retried,omitzero"`      // they had to be asked again
	TimeLeftMS Opt[int]          `json:"time_left_ms,omitzero"` // to choose, when the message is written
	Faults     map[string]string `json:"faults,omitzero"`       // why a player has lost, by player, for people
	Extra      jsontext.Value    `json:",embed"`
}

func matchProgressShape() *shape {
	return message([]Role{RoleReferee},
		ident("league_id", "The league.").strict(),
		list("matches", "The matches of which there is something new.", object("", "", fields(
			ident("match_id", "The match.").always(),
			list("asked", "The players who are asked for their choice.", ident("", "")),
			list("chosen", "The players whose choice is in.", ident("", "")),
			list("retried", "The players who had to be asked again.", ident("", "")),
			count("time_left_ms", "The time left to choose, in milliseconds, when the message is written."),
			dict("faults", "Why players have lost the match by technical loss, for people.", prose("", "")),
		))).always(),
	)
}

func progressAckShape() *shape {
	return message([]Role{RoleManager}, ackStatus)
}
