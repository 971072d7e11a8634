//go:build !linux

package peertest

import "testing"

// isolated returns a network of its own for one league: there is none on this
// system.
func isolated(testing.TB) (*network, bool) { return nil, false }
