package protocol

import "github.com/go-json-experiment/json/jsontext"

// MatchProgress is how far the matches of a referee are, for people who watch. It holds no choice,
// and no result depends on it. A referee sends it only to a manager whose announcement asks for it.
type MatchProgress struct {
	Header
	Matches []MatchState `json:"matches" rule:"always" doc:"The matches of which there is something new."`
}

// MatchState is how far a match is. Asked, Chosen and Retried are players.
type MatchState struct {
	MatchID    string            `json:"match_id" rule:"id always" doc:"The match."`
	Asked      []string          `json:"asked,omitzero" rule:"each=id" doc:"The players who are asked for their choice."`                                 // for their choice
	Chosen     []string          `json:"chosen,omitzero" rule:"each=id" doc:"The players whose choice is in."`                                            // their choice is in
	Retried    []string          `json:"retried,omitzero" rule:"each=id" doc:"The players who had to be asked again."`                                    // they had to be asked again
	TimeLeftMS Opt[int]          `json:"time_left_ms,omitzero" rule:"count" doc:"The time left to choose, in milliseconds, when the message is written."` // to choose, when the message is written
	Faults     map[string]string `json:"faults,omitzero" rule:"each=prose" doc:"Why players have lost the match by technical loss, for people."`          // why a player has lost, by player, for people
	Extra      jsontext.Value    `json:",embed"`
}
