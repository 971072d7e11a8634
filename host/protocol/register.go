package protocol

// The values of status in a registration answer.
const (
	StatusAccepted = "ACCEPTED"
	StatusRejected = "REJECTED"
)

// RefereeRegisterRequest registers a referee.
type RefereeRegisterRequest struct {
	Header
	Meta RefereeMeta `json:"referee_meta" rule:"always" doc:"The referee that registers."`
}

// RefereeMeta describes a referee that registers.
type RefereeMeta struct {
	PlayerMeta
	MaxConcurrentMatches Opt[int]  `json:"max_concurrent_matches,omitzero" rule:"strict min=1" doc:"How many matches it conducts at once."`
	MatchKeys            Opt[bool] `json:"match_keys,omitzero" doc:"Whether it signs with the keys of a match that the announcement holds."` // whether it signs with the keys of a match
}

// LeagueRegisterRequest registers a player.
type LeagueRegisterRequest struct {
	Header
	Meta PlayerMeta `json:"player_meta" rule:"always" doc:"The player that registers."`
}

// PlayerMeta describes a player that registers, and what a referee says of itself, too.
type PlayerMeta struct {
	DisplayName     string   `json:"display_name" rule:"always" doc:"The name shown to people, unique among players."`
	Version         string   `json:"version,omitzero" rule:"strict" doc:"The agent's own version."`
	ProtocolVersion string   `json:"protocol_version,omitzero" doc:"The protocol version the agent was written for."`
	GameTypes       []string `json:"game_types,omitzero" rule:"strict nonempty" doc:"The games the agent can play."`
	ContactEndpoint string   `json:"contact_endpoint" rule:"always" doc:"The URL at which the agent takes messages."`
}

// RegisterResponse is the manager's answer to an agent that registers. A rejected one gets a reason
// and neither id, token nor league.
type RegisterResponse struct {
	Header
	Status    string      `json:"status,omitzero" rule:"strict one=ACCEPTED,REJECTED" doc:"Whether the player was taken on."`
	RefereeID string      `json:"referee_id,omitzero" in:"REFEREE_REGISTER_RESPONSE" rule:"id when=status:ACCEPTED" doc:"The id given to the referee."`
	PlayerID  string      `json:"player_id,omitzero" in:"LEAGUE_REGISTER_RESPONSE" rule:"id when=status:ACCEPTED" doc:"The id given to the player."`
	Reason    Opt[string] `json:"reason,omitzero" rule:"prose null" doc:"Why the registration was refused."`
}

// Accepted returns the answer of status ACCEPTED to a registration of the type.
func (t Type) Accepted(id, token, league string) *RegisterResponse {
	h := Header{MessageType: t.Answer(), AuthToken: token, LeagueID: league}
	if t == TypeRefereeRegisterRequest {
		return &RegisterResponse{Header: h, Status: StatusAccepted, RefereeID: id, Reason: Null[string]()}
	}
	return &RegisterResponse{Header: h, Status: StatusAccepted, PlayerID: id, Reason: Null[string]()}
}
