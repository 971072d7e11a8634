// Package conformance checks a running league.v2 agent against every rule of
// the protocol that can be observed from outside.
//
// A [Check] is a rule with an id and a level. [Run] starts the agents that an agent of a role needs
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
	"strings"
	"sync"
	"time"

	"github.com/strategylab/strategylab/host/conformance/kit"
	"github.com/strategylab/strategylab/host/conformance/manager"
	"github.com/strategylab/strategylab/host/conformance/player"
	"github.com/strategylab/strategylab/host/conformance/referee"
)

// The vocabulary of checks and their results, which the suites share.
type (
	Config           = kit.Config
	Role             = kit.Role
	Level            = kit.Level
	Check            = kit.Check
	Status           = kit.Status
	Outcome          = kit.Outcome
	Evidence         = kit.Evidence
	Play             = kit.Play
	UnreachableError = kit.UnreachableError
)

// The roles, levels and statuses.
const (
	Player  = kit.Player
	Referee = kit.Referee
	Manager = kit.Manager

	Must   = kit.Must
	Should = kit.Should
	Wild   = kit.Wild

	Passed  = kit.Passed
	Failed  = kit.Failed
	Skipped = kit.Skipped
)

// Defaults and limits of a Config.
const (
	DefaultTimeout = 5 * time.Second
	DefaultWait    = 15 * time.Second
	DefaultPlayers = manager.DefaultPlayers
	MinPlayers     = manager.MinPlayers
	MaxPlayers     = manager.MaxPlayers
)

// suites build those of the roles when they are needed: the hostile requests in them are long, and
// every command of a program asks for the names of the roles.
var suites = map[Role]func() kit.Suite{Player: player.Suite, Referee: referee.Suite, Manager: manager.Suite}

// Roles returns the roles for which there are checks.
func Roles() []Role { return []Role{Player, Referee, Manager} }

// ParseRole reads a role. The error names the known roles.
func ParseRole(s string) (Role, error) {
	if suites[Role(s)] == nil {
		return "", fmt.Errorf("there are no checks for the role %q; use player, referee, manager", s)
	}
	return Role(s), nil
}

// Levels returns all levels, most serious first.
func Levels() []Level { return kit.Levels() }

// Checks returns the checks of a role, in the order in which they run; nil for an unknown role.
func Checks(role Role) []Check {
	if _, err := ParseRole(string(role)); err != nil {
		return nil
	}
	return suites[role]().Checks
}

// Select returns the checks with the given ids. An id also selects all checks
// below it: "player.join" selects "player.join.answer". No ids select all
// checks. It returns an error for an id that selects nothing.
func Select(checks []Check, only []string) ([]Check, error) { return kit.Select(checks, only) }

// Run runs the checks and returns their results. The error says why there is no report: the config
// is wrong, no agent is listening (an *UnreachableError), or ctx was canceled.
func Run(ctx context.Context, cfg Config) (_ *Report, err error) {
	if _, err := ParseRole(string(cfg.Role)); err != nil {
		return nil, err
	}
	suite := suites[cfg.Role]()
	checks, err := kit.Select(suite.Checks, cfg.Only)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, c := range checks {
		ids = append(ids, c.ID)
	}
	s := kit.NewSession(withDefaults(cfg), ids)
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
	r.Agent, r.Dialect = peers.Describe()
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

func withDefaults(c Config) Config {
	c.Timeout = cmp.Or(max(c.Timeout, 0), DefaultTimeout)
	c.Wait = cmp.Or(max(c.Wait, 0), DefaultWait)
	c.Pause = cmp.Or(max(c.Pause, 0), kit.LongestPause)
	c.Players = min(max(cmp.Or(c.Players, DefaultPlayers), MinPlayers), MaxPlayers)
	c.Listen = cmp.Or(c.Listen, "127.0.0.1:0")
	for _, call := range []*func(string){&c.Listening, &c.Began, &c.Say} {
		if *call == nil {
			*call = func(string) {}
		}
	}
	return c
}
