package manager

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/host/jsonrpc"
	"github.com/strategylab/strategylab/host/protocol"
	"github.com/strategylab/strategylab/host/wire"
)

// Probe says what is done to find out whether the endpoint that an agent
// registers with can be reached.
type Probe string

const (
	ProbeWarn    Probe = "warn"    // try it in the background, and log a warning
	ProbeOff     Probe = "off"     // nothing
	ProbeRequire Probe = "require" // try it first, and refuse the agent with 1002 or 2003
)

// ParseProbe reads one of these.
func ParseProbe(s string) (Probe, error) {
	if !slices.Contains([]Probe{ProbeWarn, ProbeOff, ProbeRequire}, Probe(s)) {
		return "", fmt.Errorf("there is no probe %q; there are off, warn and require", s)
	}
	return Probe(s), nil
}

// DefaultLeagueID is the id that most programs expect, some without asking.
const DefaultLeagueID = "league_2025_even_odd"

// DefaultMaxReferees is how many referees a league takes.
const DefaultMaxReferees = 64

// Config configures a Manager. The zero value of a field means the default
// named with it; only Caller must be given.
type Config struct {
	// LeagueID names the league, by default DefaultLeagueID. It is part of file names
	// and of every agent's keys, so it cannot change while a league lasts.
	LeagueID string
	// DataDir is where the journal and the JSON views are kept. Without it the
	// league lives in memory only, and no file is written.
	DataDir string
	// NoSync leaves it to the operating system when the journal reaches the
	// disk: a crash of the machine may then lose the last events.
	NoSync bool

	// Players is the number of players at which the league starts by itself, as
	// soon as there is a referee too; 0 leaves that to START_LEAGUE or Start.
	Players int
	// Ready, if set, holds a league back until it is closed: the manager answers requests and
	// starts and announces nothing. A process whose own agents take part waits for them this way.
	Ready <-chan struct{}
	// MaxPlayers and MaxReferees bound the registrations: by default Players or,
	// where that is 0, game.MaxPlayers; and DefaultMaxReferees.
	MaxPlayers, MaxReferees int
	// MaxPerAddress bounds the players that register from one address outside this
	// machine, or from one IPv6 network of 64 bits: 0, for no bound. Players behind
	// one router or proxy share an address.
	MaxPerAddress int
	// Legs is how often each pair meets: 1. A league that has started continues
	// with as many as it started with.
	Legs int
	// Pace is the pause after each round but the last, for people who watch: 0. It
	// counts until the organiser sets another (SetPace), also before a restart.
	Pace time.Duration
	// Draw is what a referee may draw: game.FairDraw. A report of a number that
	// cannot be drawn is refused. Strict mode takes no number outside 1..10.
	Draw game.Draw

	// AdminToken is what START_LEAGUE and the queries of the launcher must show. Without one they
	// must come from this machine (see the package documentation).
	AdminToken string
	// AllowHosts are patterns of jsonrpc.MatchHost for hosts outside loopback that agents may have
	// their endpoints on.
	AllowHosts []string
	Probe      Probe // ProbeWarn

	// Mode says how much is asked of requests.
	Mode protocol.Mode
	// Caller sends the notifications.
	Caller *wire.Caller

	// Timeout is the time for one attempt to notify an agent: 10 s.
	Timeout time.Duration
	// JoinTimeout and ChoiceTimeout are those of the referees, 5 s and 30 s. They
	// enter the default of MatchDeadline, and a foreign referee of a tolerant
	// league gets twice JoinTimeout to show that it conducts its matches.
	JoinTimeout, ChoiceTimeout time.Duration
	// Backoff is how a notification is tried again: game.LeagueBackoff. For no
	// retries set only First.
	Backoff game.Backoff
	// MatchDeadline is the time without a report after which a referee that still owes one is taken
	// for dead: by default what a match takes at most when every message of it is tried to the end.
	MatchDeadline time.Duration

	// Random is what tokens are made of: crypto/rand.
	Random io.Reader
	// Now returns the time for timestamps: time.Now. Deadlines do not use it.
	Now func() time.Time
	// Log gets what a person should know; by default nothing is logged.
	Log *slog.Logger
	// Progress asks referees of this program in other processes how far their matches
	// are, for MatchesProgressed.
	Progress bool

	// Events, if set, receives what happens, one event at a time and in order.
	// It must be quick, since the cause of an event may wait for it. It may
	// ask the Manager for its Standings or Results, but must not Close it.
	Events func(Event)
}

func (c Config) withDefaults() (Config, error) {
	c.LeagueID = cmp.Or(c.LeagueID, DefaultLeagueID)
	c.MaxPlayers = cmp.Or(c.MaxPlayers, c.Players, game.MaxPlayers)
	c.MaxReferees = cmp.Or(c.MaxReferees, DefaultMaxReferees)
	c.Legs = cmp.Or(c.Legs, 1)
	c.Probe = cmp.Or(c.Probe, ProbeWarn)
	c.Timeout = cmp.Or(c.Timeout, 10*time.Second)
	c.JoinTimeout = cmp.Or(c.JoinTimeout, 5*time.Second)
	c.ChoiceTimeout = cmp.Or(c.ChoiceTimeout, 30*time.Second)
	c.Backoff = cmp.Or(c.Backoff, game.LeagueBackoff())
	c.MatchDeadline = cmp.Or(c.MatchDeadline, c.longestMatch())
	c.Random = cmp.Or(c.Random, rand.Reader)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if c.Draw.Size() == 0 {
		c.Draw = game.FairDraw()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, c.check()
}

// longestMatch is the time of a match whose players answer each message only when it is tried for
// the last time, and a spare attempt for either side of it.
func (c Config) longestMatch() time.Duration {
	tries := time.Duration(1 + max(c.Backoff.Retries, 0))
	return tries*(c.JoinTimeout+c.ChoiceTimeout) + 2*c.Backoff.Total() + 2*c.Timeout
}

func (c Config) check() error {
	switch {
	case c.Caller == nil || c.Caller.Client == nil || c.Caller.Codec == nil:
		return errors.New("manager: Config.Caller is missing")
	case !protocol.ValidID(c.LeagueID):
		return fmt.Errorf("manager: %q cannot name a league; use up to 64 letters, digits, dots, dashes and underscores", c.LeagueID)
	case c.Players < 0 || c.Players == 1 || c.Players > c.MaxPlayers:
		return fmt.Errorf("manager: a league with room for %d players cannot start with %d", c.MaxPlayers, c.Players)
	case c.MaxPlayers < game.MinPlayers || c.MaxPlayers > game.MaxPlayers:
		return fmt.Errorf("manager: a league has %d to %d players, not %d", game.MinPlayers, game.MaxPlayers, c.MaxPlayers)
	case c.MaxPerAddress < 0:
		return fmt.Errorf("manager: %d players for each address; use 0 for no bound", c.MaxPerAddress)
	case c.MaxReferees < 1:
		return fmt.Errorf("manager: a league has at least 1 referee, not %d", c.MaxReferees)
	}
	if _, err := game.NewSchedule(max(c.Players, game.MinPlayers), c.Legs); err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	for _, pattern := range c.AllowHosts {
		if err := jsonrpc.CheckHostPattern(pattern); err != nil {
			return fmt.Errorf("manager: %w", err)
		}
	}
	return nil
}
