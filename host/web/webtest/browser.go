// Package webtest drives pages in a real browser, for tests.
//
// A test starts a [Browser], opens pages in it, and looks at them as a person does: it
// waits for what they show, clicks, types and presses keys. What nobody would see is
// looked at as well: when the test ends, each message on the console and each request to
// another origin than those of the opened pages has failed it.
//
// Four variables of the environment are read:
//   - WHOLE_TESTS has a browser started at all, which costs seconds.
//   - SCREENSHOTS is a folder for pictures of what [Browser.Fits] has looked at.
//   - PICTURES is a folder for those of the documentation, by [Browser.Illustrate].
//   - AXE_CORE is the file axe.min.js of axe-core, which looks for obstacles to people
//     who use a keyboard or a screen reader, or who need contrast.
//
// Without Chromium a test that starts a browser is skipped.
package webtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Browser is headless Chromium with one page. It is driven by its debugging protocol over
// a pipe: one JSON document after another, each ended by a zero byte. Its methods fail the
// test if the browser or the page does not do what they ask; they are called by the
// goroutine of the test.
type Browser struct {
	t       *testing.T
	out     *os.File
	session string
	origins []string // of the pages that were opened
	allowed []string // what the console may contain

	mu      sync.Mutex
	last    int
	answers map[int]chan reply
	console []string // what the page wrote there, and errors
	loaded  []string // URLs of requests
}

type reply struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Start starts a browser that ends with the test, or skips the test if there is none.
func Start(t *testing.T) *Browser {
	t.Helper()
	if os.Getenv("WHOLE_TESTS") == "" {
		t.Skip("a browser costs seconds; WHOLE_TESTS=1 opens the pages in it")
	}
	binary := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil && binary == "" {
			binary = p
		}
	}
	if binary == "" {
		t.Skip("no Chromium here: install the package chromium to see the page driven in a browser")
	}
	theirs, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, theirsOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "webtest")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience(t)+5*time.Second)
	cmd := exec.CommandContext(ctx, binary, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, theirsOut}
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	theirs.Close()
	theirsOut.Close()
	b := &Browser{t: t, out: out, answers: make(map[int]chan reply)}
	var reading sync.WaitGroup
	reading.Go(func() { b.read(in) })
	t.Cleanup(func() {
		b.judge()
		b.session = ""
		if b.call("Browser.close", nil, nil) != nil {
			cancel()
		}
		_ = cmd.Wait() // it may have been killed
		cancel()
		out.Close()
		reading.Wait()
		in.Close()
		_ = os.RemoveAll(profile) // a process of the browser may still write to it
	})
	var target struct{ TargetID string }
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.Call(domain+".enable", nil, nil)
	}
	return b
}

// patience returns how long a test may wait for something: until shortly before the time
// of all tests is up (-timeout), so that it can still say for what.
func patience(t *testing.T) time.Duration {
	end, limited := t.Deadline()
	if !limited {
		return 24 * time.Hour
	}
	return time.Until(end) - 10*time.Second
}

// read hands out answers and keeps events, until the browser ends.
func (b *Browser) read(in *os.File) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes(0)
		if err != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			for _, answer := range b.answers {
				close(answer)
			}
			b.answers = nil
			return
		}
		var event struct {
			reply
			Method string
			Params struct{ Request struct{ URL string } }
		}
		line = line[:len(line)-1]
		if json.Unmarshal(line, &event) != nil {
			continue
		}
		b.mu.Lock()
		switch event.Method {
		case "":
			if answer := b.answers[event.ID]; answer != nil {
				answer <- event.reply
				delete(b.answers, event.ID)
			}
		case "Network.requestWillBeSent":
			b.loaded = append(b.loaded, event.Params.Request.URL)
		case "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown":
			b.console = append(b.console, string(line))
		}
		b.mu.Unlock()
	}
}

// Call calls a method of the debugging protocol and stores what it returns in result,
// unless that is nil.
func (b *Browser) Call(method string, params, result any) {
	b.t.Helper()
	if err := b.call(method, params, result); err != nil {
		b.t.Fatal(err)
	}
}

func (b *Browser) call(method string, params, result any) error {
	answer := make(chan reply, 1)
	b.mu.Lock()
	if b.answers == nil {
		b.mu.Unlock()
		return fmt.Errorf("%s: the browser has ended", method)
	}
	b.last++
	b.answers[b.last] = answer
	message := map[string]any{"id": b.last, "method": method}
	b.mu.Unlock()
	if params != nil {
		message["params"] = params
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err == nil {
		_, err = b.out.Write(append(text, 0))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	got, ok := <-answer
	switch {
	case !ok:
		return fmt.Errorf("%s: the browser has ended", method)
	case got.Error != nil:
		return fmt.Errorf("%s: %w", method, errors.New(got.Error.Message))
	case result == nil:
		return nil
	}
	if err := json.Unmarshal(got.Result, result); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// Allow lets messages on the console pass that contain a text, such as that of a
// connection that the test interrupts.
func (b *Browser) Allow(text string) { b.allowed = append(b.allowed, text) }

// judge reports messages on the console and requests to other origins.
func (b *Browser) judge() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.console {
		if !slices.ContainsFunc(b.allowed, func(text string) bool { return strings.Contains(line, text) }) {
			b.t.Errorf("the console says %s", line)
		}
	}
	for _, address := range b.loaded {
		at, err := url.Parse(address)
		if err != nil || at.Scheme != "data" && !slices.Contains(b.origins, origin(at)) {
			b.t.Errorf("the page asked for %s", address)
		}
	}
}

func origin(at *url.URL) string { return at.Scheme + "://" + at.Host }
