package strategytest_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/strategylab/strategylab/strategies"
	"github.com/strategylab/strategylab/strategies/budget"
	"github.com/strategylab/strategylab/strategies/strategytest"
)

func always(answer any) hooks {
	return hooks{choose: func(*vm) any { return answer }}
}

func once(answer any) hooks {
	return hooks{choose: func(v *vm) any {
		if v.turn["round"] == 1 {
			return answer
		}
		return "even"
	}}
}

func spin(v *vm) {
	for {
		v.step()
	}
}

func evenOdd(even bool) string {
	if even {
		return "even"
	}
	return "odd"
}

// toySubject writes every behaviour in Go.
func toySubject(rt *toy) strategytest.Subject {
	m := func(h hooks) strategytest.Maker { return rt.make(h) }
	return strategytest.Subject{
		Kind: "toy", Lines: true, Instructions: true,
		Patience: 200 * time.Millisecond, // of a synctest bubble, so it is exact
		Random:   m(hooks{choose: func(v *vm) any { return evenOdd(v.flip()) }}),
		Memory: m(hooks{choose: func(v *vm) any {
			asked := v.memory["asked"] != nil
			v.memory["asked"] = true
			return evenOdd(!asked)
		}}),
		Vandal: m(hooks{start: vandal, observe: vandal, choose: func(v *vm) any { vandal(v); return "even" }}),
		Escape: m(hooks{choose: func(v *vm) any {
			if rt.bug == "way-out" {
				throw(3, "os.exit can be reached")
			}
			return "even"
		}}),
		Print: m(hooks{choose: func(v *vm) any { v.print(strategytest.Printed); return "even" }}),
		Valid: []strategytest.Answer{
			{Name: "even", Make: m(always("even")), Want: strategies.Even},
			{Name: "odd", Make: m(always("odd")), Want: strategies.Odd},
			{Name: "0.25", Make: m(always(0.25)), Want: 0.25},
		},
		Invalid: []strategytest.Named{
			{Name: "Even", Make: m(once("Even"))},
			{Name: "nothing", Make: m(once(nil))},
			{Name: "NaN", Make: m(once(math.NaN()))},
		},
		Unseeded: []strategytest.Named{
			{Name: "clock", Make: m(hooks{choose: func(v *vm) any {
				if rt.bug == "clock" {
					return evenOdd(rt.ticks.Add(1)%3 == 0)
				}
				return "even"
			}})},
		},
		Unloadable: []strategytest.Named{{Name: "syntax", Make: func(l budget.Limits) (strategies.Factory, error) {
			switch rt.bug {
			case "loads-for-ever":
				<-rt.released
			case "loads-anything":
				return rt.make(always("even"))(l)
			case "plain-load-error":
				return nil, errors.New("syntax error")
			}
			return nil, &strategies.Error{Source: "scripts/toy.go", Line: 1, Op: strategies.OpLoad, Err: errors.New("syntax error")}
		}}},
		ThrowStart:   m(hooks{start: func(*vm) { throw(2, "no start") }, choose: always("even").choose}),
		ThrowObserve: m(hooks{observe: func(*vm) { throw(4, "no observe") }, choose: always("even").choose}),
		ThrowChoose: m(hooks{choose: func(v *vm) any {
			if v.turn["round"] == 1 {
				throw(3, "no choose")
			}
			return "even"
		}}),
		SpinStart: m(hooks{start: func(v *vm) {
			if v.setup["id"] == "P02" {
				spin(v)
			}
		}, choose: always("even").choose}),
		SpinObserve: m(hooks{observe: spin, choose: always("even").choose}),
		SpinChoose: m(hooks{choose: func(v *vm) any {
			if v.turn["round"] == 1 {
				spin(v)
			}
			return "even"
		}}),
		Echo: m(hooks{choose: echo}),
	}
}

func vandal(v *vm) {
	for _, o := range []object{v.setup, v.turn, v.outcome} {
		if players, ok := o["players"].([]string); ok {
			players[0] = "hacked"
		}
		switch host := o["host"].(type) {
		case *strategies.Turn:
			host.Points = 999
		case *strategies.Outcome:
			host.Points = 999
		}
		clear(o)
	}
}

// echo prints what it was handed.
func echo(v *vm) any {
	show := func(line string, o object, fields string) {
		for field := range strings.FieldsSeq(fields) {
			switch x := o[field].(type) {
			case nil:
				line += fmt.Sprintf(" %s=none", field)
			case []string:
				line += fmt.Sprintf(" %s=string %s", field, strings.Join(x, ","))
			case string:
				line += fmt.Sprintf(" %s=string %s", field, x)
			default:
				line += fmt.Sprintf(" %s=number %v", field, x)
			}
		}
		v.print(line)
	}
	const fields = "match_id round opponent role choice opponent_choice drawn_number result points"
	past, _ := v.turn["history"].([]object)
	show("setup", v.setup, "id name players rounds legs")
	show("turn", v.turn, "match_id round opponent role played wins draws losses points")
	show("outcome", v.outcome, fields)
	show(fmt.Sprint("first of ", len(past)), slices.Concat(past, []object{nil})[0], fields)
	show("last", slices.Concat([]object{nil}, past)[len(past)], fields)
	return "even"
}
