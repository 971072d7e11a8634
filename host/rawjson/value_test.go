package rawjson

import (
	"math/big"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func TestInteger(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "-0": 0, "1": 1, "-17": -17, "1.0": 1, "1.50e1": 15, "100e-2": 1, "0e999999999999999999999": 0, "0.000": 0, "-2.0": -2, "1E+2": 100,
		"9007199254740991": 9007199254740991, "-9007199254740991": -9007199254740991, "9007199254740991.000": 9007199254740991, "0.0000000000000000000001e22": 1,
	} {
		if got, ok := Integer(jsontext.Value(text)); !ok || got != want {
			t.Errorf("%s is read as %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{
		"0.5", "1.5", "1e-1", "9007199254740992", "-9007199254740992", "9007199254740991.2", "99999999999999999999", "1e16", "1e300", "1e99999999999999999999",
		"-1e-99999999999999999999", "1e1048577", `"1"`, "true", "null", "[]",
	} {
		if got, ok := Integer(jsontext.Value(text)); ok {
			t.Errorf("%s is read as the integer %d", text, got)
		}
	}
}

// FuzzInteger compares the reading of integers with exact arithmetic.
func FuzzInteger(f *testing.F) {
	for _, text := range []string{"0", "-1", "1.0", "12e-1", "120e-1", "9007199254740991", "9007199254740992.0", "1e15", "0.00100e3", "-0.0e9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := jsontext.Value(text)
		if !v.IsValid() || v.Kind() != '0' || len(text) > 40 {
			return
		}
		var f64 float64
		if json.Unmarshal(v, &f64) != nil || f64 > 1e20 || f64 < -1e20 || f64 > -1e-30 && f64 < 1e-30 {
			return // too large or too small to be worked out exactly
		}
		if err := v.Compact(); err != nil {
			return
		}
		exact, ok := new(big.Rat).SetString(string(v))
		if !ok {
			return
		}
		limit := big.NewRat(MaxInteger, 1)
		want := exact.IsInt() && exact.Cmp(limit) <= 0 && new(big.Rat).Neg(exact).Cmp(limit) <= 0
		got, ok := Integer(v)
		if ok != want || ok && big.NewRat(got, 1).Cmp(exact) != 0 {
			t.Errorf("%s is read as %d, %v", text, got, ok)
		}
	})
}
