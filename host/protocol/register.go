package protocol

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/strategylab/strategylab/host/rawjson"
)

// The values of status in a registration answer.
const (
	StatusAccepted = "ACCEPTED"
	StatusRejected = "REJECTED"
)

// RefereeRegisterRequest registers a referee.
type RefereeRegisterRequest struct {
	Header
	Meta RefereeMeta `json:"referee_meta"`
}

// RefereeMeta describes a referee that registers.
type RefereeMeta struct {
	DisplayName          string         `json:"display_name"`
	Version              string         `json:"version,omitzero"`
	ProtocolVersion      string         `json:"protocol_version,omitzero"`
	GameTypes            []string       `json:"game_types,omitzero"`
	ContactEndpoint      string         `json:"contact_endpoint"`
	MaxConcurrentMatches Opt[int]       `json:"max_concurrent_matches,omitzero"`
	MatchKeys            Opt[bool]      `json:"match_keys,omitzero"` // whether it signs with the keys of a match
	Extra                jsontext.Value `json:",embed"`
}

// RefereeRegisterResponse is the manager's answer to a referee. A rejected one
// gets a reason and neither id, token nor league.
type RefereeRegisterResponse struct {
	Header
	Status    string      `json:"status,omitzero"`
	RefereeID string      `json:"referee_id,omitzero"`
	Reason    Opt[string] `json:"reason,omitzero"`
}

// LeagueRegisterRequest registers a player.
type LeagueRegisterRequest struct {
	Header
	Meta PlayerMeta `json:"player_meta"`
}

// PlayerMeta describes a player that registers.
type PlayerMeta struct {
	DisplayName     string         `json:"display_name"`
	Version         string         `json:"version,omitzero"`
	ProtocolVersion string         `json:"protocol_version,omitzero"`
	GameTypes       []string       `json:"game_types,omitzero"`
	ContactEndpoint string         `json:"contact_endpoint"`
	Extra           jsontext.Value `json:",embed"`
}

// LeagueRegisterResponse is the manager's answer to a player. A rejected one gets
// a reason and neither id, token nor league.
type LeagueRegisterResponse struct {
	Header
	Status   string      `json:"status,omitzero"`
	PlayerID string      `json:"player_id,omitzero"`
	Reason   Opt[string] `json:"reason,omitzero"`
}

func metaFields(more ...field) *shape {
	return fields(append([]field{
		text("display_name", "The name shown to people, unique among players.").always(),
		text("version", "The agent's own version.").strict(),
		text("protocol_version", "The protocol version the agent was written for."),
		list("game_types", "The games the agent can play.", text("", "")).strict().notEmpty(),
		text("contact_endpoint", "The URL at which the agent takes messages.").always(),
	}, more...)...)
}

func refereeRegisterRequestShape() *shape {
	return message([]Role{RoleReferee},
		object("referee_meta", "The referee that registers.", metaFields(
			number("max_concurrent_matches", "How many matches it conducts at once.").strict().within(1, rawjson.MaxInteger),
			boolean("match_keys", "Whether it signs with the keys of a match that the announcement holds."),
		)).always(),
	)
}

func refereeRegisterResponseShape() *shape {
	return registered("referee")
}

// registered is the shape of the answer to an agent that registers.
func registered(agent string) *shape {
	return message([]Role{RoleManager},
		text("status", "Whether the "+agent+" was taken on.").strict().values(StatusAccepted, StatusRejected),
		ident(agent+"_id", "The id given to the "+agent+".").whenIs(StatusAccepted),
		text("auth_token", "The "+agent+"'s token, shown this once.").whenIs(StatusAccepted),
		ident("league_id", "The league it belongs to.").whenIs(StatusAccepted),
		prose("reason", "Why the registration was refused.").nullable(),
	).switching("status")
}

func leagueRegisterRequestShape() *shape {
	return message([]Role{RolePlayer},
		object("player_meta", "The player that registers.", metaFields()).always(),
	)
}

func leagueRegisterResponseShape() *shape {
	return registered("player")
}
