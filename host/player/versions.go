package player

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/strategylab/strategylab/host/agent"
	"github.com/strategylab/strategylab/host/disk"
	"github.com/strategylab/strategylab/host/game"
	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/seat"
)

// Versions supplies the versions of a strategy whose author edits it while it plays.
// One goroutine at a time uses it.
type Versions interface {
	// Next waits for an edit and returns the version that it makes. An error, other than
	// the end of ctx, says why the edit cannot play; then Next is called again.
	Next(ctx context.Context) (Version, error)
	// Load returns an earlier version. What is in the file then counts as an edit.
	Load(source []byte) (strategies.Factory, error)
	// Source returns the code of the strategy that the player is made with.
	Source() []byte
}

// Version is one state of the code of a strategy. The player closes its factory.
type Version struct {
	Factory strategies.Factory
	Source  []byte
}

// VersionRecord is what one version of a strategy has played in a league.
type VersionRecord struct {
	Version string `json:"version"` // fingerprint of the code
	First   string `json:"first"`   // the first match it chose in
	Chosen  int    `json:"chosen"`  // matches that it was asked for a choice in
	Ended   int    `json:"ended"`   // those with a result so far
	Points  int    `json:"points"`
}

// version is a version of the strategy as the player uses it; guarded by Player.mu.
type version struct {
	factory strategies.Factory
	owned   bool // the player closes it
	seats   int  // open ones
	retired bool // gets no more seats
}

func (v *version) fingerprint() string {
	if v.factory == nil {
		return ""
	}
	return v.factory.Info().Fingerprint
}

// leave closes the factory of a version whose last seat has been closed, or that is
// retired without one.
func (p *Player) leave(v *version, seats int, retire bool) {
	p.mu.Lock()
	v.seats -= seats
	v.retired = v.retired || retire
	over := v.owned && v.retired && v.seats == 0
	v.owned = v.owned && !over
	p.mu.Unlock()
	if !over {
		return
	}
	if err := v.factory.Close(); err != nil {
		p.cfg.Log.Warn("closing a version of the strategy failed", "error", err)
	}
}

// followEdits takes up the edits of the strategy until the agent leaves.
func (p *Player) followEdits() {
	for {
		v, err := p.cfg.Versions.Next(p.life)
		switch {
		case p.life.Err() != nil:
			if err == nil {
				_ = v.Factory.Close() // it has not played
			}
			return
		case err != nil:
			p.emit(Event{Kind: Kept, Version: p.playing(), Error: err.Error()})
		default:
			p.takeOver(v)
		}
	}
}

// playing returns the fingerprint of the version that plays.
func (p *Player) playing() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.version.fingerprint()
}

// takeOver lets a version play from the next choice on, if it comes through the matches so far
// without a failure. The version before answers until then, and stays if not.
func (p *Player) takeOver(v Version) {
	next := &version{factory: v.Factory, owned: true}
	p.keep(next.fingerprint(), v.Source) // before its first choice is in the journal
	for {
		p.mu.Lock()
		s, was := p.league, p.version
		seated := s.seated && !s.completed
		same := was.fingerprint() == next.fingerprint()
		if !same && !seated { // the next seat is that of the new version
			p.version = next
		}
		p.mu.Unlock()
		e := Event{Kind: Reloaded, Version: next.fingerprint(), Former: was.fingerprint()}
		var err error
		switch {
		case same: // an edit was taken back
			p.leave(next, 0, true)
			return
		case seated:
			s.open.Do(func() {}) // waits until the seat is made
			e.Replayed, err = p.replaceIn(s.seat, next)
		}
		if errors.Is(err, errLeft) && p.life.Err() == nil {
			continue // in the next league
		}
		if err != nil {
			p.leave(next, 0, true)
			if p.life.Err() == nil {
				p.emit(Event{Kind: Kept, Version: was.fingerprint(), Error: err.Error()})
			}
			return
		}
		p.leave(was, 0, true)
		p.emit(e)
		return
	}
}

