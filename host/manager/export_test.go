package manager

// Reserve keeps reports of a match waiting, as an event of it does that is on its way into the
// journal, until release is called.
func (m *Manager) Reserve(match string) (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reserve(match)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.release(match)
	}
}
