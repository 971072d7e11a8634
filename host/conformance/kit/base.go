package kit

// AnyOf returns the first of the samples that the agent accepts: not every agent
// knows every message. If it accepts none, the sample is the first one, and a
// refusal in the same words no longer counts as a finding about anything else.
// The choice is made once in a session.
func AnyOf(samples ...Sample) Sample {
	return func(t *T) Request {
		s := t.Session
		if s.base == nil {
			s.base = samples[0]
			for i, sample := range samples {
				a := t.Aside().try(sample)
				if a.Taken() {
					s.base, s.control = sample, nil
					break
				}
				if i == 0 && a.Refused {
					s.control = a
				}
			}
		}
		return s.base(t)
	}
}

// try sends a sample. A sample that cannot be made is not answered.
func (t *T) try(sample Sample) *Answer {
	a := &Answer{}
	t.Catch(func() { a = t.Send(sample(t)) })
	return a
}

// Taken reports whether an answer accepts the request.
func (a *Answer) Taken() bool { return !a.Refused && a.OK() && a.Document != nil }

// Control reports whether an answer is the refusal that the agent gives to the
// base of the session without any fault.
func (t *T) Control(a *Answer) bool {
	c := t.Session.control
	return c != nil && c.SameRefusal(a)
}

// needsAccepted skips a check if the agent accepts no sample.
func (t *T) needsAccepted() {
	if c := t.Session.control; c != nil {
		t.Skip("it accepts none of the messages with which this is tested: %s", c)
	}
}

// FormCheck tests the form of every refusal of the session so far.
func FormCheck(role Role) Check {
	return Check{
		ID: string(role) + ".hostile.form", Level: Should,
		Rule:   "A refusal is a JSON-RPC error, or a result that says why; an HTTP status alone is not one (league.v2, errors).",
		Advice: `Answer {"jsonrpc": "2.0", "id": ..., "error": {"code": -32600, "message": "..."}}; in FastAPI, write exception handlers for RequestValidationError and HTTPException.`,
		Run: func(t *T) {
			if e := t.Session.firstPlain(); e != nil {
				t.Keep(*e)
				t.Fail("it is refused with HTTP %d, without an error of JSON-RPC", e.Status)
			}
		},
	}
}

// keepPlain keeps the first refusal that is only an HTTP status.
func (s *Session) keepPlain(e Evidence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plain == nil {
		s.plain = &e
	}
}

func (s *Session) firstPlain() *Evidence {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plain
}
