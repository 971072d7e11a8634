package strategytest

import (
	"testing"
	"time"
)

func TestBrief(t *testing.T) {
	t.Parallel()
	for in, want := range map[time.Duration]time.Duration{
		0:                       0,
		7:                       7,
		999:                     999,
		1234:                    1230,
		12_345:                  12_300,
		670_449:                 670 * time.Microsecond,
		999_600:                 time.Millisecond,
		1_234_567_890:           1230 * time.Millisecond,
		time.Hour + time.Second: 3600 * time.Second,
		-5 * time.Nanosecond:    -5,
	} {
		if got := brief(in); got != want {
			t.Errorf("brief(%v) = %v, want %v", in, got, want)
		}
	}
}
