package strategytest_test

import (
	"time"
)

// Scripts of beginners, each with one flaw, and what has to be said of it.
func beginners(rt *toy, clock *ticker) map[string]hooks {
	return map[string]hooks{
		"sound": {
			start: func(v *vm) { clock.pass(40 * time.Microsecond) },
			choose: func(v *vm) any {
				clock.pass(12 * time.Microsecond)
				past := v.turn["history"].([]object)
				if len(past) == 0 {
					return evenOdd(v.flip())
				}
				return evenOdd(past[len(past)-1]["opponent_choice"] == "odd")
			},
			observe: func(v *vm) { clock.pass(3 * time.Microsecond) },
		},
		"panics":            {choose: func(v *vm) any { panic("index out of range [7]") }, observe: func(v *vm) {}},
		"panics at once":    {start: func(*vm) { panic("no such file") }, choose: always("even").choose},
		"panics in observe": {choose: always("even").choose, observe: func(*vm) { panic("nil map") }},
		"constant":          always("even"),
		"probability":       always(0.75),
		"wrong answer":      always("Even"),
		"start throws":      {start: func(*vm) { throw(2, "attempt to call a nil value") }, choose: always("even").choose},
		"choose throws":     {choose: func(*vm) any { throw(5, "attempt to index a nil value"); return nil }},
		"choice of a technical loss": {choose: always("odd").choose, observe: func(v *vm) {
			if v.outcome["opponent_choice"] == nil {
				throw(7, "attempt to concatenate a nil value (field 'opponent_choice')")
			}
		}},
		"last of an empty list": {choose: func(v *vm) any {
			if v.turn["played"] == 0 && v.turn["role"] == "PLAYER_B" {
				throw(3, "index out of range")
			}
			return "odd"
		}},
		"more than one opponent": {start: func(v *vm) {
			if players := v.setup["players"].([]string); len(players) > 0 && len(players) < 3 {
				throw(1, "need three players")
			}
		}, choose: always("even").choose},
		"every round": {choose: func(v *vm) any {
			if v.turn["round"].(int) > 0 && v.turn["round"] != v.turn["played"].(int)+1 {
				throw(4, "round out of step")
			}
			return "even"
		}},
		"number as index": {choose: always("even").choose, observe: func(v *vm) {
			if n, drawn := v.outcome["drawn_number"].(int); drawn && (n < 1 || n > 10) {
				throw(6, "index %d out of range", n)
			}
		}},
		"history grows": {choose: func(v *vm) any {
			for range v.turn["history"].([]object) {
				clock.pass(time.Microsecond)
			}
			return "even"
		}},
		"too much memory": {choose: func(v *vm) any {
			if len(v.turn["history"].([]object)) > 100 {
				spin(v)
			}
			return "even"
		}},
		"slow": {choose: func(v *vm) any { clock.pass(3 * time.Millisecond); return "even" }},
		"nearly too slow": {choose: func(v *vm) any {
			if v.turn["round"] == 3 {
				clock.pass(200 * time.Millisecond)
			}
			return "even"
		}},
		"never returns": {choose: func(v *vm) any { spin(v); return nil }},
		"needs the field": {choose: func(v *vm) any {
			if v.turn["opponent"] == nil {
				throw(8, "who is it?")
			}
			return "even"
		}},
		"waits for observe": {choose: func(v *vm) any {
			if v.memory["asked"] != nil {
				throw(9, "not told of the last match")
			}
			v.memory["asked"] = true
			return "even"
		}, observe: func(v *vm) { delete(v.memory, "asked") }},
		"in order": {choose: always("even").choose, observe: func(v *vm) {
			if last, ok := v.memory["round"].(int); ok && v.outcome["round"].(int) < last {
				throw(10, "observe in the wrong order")
			}
			v.memory["round"] = v.outcome["round"]
		}},
		"takes turns": {choose: func(v *vm) any {
			odd, _ := v.memory["odd"].(bool)
			v.memory["odd"] = !odd
			return evenOdd(!odd)
		}},
		"counts to a million": {start: func(v *vm) { v.work(7) }, choose: func(v *vm) any {
			v.work(1_000_000)
			return "even"
		}},
		"counts to four million": {choose: always("even").choose, observe: func(v *vm) {
			if v.outcome["round"] == 7 {
				v.work(3_999_999)
			}
			v.work(1)
		}},
		"mixed by the clock": {choose: func(v *vm) any { return float64(rt.ticks.Add(1)%4) / 4 }},
		"for one league": {choose: always("even").choose, observe: func(v *vm) {
			if rt.ticks.Add(1) > 60 {
				throw(11, "the file is full")
			}
		}},
		"by the clock": {choose: func(v *vm) any { return evenOdd(rt.ticks.Add(1)%3 == 0) }},
	}
}
