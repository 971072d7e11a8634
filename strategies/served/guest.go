package served

import "fmt"

// Guest is an agent for another manager than that of this package.
type Guest struct {
	URL string // at which it will listen

	factory *Factory
	port    int
	output  tail
	process *process
}

// Guest returns the agent before it is started, at an address of its own. The error says
// that the address is not known before it registers.
func (f *Factory) Guest() (*Guest, error) {
	g := &Guest{URL: f.spec.URL, factory: f}
	if g.URL != "" {
		return g, nil
	}
	if f.spec.Shared() {
		return nil, fmt.Errorf("its command has no %s, so that its address is not known", portWord)
	}
	var err error
	g.port, err = freePort()
	g.URL = fmt.Sprintf("http://127.0.0.1:%d/mcp", g.port)
	return g, err
}

// Start starts the agent for a manager, if it does not run already.
func (g *Guest) Start(manager string) (err error) {
	if g.factory.spec.URL == "" {
		g.process, err = launch(g.factory.spec.fill(g.port, manager), g.factory.config.Dir, &g.output)
	}
	return err
}

// Close ends what Start has started.
func (g *Guest) Close() { g.process.kill() }

// Again opens the same agent without a cassette, with a process for each league or with
// one for all.
func (f *Factory) Again(eachLeague bool) (*Factory, error) {
	c := f.config
	c.EachLeague, c.Cassette, c.Offline = eachLeague, "", false
	return Open(f.spec, c)
}

// Restarts reports whether there is a process of ours for each league, if that is wanted.
func (f *Factory) Restarts() bool { return !f.spec.Shared() }