// step is a call of a seat: for a choice or, with an outcome, to observe.
type step struct {
	turn    strategies.Turn
	outcome *strategies.Outcome
}

// replaceIn replays the calls of a seat with a version and has it answer from then
// on. It returns the number of matches that were replayed. Calls that come
// meanwhile wait for nothing: they are replayed after the others.
func (p *Player) replaceIn(own *leagueSeat, next *version) (matches int, err error) {
	fresh, speak := own.setup, new(atomic.Bool)
	fresh.Rand = game.NewRand(fresh.Key)
	if fresh.Log != nil {
		fresh.Log = slog.New(muted{fresh.Log.Handler(), speak}) // it was all printed before
	}
	made := seat.Seat{Factory: next.factory, Coin: p.cfg.Coin, Setup: fresh}
	defer func() {
		if err != nil {
			err = errors.Join(err, made.Close())
		}
	}()
	limited := func(do func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(p.life, p.cfg.ChoiceTimeout)
		defer cancel()
		return do(ctx)
	}
	if err := limited(made.Start); err != nil {
		return 0, err
	}
	for done := 0; ; {
		steps, err := own.since(done, &made, next)
		switch {
		case err != nil:
			return matches, err
		case len(steps) == 0:
			p.mu.Lock()
			was := p.version
			p.version, next.seats = next, next.seats+1
			p.mu.Unlock()
			speak.Store(true)
			p.leave(was, 1, false)
			if err := made.Close(); err != nil { // what it is now is the former seat
				p.cfg.Log.Warn("closing a version of the strategy failed", "error", err)
			}
			return matches, nil
		}
		for _, s := range steps {
			if err := limited(func(ctx context.Context) error { return s.replay(ctx, &made) }); err != nil {
				return matches, err
			}
			if s.outcome == nil {
				matches++
			}
		}
		done += len(steps)
	}
}

// since returns the calls of a seat after the first n. If there are none, the seat is exchanged
// with other, which has received them all. The error says that the seat has been closed.
func (s *leagueSeat) since(n int, other *seat.Seat, v *version) ([]step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errLeft
	}
	steps := s.steps[n:]
	if len(steps) == 0 {
		s.seat, *other = *other, s.seat
		s.version = v
	}
	return steps, nil
}

// replay repeats a call; any failure is an error that names the match.
func (s *step) replay(ctx context.Context, to *seat.Seat) (err error) {
	id := s.turn.MatchID
	if s.outcome != nil {
		id, err = s.outcome.MatchID, to.Observe(ctx, s.outcome)
	} else {
		t := s.turn
		t.Standing = to.Standing()
		a := to.Answer(ctx, &t)
		if err = a.Err; err == nil && a.Fault != game.NoFault {
			err = fmt.Errorf("no choice (%s)", a.Fault)
		}
	}
	if err != nil {
		return fmt.Errorf("%w; in match %s, replayed", err, id)
	}
	return nil
}

// muted discards what a version prints until it plays.
type muted struct {
	slog.Handler
	speaks *atomic.Bool
}

// Enabled implements slog.Handler.
func (m muted) Enabled(ctx context.Context, l slog.Level) bool {
	return m.speaks.Load() && m.Handler.Enabled(ctx, l)
}

// WithAttrs implements slog.Handler.
func (m muted) WithAttrs(attrs []slog.Attr) slog.Handler {
	return muted{m.Handler.WithAttrs(attrs), m.speaks}
}

// WithGroup implements slog.Handler.
func (m muted) WithGroup(name string) slog.Handler {
	return muted{m.Handler.WithGroup(name), m.speaks}
}

// versionFile returns the file of the data directory that keeps a version.
func (p *Player) versionFile(fingerprint string) string {
	return filepath.Join(p.member.Folder("players"), "versions", disk.FileName(fingerprint))
}

