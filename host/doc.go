// Package host assembles a whole league from its agents: a manager, referees
// and players, each with an endpoint of its own on a network of sockets or of
// memory. What the agents do is theirs; this package starts them in the right
// order, waits for them, and collects what was played.
//
// League is one league, for people to watch or to take part in. Driver plays
// the leagues of an experiment, with the same seats, draws and coins that the
// direct arena uses, so that the same plan gives the same records whichever
// way it is played.
package host
