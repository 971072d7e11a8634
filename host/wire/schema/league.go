package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/strategylab/strategylab/host/protocol"
)

// LeagueTools returns the tools of an agent that takes messages of these types,
// in the order in which a league sees them: one for each method of the message
// table, under the method's name and with its other names as aliases. The input
// is the message as an agent in that mode asks for it, the output its answer.
//
// Without types, all that have an answer are taken. The error says that a type
// is no request that is answered.
func LeagueTools(mode protocol.Mode, types ...protocol.Type) ([]Tool, error) {
	var tools []Tool
	for _, t := range protocol.Types() {
		about, _ := protocol.Describe(t)
		answered := about.Method != "" && about.Answer != ""
		switch wanted := slices.Contains(types, t); {
		case len(types) == 0 && !answered || len(types) > 0 && !wanted:
			continue
		case !answered:
			return nil, fmt.Errorf("schema: %s is no request that is answered, so it is no tool", t)
		}
		tool, err := leagueTool(about, mode)
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

func leagueTool(about protocol.Description, mode protocol.Mode) (Tool, error) {
	input, err := protocol.RequestSchema(about.Type, mode)
	if err != nil {
		return Tool{}, fmt.Errorf("schema: %w", err)
	}
	output, err := protocol.AnswerSchema(about.Answer, mode)
	if err != nil {
		return Tool{}, fmt.Errorf("schema: %w", err)
	}
	aliases := append(about.Aliases, string(about.Type))
	if lower := strings.ToLower(string(about.Type)); lower != about.Method {
		aliases = append(aliases, lower)
	}
	return Tool{Name: about.Method, Aliases: aliases, Input: input, Output: output, Message: true}, nil
}
