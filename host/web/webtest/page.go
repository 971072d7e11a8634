package webtest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Open shows the page at an address. Requests to its origin are allowed from now on.
func (b *Browser) Open(address string) {
	b.t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		b.t.Fatal(err)
	}
	b.origins = append(b.origins, origin(at))
	var got struct{ ErrorText string }
	b.Call("Page.navigate", map[string]any{"url": address}, &got)
	if got.ErrorText != "" {
		b.t.Fatalf("open %s: %s", address, got.ErrorText)
	}
	b.Until(`document.readyState === "complete" && location.href !== "about:blank"`)
}

// Eval returns the value of an expression in the page, or what a promise resolves to:
// nil, a bool, a float64, a string, or slices and maps of them.
func (b *Browser) Eval(expression string) any {
	b.t.Helper()
	value, err := b.eval(expression)
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

func (b *Browser) eval(expression string) (any, error) {
	var got struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	err := b.call("Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}, &got)
	if err == nil && got.ExceptionDetails != nil {
		err = fmt.Errorf("%s: %s", expression, got.ExceptionDetails)
	}
	return got.Result.Value, err
}

// replaced reports whether an expression has no value because the page was replaced by
// another while it was evaluated.
func replaced(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "context"))
}

// Until waits for a condition in the page until the time of all tests is nearly up
// (-timeout), also while the page is replaced by another.
func (b *Browser) Until(condition string) {
	b.t.Helper()
	look := fmt.Sprintf(`new Promise(done => {
		const look = () => (%s) ? done("") : Date.now() > %d ? done("it shows\n" + document.body.innerText) : setTimeout(look, 20);
		look();
	})`, condition, time.Now().Add(patience(b.t)).UnixMilli())
	for b.t.Context().Err() == nil {
		found, err := b.eval(look)
		switch {
		case replaced(err):
			continue
		case err != nil:
			b.t.Fatal(err)
		case found != "":
			b.t.Fatalf("waited in vain for %s: %v", condition, found)
		}
		return
	}
}

// Click clicks the middle of the first element that a selector finds. It tries again if the
// element has moved meanwhile, and the click has hit something else, or if the page is being
// replaced.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	aim := fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		if (!e) return null;
		e.scrollIntoView({block: "center", behavior: "instant"});
		window.clickMissed = true;
		e.addEventListener("click", () => window.clickMissed = false, {capture: true, once: true});
		const r = e.getBoundingClientRect();
		return r.width ? [r.x + r.width / 2, r.y + r.height / 2] : null;
	})()`, selector)
	for range 20 {
		value, err := b.eval(aim)
		if replaced(err) {
			continue
		}
		at, ok := value.([]any)
		if err != nil || !ok {
			b.t.Fatalf("click: %s is not on the page, or hidden (%v)", selector, err)
		}
		for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
			b.Call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}, nil)
		}
		if missed, err := b.eval("window.clickMissed"); err != nil || missed != true { // or another page is here
			return
		}
	}
	b.t.Fatalf("click: %s is covered, or disabled", selector)
}

// Type replaces the text of a field.
func (b *Browser) Type(selector, text string) {
	b.t.Helper()
	if b.Eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e?.focus(); e?.select?.(); return e !== null && document.activeElement === e; })()`, selector)) != true {
		b.t.Fatalf("type: %s is not a field of the page", selector)
	}
	if text == "" {
		b.Press("Backspace")
		return
	}
	b.Call("Input.insertText", map[string]any{"text": text}, nil)
}

// keys are the keys that Press knows besides characters, with their numbers.
var keys = map[string]int{
	"Backspace": 8, "Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "End": 35, "Home": 36,
	"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46,
}

// modifiers of a key, as the protocol counts them.
var modifiers = map[string]int{"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}

// Press presses a key where the focus is: a character, or a name such as Enter or
// Shift+Tab.
func (b *Browser) Press(key string) {
	b.t.Helper()
	parts := strings.Split(key, "+")
	key = parts[len(parts)-1]
	held := 0
	for _, m := range parts[:len(parts)-1] {
		held |= modifiers[m]
	}
	event := map[string]any{"key": key, "code": key, "modifiers": held, "windowsVirtualKeyCode": keys[key]}
	switch {
	case key == "Enter":
		event["text"] = "\r"
	case key == "Space":
		event["key"], event["text"] = " ", " "
	case len([]rune(key)) == 1:
		event["code"], event["windowsVirtualKeyCode"] = "Key"+strings.ToUpper(key), int(strings.ToUpper(key)[0])
		if held&^modifiers["Shift"] == 0 {
			event["text"] = key
		}
	case keys[key] == 0:
		b.t.Fatalf("press: unknown key %q", key)
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		event["type"] = kind
		b.Call("Input.dispatchKeyEvent", event, nil)
	}
}
