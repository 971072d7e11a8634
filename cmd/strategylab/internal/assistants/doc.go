// Package assistants holds the command mcp, which offers the lab to assistants
// over the Model Context Protocol: tools that list, show, check, play, compare and
// explain strategies, the script API and finished reports as resources, and a
// prompt that teaches a model to write a strategy.
//
// Three bounds hold for whatever a model sends:
//
//   - A strategy is named by its name or brought along as source. No text that
//     comes in is ever a path; what becomes a file name is checked letter by
//     letter, and files are opened below roots that links do not lead out of.
//   - Every script runs in a process of its own, whoever wrote it.
//   - Leagues, players, sources, time, experiments under way, reports kept and
//     the length of answers are bounded.
package assistants
