package words

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/strategylab/strategylab/analysis"
)

var none = analysis.Estimate{Estimate: math.NaN(), Low: 0, High: 1}

func TestNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		x              float64
		decimals       int
		plain, typeset string
	}{
		{0, 0, "0", "0"},
		{1.25, 3, "1.250", "1.250"},
		{999.994, 2, "999.99", "999.99"},
		{999.996, 2, "1,000.00", "1,000.00"},
		{1234567, 0, "1,234,567", "1,234,567"},
		{-1234.5, 1, "-1,234.5", "\u22121,234.5"},
		{-0.3, 1, "-0.3", "\u22120.3"},
		{-0.04, 1, "0.0", "0.0"}, // no sign for what rounds to zero
		{math.Copysign(0, -1), 2, "0.00", "0.00"},
		{math.NaN(), 2, "-", "-"},
		{math.Inf(1), 2, "-", "-"},
		{math.Inf(-1), 0, "-", "-"},
	} {
		if got := Plain.Number(tt.x, tt.decimals); got != tt.plain {
			t.Errorf("plain %v with %d decimals: %q, want %q", tt.x, tt.decimals, got, tt.plain)
		}
		if got := Typeset.Number(tt.x, tt.decimals); got != tt.typeset {
			t.Errorf("typeset %v with %d decimals: %q, want %q", tt.x, tt.decimals, got, tt.typeset)
		}
	}
}

// TestNumberReadsBack: without its commas every number is what strconv writes.
func TestNumberReadsBack(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x, decimals := (r.Float64()-0.5)*math.Pow10(r.IntN(9)), r.IntN(6)
		got := Plain.Number(x, decimals)
		back, err := strconv.ParseFloat(strings.ReplaceAll(got, ",", ""), 64)
		if err != nil || math.Abs(back-x) > 0.5000001*math.Pow10(-decimals) {
			t.Fatalf("%v with %d decimals is written %q", x, decimals, got)
		}
		whole, _, _ := strings.Cut(strings.TrimPrefix(got, "-"), ".")
		for i, group := range strings.Split(whole, ",") {
			if len(group) != 3 && i > 0 || len(group) > 3 || group == "" {
				t.Fatalf("%q is not in groups of three", got)
			}
		}
		if typeset := Typeset.Number(x, decimals); strings.ReplaceAll(typeset, "\u2212", "-") != got {
			t.Fatalf("the styles differ in more than the sign: %q and %q", got, typeset)
		}
	}
}

func TestSigned(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{0.25: "+0.250", -0.25: "-0.250", 0: "+0.000", math.Inf(1): "-", 1500: "+1,500.000"} {
		if got := Plain.Signed(x, 3); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}

func TestEstimates(t *testing.T) {
	t.Parallel()
	e := analysis.Estimate{Estimate: 0.5, Low: 0.4375, High: 0.6}
	for name, tt := range map[string]struct{ got, want string }{
		"percent":         {Plain.Percent(0.2929), "29.3 %"},
		"percent typeset": {Typeset.Percent(0.2929), "29.3\u00a0%"},
		"percent of none": {Plain.Percent(math.NaN()), "-"},
		"level":           {Plain.Level(0.95), "95 %"},
		"long level":      {Plain.Level(0.99875), "99.88 %"},
		"error rate":      {Plain.Level(1 - 0.95), "5 %"},
		"range":           {Plain.Range(e, 1, 2), "0.44 to 0.60"},
		"with range":      {Plain.WithRange(e, 2), "0.50 (0.44 to 0.60)"},
		"range of none":   {Plain.WithRange(none, 2), "-"},
		"share":           {Plain.Share(e), "50.0 % (43.8 to 60.0)"},
		"share of none":   {Typeset.Share(none), "-"},
		"change":          {Plain.Change(analysis.Estimate{Estimate: -0.1, Low: -0.2, High: 0.01}, 100, 1, "places"), "-10.0 places (-20.0 to +1.0)"},
		"plus minus":      {PlusMinus(e, 100, 1), "50.0 ±10.0"},
		"nothing":         {PlusMinus(none, 1, 2), "-"},
		"p":               {PValue(0.04321), "0.0432"},
		"small p":         {PValue(0.00009), "<0.0001"},
		"p of one":        {PValue(1), "1.0000"},
		"one place":       {Plain.Places([2]int{3, 3}), "3"},
		"places":          {Plain.Places([2]int{3, 12}), "3-12"},
		"places typeset":  {Typeset.Places([2]int{3, 12}), "3\u201312"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", name, tt.got, tt.want)
		}
	}
}

// TestDecimals: the widest interval shows two digits, never fewer than two decimals and
// never more than six.
func TestDecimals(t *testing.T) {
	t.Parallel()
	for half, want := range map[float64]int{3: 2, 0.5: 2, 0.096: 2, 0.094: 3, 0.0096: 3, 0.0094: 4, 0.00012: 5, 1e-9: 6, 0: 6} {
		e := analysis.Estimate{Estimate: 1, Low: 1 - half, High: 1 + half/2}
		if got := Decimals(1, e); got != want {
			t.Errorf("half width %v: %d decimals, want %d", half, got, want)
		}
		if got := Decimals(1, none, e, analysis.Estimate{Estimate: 1, Low: 1, High: 1}); got != want {
			t.Errorf("half width %v beside others: %d decimals, want %d", half, got, want)
		}
		if got := Decimals(100, analysis.Estimate{Estimate: 1, Low: 1 - half/100, High: 1}); got != want {
			t.Errorf("half width %v in percent: %d decimals, want %d", half, got, want)
		}
	}
	if got := Decimals(1, none); got != 6 {
		t.Errorf("nothing measured: %d decimals", got)
	}
}

func TestPlural(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n           int64
		thing, want string
	}{
		{0, "league", "0 leagues"}, {1, "league", "1 league"}, {2, "league", "2 leagues"},
		{2, "match", "2 matches"}, {3, "strategy", "3 strategies"}, {4, "technical loss", "4 technical losses"},
		{1, "technical loss", "1 technical loss"}, {12345, "message", "12,345 messages"},
		{2, "pair of neighbours", "2 pairs of neighbours"}, {1, "pair of neighbours", "1 pair of neighbours"},
	} {
		if got := Plain.Plural(tt.n, tt.thing); got != tt.want {
			t.Errorf("%d %s: %q, want %q", tt.n, tt.thing, got, tt.want)
		}
	}
	for n, want := range map[int]string{0: "0 times", 1: "once", 2: "2 times", 1000: "1,000 times"} {
		if got := Plain.Times(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if got, want := Plain.Record(1, 0, 1, 0, 1), "1 match: 0 won, 1 tied, 0 lost, 1 point"; got != want {
		t.Errorf("record %q, want %q", got, want)
	}
}
