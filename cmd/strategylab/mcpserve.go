package main

import (
	"github.com/urfave/cli/v2"

	"github.com/strategylab/strategylab/host/mcptools"
)

const flagMCP = "mcp"

func mcpFlag() cli.Flag {
	return &cli.StringFlag{Name: flagMCP, Value: "on", Usage: "on or off: offer the agents' messages as tools to clients of the Model Context Protocol, on the same endpoints"}
}

// mcpOffer returns what agents offer to such clients, nil for nothing.
func mcpOffer(c *cli.Context) (*mcptools.Config, error) {
	answer, err := oneOf(c, flagMCP, "on", "off")
	if err != nil || answer == "off" {
		return nil, err
	}
	return new(mcptools.Config), nil
}
