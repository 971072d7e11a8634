// Package conformance checks a running league.v2 agent against every rule of
// the protocol that can be observed from outside.
//
// A [kit.Check] is a rule with an id and a level. [Run] starts the agents that an agent of a role needs
// (a player needs a manager and referees, for example), runs the checks of the role in the order of
// [Checks], and returns a [Report] for people, as JSON or as JUnit XML. The report has the messages
// before each failure as evidence.
//
// The suites of the roles are in the packages player, referee and manager;
// package kit is what they share. To the agent, the suite looks like any other
// league: it uses the same sockets, and ends the league after the checks.
package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/conformance/manager"
	"github.com/strategylab/strategylab/host/conformance/player"
	"github.com/strategylab/strategylab/host/conformance/referee"
)

// Defaults and limits of a Config.
const (
	DefaultTimeout = 5 * time.Second
	DefaultWait    = 15 * time.Second
	defaultPause   = 4 * time.Second // that of the protocol
	DefaultPlayers = manager.DefaultPlayers
	MinPlayers     = manager.MinPlayers
	MaxPlayers     = manager.MaxPlayers
)

// suites build those of the roles when they are needed: the hostile requests in them are long, and
// every command of a program asks for the names of the roles.
var suites = map[kit.Role]func() kit.Suite{kit.Player: player.Suite, kit.Referee: referee.Suite, kit.Manager: manager.Suite}

// Roles returns the roles for which there are checks.
func Roles() []kit.Role { return []kit.Role{kit.Player, kit.Referee, kit.Manager} }

// ParseRole reads a role. The error names the known roles.
func ParseRole(s string) (kit.Role, error) {
	if suites[kit.Role(s)] == nil {
		return "", fmt.Errorf("there are no checks for the role %q; use player, referee, manager", s)
	}
	return kit.Role(s), nil
}

// Levels returns all levels, most serious first.
func Levels() []kit.Level { return []kit.Level{kit.Must, kit.Should, kit.Wild} }

// Checks returns the checks of one of the Roles, in the order in which they run.
func Checks(role kit.Role) []kit.Check { return suites[role]().Checks }

// Select returns the checks with the given ids. An id also selects all checks
// below it: "player.join" selects "player.join.answer". No ids select all
// checks. It returns an error for an id that selects nothing.
func Select(checks []kit.Check, only []string) ([]kit.Check, error) {
	if len(only) == 0 {
		return checks, nil
	}
	named := func(c kit.Check, id string) bool { return c.ID == id || strings.HasPrefix(c.ID, id+".") }
	for _, want := range only {
		if !slices.ContainsFunc(checks, func(c kit.Check) bool { return named(c, want) }) {
			return nil, fmt.Errorf("no check is called %q", want)
		}
	}
	return slices.DeleteFunc(slices.Clone(checks), func(c kit.Check) bool {
		return !slices.ContainsFunc(only, func(id string) bool { return named(c, id) })
	}), nil
}

// Run runs the checks and returns their results. The error says why there is no report: the config
// is wrong, no agent is listening ([kit.ErrUnreachable]), or ctx was canceled.
func Run(ctx context.Context, cfg kit.Config) (_ *Report, err error) {
	if _, err := ParseRole(string(cfg.Role)); err != nil {
		return nil, err
	}
	suite := suites[cfg.Role]()
	checks, err := Select(suite.Checks, cfg.Only)
	if err != nil {
		return nil, err
	}
	cfg.Only = nil
	for _, c := range checks {
		cfg.Only = append(cfg.Only, c.ID)
	}
	s := kit.NewSession(withDefaults(cfg))
	began := time.Now()
	peers, err := suite.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, peers.Close()) }()
	r := &Report{Schema: ReportSchema, Role: cfg.Role, URL: cfg.URL}
	play := sync.OnceFunc(func() { r.Played = s.Play(ctx, peers) })
	for _, check := range checks {
		if strings.HasPrefix(check.ID, string(cfg.Role)+".end.") {
			play() // it may leave with the end of its league
		}
		s.Began(check.ID)
		o := s.Run(ctx, peers, check, r.Outcomes)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r.Outcomes = append(r.Outcomes, o)
	}
	play()
	r.Agent, r.Dialect = peers.Name(), s.Peer.Speaks().Name
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

func withDefaults(c kit.Config) kit.Config {
	c.Timeout = cmp.Or(max(c.Timeout, 0), DefaultTimeout)
	c.Wait = cmp.Or(max(c.Wait, 0), DefaultWait)
	c.Pause = cmp.Or(max(c.Pause, 0), defaultPause)
	c.Players = min(max(cmp.Or(c.Players, DefaultPlayers), MinPlayers), MaxPlayers)
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:0")
	for _, call := range []*func(string){&c.Listening, &c.Began, &c.Say} {
		if *call == nil {
			*call = func(string) {}
		}
	}
	return c
}
