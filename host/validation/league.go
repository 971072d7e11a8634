package validation

import (
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

// served lists the messages that an agent of each role takes by the book.
var served = map[protocol.Role][]protocol.Type{
	protocol.RoleManager: {
		protocol.TypeRefereeRegisterRequest, protocol.TypeLeagueRegisterRequest, protocol.TypeStartLeague,
		protocol.TypeMatchResultReport, protocol.TypeLeagueQuery,
	},
	protocol.RoleReferee: {
		protocol.TypeRoundAnnouncement, protocol.TypeLeagueStandingsUpdate, protocol.TypeRoundCompleted,
		protocol.TypeLeagueCompleted, protocol.TypeGameJoinAck, protocol.TypeChooseParityResponse,
	},
	protocol.RolePlayer: {
		protocol.TypeRoundAnnouncement, protocol.TypeLeagueStandingsUpdate, protocol.TypeRoundCompleted,
		protocol.TypeLeagueCompleted, protocol.TypeGameInvitation, protocol.TypeChooseParityCall,
		protocol.TypeGameOver, protocol.TypeGameError,
	},
}

// LeagueTools returns the tools of the league, in the order in which a league
// sees them: one for each method of the message table, under the method's name
// and with its other names as aliases. The input is the message, the output its
// answer. They are guarded: agents find out who speaks before they judge what
// is said.
//
// With roles, only the tools that agents of these roles serve are returned.
func LeagueTools(roles ...protocol.Role) []Tool {
	var tools []Tool
	for _, t := range protocol.Types() {
		about, _ := protocol.Describe(t)
		if about.Method == "" || about.Answer == "" || !servedBy(t, roles) {
			continue
		}
		input, err := protocol.Schema(t)
		if err != nil {
			panic(err) // each type has a schema: a test of host/protocol sees to it
		}
		output, err := protocol.Schema(about.Answer)
		if err != nil {
			panic(err)
		}
		aliases := append(about.Aliases, string(t))
		if lower := strings.ToLower(string(t)); lower != about.Method {
			aliases = append(aliases, lower)
		}
		tools = append(tools, Tool{Name: about.Method, Aliases: aliases, Input: input, Output: output, Guarded: true})
	}
	return tools
}

func servedBy(t protocol.Type, roles []protocol.Role) bool {
	if len(roles) == 0 {
		return true
	}
	for _, role := range roles {
		for _, s := range served[role] {
			if s == t {
				return true
			}
		}
	}
	return false
}
