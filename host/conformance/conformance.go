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
	"context"
	"errors"
	"fmt"
	"strings"
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

// suites builds the suite of a role when it is needed: the hostile requests in
// it are long, and every command of a program asks for the names of the roles.
var suites = []struct {
	role  Role
	build func() kit.Suite
}{{Player, player.Suite}, {Referee, referee.Suite}, {Manager, manager.Suite}}

func suiteOf(role Role) (kit.Suite, error) {
	var known []string
	for _, s := range suites {
		if s.role == role {
			return s.build(), nil
		}
		known = append(known, string(s.role))
	}
	return kit.Suite{}, fmt.Errorf("there are no checks for the role %q; use %s", role, strings.Join(known, ", "))
}

// Roles returns the roles for which there are checks.
func Roles() []Role {
	var roles []Role
	for _, s := range suites {
		roles = append(roles, s.role)
	}
	return roles
}

// ParseRole reads a role. The error names the known roles.
func ParseRole(s string) (Role, error) {
	suite, err := suiteOf(Role(s))
	return suite.Role, err
}

// Levels returns all levels, most serious first.
func Levels() []Level { return kit.Levels() }

// Checks returns the checks of a role, in the order in which they run; nil for an unknown role.
func Checks(role Role) []Check {
	s, err := suiteOf(role)
	if err != nil {
		return nil
	}
	return s.Checks
}

// Select returns the checks with the given ids. An id also selects all checks
// below it: "player.join" selects "player.join.answer". No ids select all
// checks. It returns an error for an id that selects nothing.
func Select(checks []Check, only []string) ([]Check, error) { return kit.Select(checks, only) }

// Run runs the checks and returns their results. The error says why there is no report: the config
// is wrong, no agent is listening (an *UnreachableError), or ctx was canceled.
func Run(ctx context.Context, cfg Config) (_ *Report, err error) {
	suite, err := suiteOf(cfg.Role)
	if err != nil {
		return nil, err
	}
	checks, err := kit.Select(suite.Checks, cfg.Only)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, c := range checks {
		ids = append(ids, c.ID)
	}
	s := kit.NewSession(withDefaults(cfg), ids)
	defer func() { err = errors.Join(err, s.Close()) }()
	began := time.Now()
	peers, err := suite.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, peers.Close()) }()
	r := &Report{Schema: ReportSchema, Role: cfg.Role, URL: cfg.URL}
	played := false
	play := func() {
		if !played {
			played = true
			r.Played = s.Play(ctx, peers)
		}
	}
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
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Wait <= 0 {
		c.Wait = DefaultWait
	}
	if c.Pause <= 0 {
		c.Pause = kit.LongestPause
	}
	if c.Players == 0 {
		c.Players = DefaultPlayers
	}
	c.Players = min(max(c.Players, MinPlayers), MaxPlayers)
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.Listening == nil {
		c.Listening = func(string) {}
	}
	if c.Began == nil {
		c.Began = func(string) {}
	}
	if c.Say == nil {
		c.Say = func(string) {}
	}
	return c
}
