// Package conformance plays the counterpart of a running league.v2 agent and
// checks every rule of the protocol that can be seen from outside.
//
// A check is a rule with an id and a level. It is given a [T], says through it
// what it sends, and fails or is skipped with a reason; what was sent and what
// came back is kept as evidence. [Run] carries out the checks of a role one after
// another, in the order of [Checks], since some leave the agent in a state that
// others need, and returns a [Report], which can be written for people, as JSON
// and as JUnit XML.
//
// The counterpart speaks to the agent through the same sockets as any peer. The
// agent under test is not harmed: after the checks it is told that the league
// is complete. A manager plays one whole league with the counterpart, in which
// everything happens that checks want to see; the checks then look at what was
// written down.
package conformance
