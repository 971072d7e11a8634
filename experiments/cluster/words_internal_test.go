package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
)

// Announcements and what workers say are read by programs of other versions: their bytes
// stay, and fields of later versions do not matter.
func TestWireForm(t *testing.T) {
	t.Parallel()
	s := RunStatus{Run: "ab12", Version: "v1.2.3", Leagues: 5, Of: 10, Rate: 2, Waiting: 3, InFlight: 4, Redelivered: 1, Failed: 6}
	a := announcement{Run: "ab12", Protocol: 1, Version: "v1.2.3", Job: sum([]byte("job")), AckWait: 5 * time.Second, Seq: 7, Status: s}
	var gotA announcement
	p := Presence{
		ID: "w1", Seq: 3, Name: "host", Cores: 4, Protocol: 1, Version: "v1.2.3", InFlight: 2, Chunks: []string{"ab-8", "ab-9"}, Playing: []string{"ab-8"}, Leagues: 70, Rate: 3.5,
		Refuses: map[string]string{"ab12": "too big"}, Plays: []string{"cd34"}, Heard: time.Unix(9, 0),
	}
	var gotP Presence
	var gotS RunStatus
	f := report{Part: "ab-8", First: 2, Count: 3, Took: 0.5, Error: "no memory"}
	var gotF report
	heard := p
	heard.Heard = time.Time{} // the receiver sets it
	for name, tc := range map[string]struct {
		value, into, want any
		text              string
	}{
		"announcement": {a, &gotA, &a, `{"Run":"ab12","Protocol":1,"Version":"v1.2.3","Job":"` + sum([]byte("job")) + `","AckWait":5000000000,"Seq":7,"Over":false,"Status":{"run":"ab12","version":"v1.2.3","leagues":5,"of":10,"leagues_per_second":2,"waiting":3,"in_flight":4,"redelivered":1,"failed":6}}`},
		"presence": {p, &gotP, &heard, `{"id":"w1","seq":3,"name":"host","cores":4,"protocol":1,"version":"v1.2.3","in_flight":2,"chunks":["ab-8","ab-9"],"playing":["ab-8"],"leagues":70,` +
			`"leagues_per_second":3.5,"refuses":{"ab12":"too big"},"plays":["cd34"]}`},
		"status": {s, &gotS, &s, `{"run":"ab12","version":"v1.2.3","leagues":5,"of":10,"leagues_per_second":2,"waiting":3,"in_flight":4,"redelivered":1,"failed":6}`},
		"report": {f, &gotF, &f, `{"Part":"ab-8","First":2,"Count":3,"Took":0.5,"Error":"no memory"}`},
	} {
		text, err := json.Marshal(tc.value)
		if err != nil || string(text) != tc.text {
			t.Errorf("%s: %v\n got  %s\n want %s", name, err, text, tc.text)
		}
		later := strings.Replace(tc.text, "{", `{"later":[1],`, 1)
		if err := json.Unmarshal([]byte(later), tc.into); err != nil {
			t.Errorf("%s of a later version: %v", name, err)
		}
		if diff := cmp.Diff(tc.want, tc.into); diff != "" {
			t.Errorf("%s (-sent +received):\n%s", name, diff)
		}
	}
	// SHA-256 of "abc", FIPS 180-2.
	if got := sum([]byte("abc")); got != "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("name of an object: %s", got)
	}
}

// A prefix keeps runs of one broker apart: it begins all names, and cannot be made to match
// those of others.
func TestPrefix(t *testing.T) {
	t.Parallel()
	for prefix, want := range map[string][2]string{
		DefaultPrefix: {"strategylab.run.ab.failed", "strategylab_chunks"},
		"Team-7_a":    {"Team-7_a.run.ab.failed", "Team-7_a_chunks"},
		"org.team.x":  {"org.team.x.run.ab.failed", "org_team_x_chunks"},
	} {
		l := &Link{config: Config{Prefix: prefix}}
		if err := validPrefix(prefix); err != nil {
			t.Errorf("%q: %v", prefix, err)
		}
		if got := [2]string{l.subject("run", "ab", "failed"), l.store("chunks")}; got != want {
			t.Errorf("%q names %q, want %q", prefix, got, want)
		}
	}
	for _, prefix := range []string{".", "a.", ".a", "a..b", "*", "a.>", "a b", "a\tb", "ä", "a/b", "$SYS", "a\x00"} {
		want := fmt.Sprintf("prefix %q; want letters, digits, - and _, and dots between them", prefix)
		if _, err := Connect(t.Context(), Config{URL: "nats://127.0.0.1:0", Prefix: prefix}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", prefix, err, want)
		}
	}
}

func TestRedacted(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"nats://s3cret@host:4222":                        "nats://host:4222",
		"tls://user:s3cret@host:4222":                    "tls://host:4222",
		"nats://host:4222":                               "nats://host:4222",
		"nats://s3cret@a:4222, nats://s3cret@b:4222":     "nats://a:4222,nats://b:4222",
		"nats://a:4222,tls://user:s3cret@[::1]:4222":     "nats://a:4222,tls://[::1]:4222",
		"nats://s3cret@host:4222/path?with=a#everything": "nats://host:4222/path?with=a#everything",
		"": "",
	} {
		if got := Redacted(address); got != want {
			t.Errorf("%q is shown as %q, want %q", address, got, want)
		}
	}
}

