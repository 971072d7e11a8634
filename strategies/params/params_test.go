package params_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/strategies/params"
)

const mine = "-- Mine: looks back.\n\n-- param: horizon 1..20 = 5  matches\n-- param: greed 0.0..1.0 = 0.30\r\n--param: mode a | b|c = a\nlocal x = 1 -- param: late 1..2 = 1\n"

func parse(t *testing.T, text string) []params.Param {
	t.Helper()
	list, err := params.Parse(params.Head([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestParse(t *testing.T) {
	for name, text := range map[string]string{
		"lua": mine, "mark and interpreter": "\ufeff#!/usr/bin/lua\n" + mine,
		"js":    "// Mine\n// param: horizon 1..20 = 5\n// param: greed 0.0..1.0 = .3\n// param: mode a|b|c = a\nlet x;\n// param: x 1..2 = 1\n",
		"block": "/* Mine\n   param: horizon 1..20 = 5\n * param: greed 0.0..1.0 = 3e-1\n   param: mode a|b|c = a */\n",
	} {
		if got, want := fmt.Sprint(parse(t, text)), "[horizon 1..20 = 5 greed 0.0..1.0 = 0.3 mode a|b|c = a]"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for text, want := range map[string]string{
		"-- param: horizon 1..20":                        "1: parameter \"horizon 1..20\": cannot be read",
		"-- x\n-- param: h 20..1 = 5":                    "2: parameter h: bounds 20..1",
		"-- param: h 1..20 = 21":                         `1: the default: h is "21", want a whole number in 1..20`,
		"-- param: h 0..1 = 0.3":                         `1: the default: h is "0.3", want a whole number in 0..1`,
		"-- param: h 0.0..inf = 0.3":                     "1: parameter h: bounds",
		"-- param: m a|b = c":                            `1: the default: m is "c", want a|b`,
		"-- param: m a|a = a":                            "1: parameter m: \"a\" is no word, or stands there twice",
		"-- param: a 1..2 = 1\n-- param: a 1..2 = 1":     "2: parameter a is declared twice",
		strings.Repeat("-- param: a 1..2 = 1\n", 2)[:20]: "", // it is cut to a whole one
	} {
		_, err := params.Parse(params.Head([]byte(text)))
		got := ""
		if e, ok := err.(*params.Error); ok {
			got = fmt.Sprintf("%d: %v", e.Line, e)
		}
		if want == "" && err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestValues(t *testing.T) {
	list := parse(t, mine)
	for text, want := range map[string]string{
		"horizon=8": "horizon=8", "greed=0.50;h=8": "horizon=8;greed=0.5", " mode = b ": "mode=b", "g=1e-1": "greed=0.1",
		"horizon=8.5": "!parameter horizon is \"8.5\", want a whole number in 1..20", "mode=d": "!parameter mode is \"d\", want a|b|c",
		"horizon": "!parameters \"horizon\": want values", "speed=1": "!no parameter \"speed\"; the parameters are horizon, greed, mode",
		"h=1;horizon=2": "!parameter horizon has two values", "greed=NaN": "!parameter greed is \"NaN\"",
	} {
		values, err := params.Read(list, text)
		got := params.Format(values)
		if err != nil {
			got = "!" + err.Error()
		}
		if !strings.HasPrefix(got, want) || err == nil && got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	// Values change the defaults, and nothing else.
	values, _ := params.Read(list, "horizon=12;mode=b")
	if got, want := string(params.Set([]byte(mine), list, values)), strings.Replace(strings.Replace(mine, "= 5", "= 12", 1), "= a", "= b", 1); got != want {
		t.Errorf("Set = %q, want %q", got, want)
	}
	if got := string(params.Set([]byte(mine), list, params.Current(list, nil))); got != mine {
		t.Errorf("the defaults change the text: %q", got)
	}
}

func TestName(t *testing.T) {
	list := parse(t, mine)
	values, _ := params.Read(list, "horizon=8;greed=0.25;mode=b")
	for _, tt := range []struct{ strategy, want string }{
		{"mine", "mine(horizon=8;greed=0.25;mode=b)"},
		{"a-longer-name", "a-longer-name(h=8;g=0.25;m=b)"},
		{strings.Repeat("x", 40), strings.Repeat("x", 32) + "(5aa1d9)"},
	} {
		got := params.Name(tt.strategy, list, values, 40)
		if len(got) > 40 || got[:min(len(got), 32)] != tt.want[:min(len(tt.want), 32)] || len(tt.want) < 40 && got != tt.want {
			t.Errorf("Name(%s) = %s, want %s", tt.strategy, got, tt.want)
		}
		if _, short := params.Split(got); short != "" {
			if again, err := params.Read(list, short); err != nil || params.Format(again) != params.Format(values) {
				t.Errorf("%s is read as %v, %v", got, again, err)
			}
		}
	}
	for target, want := range map[string]string{"mine": "", "mine(a=1;b=2)": "a=1;b=2", "dir/mine (1).lua": "", "dir/mine (1).lua(a=1)": "a=1"} {
		if strategy, values := params.Split(target); values != want || params.Join(strategy, values) != target {
			t.Errorf("Split(%q) = %q, %q", target, strategy, values)
		}
	}
}
