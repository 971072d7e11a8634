package plugins

import "time"

// Usage is what the processes of a plugin, or of an isolated script, have taken
// and how they have fared.
type Usage struct {
	// Process is what messages call the plugin; strategies of one plugin share it.
	Process string
	// CPU is the processor time of all of them so far, of the one that is
	// running as it has last told, which it does with every answer.
	CPU time.Duration
	// Peak is the most memory that any of them was seen to have resident, in
	// bytes. A process that dies by itself is not looked at again. 0 if none was
	// seen, or the system does not tell.
	Peak uint64
	// Memory is the cap on what a worker takes up for its script, in bytes; 0
	// for a plugin, which has none.
	Memory uint64
	// Starts is how often a process was started, Failed how often one has
	// failed by its own fault.
	Starts, Failed int
	// Aside says that it has failed too often and is not started any more.
	Aside bool
}

// Metered is a factory that knows what its processes have taken. The factories
// that Open returns do. Usage may be called at any time, by anybody.
type Metered interface{ Usage() Usage }

var _ Metered = (*factory)(nil)

// Usage implements Metered.
func (f *factory) Usage() Usage { return f.keeper.usage() }

func (k *keeper) usage() Usage {
	k.mu.Lock()
	defer k.mu.Unlock()
	u := Usage{
		Process: k.config.Name, CPU: k.spent, Peak: k.peak, Memory: k.config.Memory,
		Starts: k.starts, Failed: k.failed, Aside: k.aside != nil && k.aside != errEnded,
	}
	if p := k.process; p != nil {
		u.CPU += p.spent()
		u.Peak = max(u.Peak, p.child.peak())
		if p.blamed() { // and nobody has had need of another since
			u.Failed++
		}
	}
	return u
}

// spent returns the processor time of a process, as it has last told while it
// runs.
func (p *process) spent() time.Duration {
	select {
	case <-p.child.done:
		return time.Duration(p.child.cpu()) * time.Microsecond
	default:
		return time.Duration(p.cpu.Load()) * time.Microsecond
	}
}

// peak returns the most memory that a running process has had resident.
func (c *child) peak() uint64 {
	c.mu.Lock()
	p := c.system
	c.mu.Unlock()
	if p == nil {
		return 0
	}
	select {
	case <-c.done: // its number may be somebody else's by now
		return 0
	default:
		return peakOf(p.Pid)
	}
}
