package assert

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

var players = []string{"mine", "random", "markov-2", "random#3", "my strat", `say "hi"`, "v1.2", "mine-random", "3d", "stratégie"}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"mine.adjusted > random.adjusted",
		"mine.adjusted>random.adjusted+0.01",
		"markov-2.adjusted >= random#3.adjusted",
		`"my strat".points < 1.5`,
		`"say \"hi\"".win_rate <= .5`,
		"v1.2.rank < 3",
		"3d.rank < 3e0",
		"stratégie.differ == 0.5",
		"mine.technical_losses == 0",
		"(mine.wins + mine.draws) / 2 > random.wins * 2 - -3",
		"mine-random.points > mine.points - random.points",
		"  mine.rank<random.rank  ",
		"2 > mine.rank",
		"(mine.rank < 2)",
		"mine.rank <-1e-3 + 1E2",
	} {
		if _, err := parse(text, players...); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		column int
		says   string // in message or hint
	}{
		{"", 1, "want a number or PLAYER.MEASURE, not the end"},
		{"mine.adjusted", 14, "want a comparison"},
		{"mine.adjusted > ", 17, "not the end"},
		{"mine.adjusted = 1", 15, "unexpected '='"},
		{"mine.adjusted > 1 2", 19, "unexpected '2'"},
		{"mine.ajusted > 1", 6, "did you mean adjusted? the measures are adjusted, points,"},
		{"mnie.adjusted > 1", 1, "did you mean mine?"},
		{"nobody.adjusted > 1", 1, "the players are mine, random, markov-2"},
		{"mine.adjusted-random.adjusted > 0", 1, "spaces around a minus"},
		{"adjusted > 1", 1, "want a number or PLAYER.MEASURE, not 'adjusted'"},
		{"mine > 1", 1, "want a number or PLAYER.MEASURE"},
		{`"my strat" > 1`, 1, "want a number or PLAYER.MEASURE"},
		{`"my strat.points > 1`, 1, "unclosed"},
		{`"my \strat".points > 1`, 1, `\" and \\ stand for`},
		{"'my strat'.points > 1", 1, "double quotes"},
		{"mine.points * random.points > 1", 13, "multiplied or divided by a number"},
		{"1 / mine.points > 1", 3, "divided by a number"},
		{"mine.points / 0 > 1", 13, "other than 0"},
		{"mine.points > mine.points", 13, "nothing to judge"},
		{"1 < 2", 3, "nothing to judge"},
		{"mine.wins > mine.adjusted", 11, "mine.wins is a count and mine.adjusted an estimate"},
		{"(mine.wins > 1", 15, "closing parenthesis"},
		{"mine.wins > 1e-310", 13, "want a number"},
		{"mine.wins > 1e999999999", 13, "want a number"},
		{"mine.wins > 0x10", 13, "want a number"},
		{"mine.wins > 0x1p4", 13, "want a number"},
		{"1 < mine.wins < 2", 3, "this < does not fit"},
		{"mine.wins > *2", 13, "want a number"},
		{"mine.wins (2) > 1", 1, "between two"},
		{"mine.wins > 010 // 2", 18, "unexpected '/'"},
		{"mine.wins < ^2", 13, "unexpected '^'"},
		{"mine.wins <-- 2 ^ 1", 17, "unexpected '^'"},
		{"stratégie.differ $ 1", 18, "unexpected '$'"},
		{strings.Repeat("(", 200) + "1", 202, "not the end"},
		{strings.Repeat("x", 5000), 1, "want at most 4096"},
	} {
		_, err := parse(c.text, players...)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%.40s: %v", c.text, err)
			continue
		}
		if e.Column != c.column || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40s: want column %d and %q:\n%v", c.text, c.column, c.says, err)
		}
	}
}

// Whatever is written, it is either read or refused at a column that it has; and
// what is read means the same without the spaces around it.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"mine.adjusted > random.adjusted + 0.01", `"my strat".win_rate <= .3`, "markov-2.technical_losses == 0",
		"-(mine.wins) * 2 / 3 < 1", `"say \"hi\"".rank>=1`, "mine.adjusted-random.adjusted > 0", "1e30 < mine.points", "\xff", `"`, "..", "3d.", "((((",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parse(text, players...)
		var e *Error
		switch {
		case err == nil:
			if a.text != text || a.op == "" {
				t.Fatalf("%q became %+v", text, a)
			}
			if _, err := parse(" "+text+" ", players...); err != nil && len(text) < 4000 {
				t.Fatalf("%q is read, but not with spaces around it: %v", text, err)
			}
		case !errors.As(err, &e):
			t.Fatalf("%q: %v", text, err)
		case e.Column < 1 || e.Column > utf8.RuneCountInString(text)+1 || err.Error() == "":
			t.Fatalf("%q: column %d", text, e.Column)
		}
	})
}