// keep keeps the code of a version, so that an agent that is started again can play
// it whatever the file of the strategy holds then.
func (p *Player) keep(fingerprint string, source []byte) {
	if p.cfg.Data == "" || fingerprint == "" || len(source) == 0 {
		return
	}
	file := p.versionFile(fingerprint)
	err := disk.WriteFile(file, source, 0o600)
	if err == nil {
		err = p.prune(file)
	}
	if err != nil {
		p.cfg.Log.Warn("version of the strategy not kept; after a restart the file as it is then may play", "error", err)
	}
}

// prune removes the versions that nothing needs, when another one is kept: that do not
// play, and that no choice in the journal names, of whatever league.
func (p *Player) prune(newest string) error {
	p.mu.Lock()
	needed := map[string]bool{newest: true, p.versionFile(p.version.fingerprint()): true}
	for fingerprint := range p.chose {
		needed[p.versionFile(fingerprint)] = true
	}
	p.mu.Unlock()
	dir := filepath.Dir(newest)
	files, err := os.ReadDir(dir)
	for _, f := range files {
		if file := filepath.Join(dir, f.Name()); f.Type().IsRegular() && !needed[file] {
			err = errors.Join(err, os.Remove(file))
		}
	}
	return err
}

// ErrNoVersion says that a strategy does not load, and that no version of it has been
// kept that could play.
var ErrNoVersion = errors.New("no version of the strategy can play")

// resumeVersion has the version play that chose last, says the journal. Where that cannot be had,
// the strategy as it is now plays, and the event of that says why. New calls it once.
func (p *Player) resumeVersion() error {
	now, last := p.version.fingerprint(), p.league.last
	if p.cfg.Versions != nil {
		p.keep(now, p.cfg.Versions.Source())
	}
	if last == now && now != "" || last == "" && p.cfg.Factory != nil {
		return nil
	}
	f, err := p.loadVersion(last)
	switch {
	case err == nil:
		p.version = &version{factory: f, owned: true}
		return nil
	case p.cfg.Factory == nil:
		return fmt.Errorf("player: %w: %w", ErrNoVersion, err)
	}
	p.resumed = &Event{Kind: Reloaded, Version: now, Former: last, Replayed: len(p.league.matches), Error: agent.Brief(err)}
	return nil
}

// errUnkept says that the code of an earlier version is not at hand.
var errUnkept = errors.New("its code was not kept")

// loadVersion loads a version that has been kept.
func (p *Player) loadVersion(fingerprint string) (strategies.Factory, error) {
	if p.cfg.Versions == nil || p.cfg.Data == "" || fingerprint == "" {
		return nil, errUnkept
	}
	source, err := os.ReadFile(p.versionFile(fingerprint))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnkept, err)
	}
	f, err := p.cfg.Versions.Load(source)
	if err != nil {
		return nil, err
	}
	if got := f.Info().Fingerprint; got != fingerprint {
		return nil, errors.Join(fmt.Errorf("the file that keeps it holds another, %s", got), f.Close())
	}
	return f, nil
}

// noteChoice counts a match for the version that was asked for its choice. The
// player's lock is held.
func (p *Player) noteChoice(s *leagueState, m *match) {
	s.last = m.version
	if m.version == "" {
		return
	}
	p.chose[m.version] = true
	for _, r := range s.versions {
		if r.Version == m.version {
			r.Chosen++
			m.counts = r
			return
		}
	}
	m.counts = &VersionRecord{Version: m.version, First: m.Match, Chosen: 1}
	s.versions = append(s.versions, m.counts)
}

// versionRecords returns the records of the versions, nil for a strategy that has
// and has had one version only. The player's lock is held.
func (p *Player) versionRecords(s *leagueState) (all []VersionRecord) {
	if p.cfg.Versions == nil && len(s.versions) < 2 {
		return nil
	}
	for _, r := range s.versions {
		all = append(all, *r)
	}
	return all
}
