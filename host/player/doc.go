// Package player is the league.v2 player agent: it registers with a manager,
// answers invitations and calls for a choice, and leaves every choice to a
// strategy.
//
// The agent never opens a socket. Whoever assembles it serves Handler over a
// transport, gives the agent the URL under which it is reached, and then calls
// Run; so the agent listens before it registers. States, as league.v2 names
// them: UNREGISTERED, REGISTERED, WAITING_FOR_ROUND, IN_MATCH,
// WAITING_FOR_RESULT.
//
// # What it promises
//
//   - A strategy chooses at most once for each match; a repeated call gets the
//     same answer, after a restart too if there is a data directory.
//   - A strategy that fails costs its matches, never the agent: the call for a
//     choice is refused for good (E007), so that the referee need not wait, and
//     the opponent learns nothing. A seat that is out still joins its matches.
//   - A match message that does not bear the match key is refused (4001). Under
//     a manager that knows no match keys, the first token seen for a match
//     holds for that match.
//   - Without Once the agent stays when a league is over, and registers for the
//     next; one whose manager has lost its memory registers again.
//   - What a manager sends is believed only with the manager's token, once one
//     has been seen, and always in strict mode (3001).
package player
