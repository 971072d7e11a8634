// Package agent is what the agents of a league have in common: registering with
// a manager that may speak any dialect, knowing who its messages come from,
// retrying calls, and answering a peer in the dialect that it reads.
package agent
