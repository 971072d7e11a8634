package report

import "fmt"

// Process is what the processes of one plugin, or of one script that was played
// apart, have taken and how they have fared. It depends on the machine.
type Process struct {
	Name    string   `json:"name"`    // of the program or the script
	Kind    string   `json:"kind"`    // "plugin", "lua" or "js"
	Players []string `json:"players"` // who were played by it, in field order

	CPUSeconds float64 `json:"cpu_seconds"` // processor time of all of them, one after another
	// PeakBytes is the most memory that one of them was seen to have resident;
	// null if the system does not tell.
	PeakBytes *uint64 `json:"peak_bytes"`
	// CapBytes is what a script may take up; absent for a plugin, which has no cap.
	CapBytes uint64 `json:"cap_bytes,omitempty"`

	Starts   int `json:"starts"`   // how often one was started
	Failures int `json:"failures"` // how often one failed by its own fault, to start for instance
	// PutAside says that it failed too often and was started no more: from then
	// on its players lost every match.
	PutAside bool `json:"put_aside"`
}

// String says in one line what there is to say.
func (p Process) String() string {
	name := printable(p.Name)
	if p.Kind == "plugin" {
		name = "plugin " + name
	}
	line := fmt.Sprintf("%s, in a process of its own: %.2f s of processor time", name, p.CPUSeconds)
	if p.PeakBytes != nil {
		line += fmt.Sprintf(", at most %s resident", mebibytes(*p.PeakBytes))
	}
	if p.Failures > 0 {
		line += ", failed " + times(p.Failures)
	}
	if p.Starts > 1 || p.Failures > 0 {
		line += ", started " + times(p.Starts)
	}
	if p.PutAside {
		line += ", put aside"
	}
	return line
}

// processLines say what ran in processes of their own.
func (r Run) processLines() []string {
	var lines []string
	for _, p := range r.Facts.Processes {
		lines = append(lines, p.String())
	}
	return lines
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// mebibytes rounds up, so that nothing is said to have taken none.
func mebibytes(bytes uint64) string { return fmt.Sprintf("%d MiB", (bytes+1<<20-1)>>20) }