// Why a broker cannot be used, and what to do, without its token.
func TestConnectError(t *testing.T) {
	t.Parallel()
	const start = "start one: strategylab broker --listen HOST:PORT --data-dir DIR"
	const token = "copy the line that the experiment or the broker printed, with its token: nats://TOKEN@HOST:PORT"
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	for name, tc := range map[string]struct {
		err        error
		want, hint string
	}{
		"nobody":        {nats.ErrNoServers, "nobody answers there (nats: no servers available for connection)", start},
		"no answer":     {nats.ErrTimeout, "nobody answers there (nats: timeout)", start},
		"refused":       {fmt.Errorf("try: %w", dial), "nobody answers there (try: dial tcp: connection refused)", start},
		"token":         {nats.ErrAuthorization, "it refuses the token or credentials (nats: authorization violation)", token},
		"expired":       {nats.ErrAuthExpired, "it refuses the token or credentials (nats: authentication expired)", token},
		"another error": {io.ErrUnexpectedEOF, "unexpected EOF", ""},
	} {
		err := connectError("nats://s3cret@host:4222", tc.err)
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Error() != "connect to broker nats://host:4222: "+tc.want || refused.Hint != tc.hint {
			t.Errorf("%s: %v, %+v; want %q with hint %q", name, err, refused, tc.want, tc.hint)
		}
		if !errors.Is(err, tc.err) {
			t.Errorf("%s: the reason is lost", name)
		}
	}
}

// The time that is left, and the rate that it comes from.
func TestRates(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		leagues, of int
		rate        float64
		want        time.Duration
	}{
		{0, 100, 0, 0}, {0, 100, -1, 0}, {50, 100, 25, 2 * time.Second}, {100, 100, 25, 0}, {99, 100, 4, 250 * time.Millisecond},
	} {
		if got := (RunStatus{Leagues: tc.leagues, Of: tc.of, Rate: tc.rate}).Left(); got != tc.want {
			t.Errorf("%d of %d leagues at %v: %v left, want %v", tc.leagues, tc.of, tc.rate, got, tc.want)
		}
	}
	var m meter
	start := time.Unix(1000, 0)
	for _, tc := range []struct {
		after time.Duration
		total int64
		want  float64
	}{
		{0, 500, 0},                  // what was played before is no rate
		{2 * time.Second, 700, 100},  // the first rate counts in full
		{2 * time.Second, 900, 100},  // no time has passed
		{4 * time.Second, 1300, 200}, // 300 leagues a second since, smoothed
		{6 * time.Second, 1300, 100}, // nothing since
		{7 * time.Second, 1400, 100},
	} {
		if got := m.add(start.Add(tc.after), tc.total); got != tc.want {
			t.Errorf("%d leagues after %v: %v leagues a second, want %v", tc.total, tc.after, got, tc.want)
		}
	}
}

// How many leagues stay follows from who was caught and what it has played, also by an
// earlier process that was killed while it wrote.
func TestLedger(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lines    string
		recorded int
		keep     int
	}{
		"nothing":                   {"", 0, 0},
		"nobody was caught":         {`{"first":0,"worker":"a"}`, 50, 50},
		"no ledger, nobody caught":  {"", 50, 50},
		"the second":                {`{"first":0,"worker":"a"} {"first":20,"worker":"b"} {"first":30,"worker":"a"} {"worker":"b","caught":"x"}`, 50, 20},
		"the first":                 {`{"first":0,"worker":"a"} {"first":20,"worker":"b"} {"worker":"a","caught":"x"}`, 50, 0},
		"both":                      {`{"first":0,"worker":"c"} {"first":7,"worker":"a"} {"first":20,"worker":"b"} {"worker":"b","caught":"x"} {"worker":"a","caught":"x"}`, 50, 7},
		"it has played nothing":     {`{"first":0,"worker":"a"} {"worker":"b","caught":"x"}`, 50, 50},
		"its leagues were lost":     {`{"first":0,"worker":"a"} {"first":50,"worker":"b"} {"worker":"b","caught":"x"}`, 50, 50},
		"they were played again":    {`{"first":0,"worker":"b"} {"worker":"b","caught":"x"} {"first":0,"worker":"b","removed":9} {"first":0,"worker":"a"}`, 50, 50},
		"removed, and another lies": {`{"first":0,"worker":"b"} {"worker":"b","caught":"x"} {"first":0,"worker":"b","removed":9} {"first":0,"worker":"a"} {"first":9,"worker":"c"} {"worker":"c","caught":"y"}`, 50, 9},
		"unknown before":            {`{"first":10,"worker":"a"} {"first":20,"worker":"b"} {"worker":"b","caught":"x"}`, 50, 0},
		"a line is incomplete":      {`{"first":0,"worker":"a"} {"first":20,"worker":"b"} {"worker":"b","caught":"x"} {"first":2`, 50, 20},
	} {
		path := filepath.Join(t.TempDir(), LedgerFile)
		text := strings.ReplaceAll(tc.lines, "} {", "}\n{")
		if strings.HasSuffix(text, "}") {
			text += "\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l, keep, err := OpenLedger(path, tc.recorded)
		if err != nil || keep != tc.keep {
			t.Fatalf("%s: %d leagues stay, %v; want %d", name, keep, err, tc.keep)
		}
		if err := errors.Join(l.Cut(keep, tc.recorded), l.add(span{keep, "z", ""}), l.Close()); err != nil {
			t.Fatal(err)
		}
		again, keep, err := OpenLedger(path, tc.recorded)
		if err != nil || keep != tc.recorded || !again.played("z") && tc.recorded > tc.keep {
			t.Errorf("%s: after they were played again, %d leagues stay, %v; want %d", name, keep, err, tc.recorded)
			continue
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}
