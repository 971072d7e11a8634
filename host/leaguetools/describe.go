package leaguetools

import (
	"fmt"
	"strings"

	"github.com/strategylab/strategylab/host/mcptools"
	"github.com/strategylab/strategylab/host/protocol"
)

// purpose says what each message is for, to somebody who has not read the
// protocol.
var purpose = map[protocol.Type]string{
	protocol.TypeRefereeRegisterRequest: "Registers a referee with the league. referee_meta.contact_endpoint is the URL at which the league reaches it. " +
		"The answer gives the referee_id and the auth_token for everything that follows; the token is shown once.",
	protocol.TypeLeagueRegisterRequest: "Registers a player with the league. player_meta.contact_endpoint is the URL at which referees and the manager reach it. " +
		"The answer gives the player_id and the auth_token for everything that follows; the token is shown once. A status of REJECTED comes with a reason.",
	protocol.TypeStartLeague: "Starts the league with those who have registered. It needs the admin token of the host; without one configured, it must come from the host's own machine. " +
		"While the league runs, it answers with how far the league is.",
	protocol.TypeMatchResultReport: "Reports the result of a match, by the referee it was assigned to. Each match is reported once; " +
		"a repeat is refused and told whether the result was the same.",
	protocol.TypeLeagueQuery: "Asks about the league. query_type is GET_STANDINGS (the table), GET_SCHEDULE (all matches; query_params.round_id for one round), " +
		"GET_PLAYERS, GET_STATUS (how far the league is) or GET_NEXT_MATCH (query_params.player_id, by default the sender). It changes nothing.",
	protocol.TypeRoundAnnouncement:     "Tells that a round begins, and its matches. A referee starts those that are assigned to it.",
	protocol.TypeLeagueStandingsUpdate: "Tells the table after a round.",
	protocol.TypeRoundCompleted:        "Tells that every match of a round has been reported.",
	protocol.TypeLeagueCompleted:       "Tells that the league is over, its winner and the final table.",
	protocol.TypeGameInvitation:        "Invites the player to a match. The answer says whether it joins.",
	protocol.TypeGameJoinAck:           "Hands in a player's answer to an invitation, where that was not given at once.",
	protocol.TypeChooseParityCall: "Asks the player for its choice in a match that it has joined. The answer's parity_choice is even or odd. " +
		"Asked again for the same match, it gives the same choice.",
	protocol.TypeChooseParityResponse: "Hands in a player's choice, where that was not given at once.",
	protocol.TypeGameOver:             "Tells the player how a match ended.",
	protocol.TypeGameError:            "Tells the player of a fault in a match, such as an answer that did not come in time, and what follows from it.",
}

// describe returns what a model reads of a tool.
func describe(about protocol.Description, mode protocol.Mode) string {
	var signers []string
	for _, role := range about.From {
		signers = append(signers, map[protocol.Role]string{
			protocol.RoleManager: "league_manager", protocol.RoleLauncher: "launcher",
			protocol.RoleReferee: "referee:<id>", protocol.RolePlayer: "player:<id>",
		}[role])
	}
	text := purpose[about.Type] + fmt.Sprintf(" The arguments are a message of league.v2: protocol is %q, message_type %q, sender %s, "+
		"timestamp the time in UTC (2026-01-31T12:00:00Z), conversation_id any text of your own.",
		protocol.Version, about.Type, strings.Join(signers, " or "))
	if mode == protocol.Tolerant {
		text += " Of these, what goes without saying may be left out."
	}
	if about.Auth {
		text += " auth_token proves who the sender is; a message whose token is missing or wrong is refused."
	}
	return text + fmt.Sprintf(" The answer is %s; a refusal says in error_code and detail what to do.", about.Answer)
}

// annotate tells a client what calling a tool may do.
func annotate(tool *mcptools.Tool, t protocol.Type) {
	switch t {
	case protocol.TypeLeagueQuery:
		tool.ReadOnly, tool.Idempotent = true, true
	case protocol.TypeRefereeRegisterRequest, protocol.TypeLeagueRegisterRequest:
		tool.OpenWorld = true // the agent may be tried at its endpoint
	case protocol.TypeStartLeague, protocol.TypeRoundAnnouncement:
		tool.Idempotent, tool.OpenWorld = true, true // others are called
	default:
		tool.Idempotent = true
	}
}

// Instructions tells a model what the server of an agent of the role is for.
func Instructions(role protocol.Role) string {
	switch role {
	case protocol.RoleManager:
		return "The manager of a league of parity games (league.v2): players choose even or odd, a number is drawn, and who was right alone wins. " +
			"Register a player or a referee, start the league, and ask about it with league_query. Keep the auth_token of the registration: every later message needs it."
	case protocol.RoleReferee:
		return "A referee of a league of parity games (league.v2). It takes the manager's announcements and what players hand in; what it is told must be signed by them."
	}
	return "A player of a league of parity games (league.v2). It takes a referee's invitations and calls for a choice, and the manager's announcements; what it is told must be signed by them."
}
