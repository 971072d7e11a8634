package webtest

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Widths are those of the windows that a page must fit, in CSS pixels: from a telephone
// to a projector.
var Widths = []int{360, 768, 1920, 3840}

// schemes are the colours that a reader can prefer.
var schemes = []string{"light", "dark"}

// frames is a promise that the page has been painted anew. Before that it is told of a new
// size of the window.
const frames = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))`

// Window sets the size of the window in CSS pixels, and waits until the page knows it.
func (b *Browser) Window(width, height int) {
	b.t.Helper()
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.Eval(frames)
}

// Prefer sets what the reader prefers: a scheme, light or dark, and whether nothing is to
// move.
func (b *Browser) Prefer(scheme string, still bool) {
	b.t.Helper()
	motion := map[bool]string{true: "reduce", false: "no-preference"}[still]
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion},
	}}, nil)
}

// Fits shows the page at all Widths, in light and dark. It reports where the page is wider
// than the window, what moves though the reader wants nothing to, and what axe-core finds.
// The pictures of the folder SCREENSHOTS are called by name, width and scheme.
func (b *Browser) Fits(name string) {
	b.t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	// What began to change while that was welcome may end.
	b.Eval(`document.getAnimations().forEach(a => a instanceof CSSTransition && a.finish())`)
	for _, scheme := range schemes {
		for _, width := range Widths {
			if dir == "" && scheme != schemes[0] {
				break // colours move nothing
			}
			b.Window(width, width*9/16+400)
			b.Prefer(scheme, true)
			if over := b.Eval(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); over != 0.0 {
				b.t.Errorf("%s at %d pixels is wider by %v: %v", name, width, over, b.Eval(tooWide))
			}
			if moving := b.Eval(`document.getAnimations().length`); moving != 0.0 {
				b.t.Errorf("%s: %v elements move though nothing is to", name, moving)
			}
			if dir == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), b.Picture(), 0o644); err != nil {
				b.t.Error(err)
			}
		}
		for _, width := range []int{400, 1400} {
			b.Window(width, 1000)
			b.Prefer(scheme, true)
			b.axe(fmt.Sprintf("%s at %d in %s", name, width, scheme))
		}
	}
	b.Prefer("light", false)
}

// Illustrate keeps what a window of a size in CSS pixels shows as NAME.png in the folder
// that the variable PICTURES names, for the documentation. Without the variable it does
// nothing. The picture has at most 256 colours, so that it stays small.
func (b *Browser) Illustrate(name string, width, height int) {
	b.t.Helper()
	dir := os.Getenv("PICTURES")
	if dir == "" {
		return
	}
	b.Window(width, height)
	b.Prefer("light", true)
	b.Eval(`document.fonts.ready.then(() => ` + frames + `)`)
	small, err := indexed(b.View())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), small, 0o644)
	}
	if err != nil {
		b.t.Errorf("the picture %s: %v", name, err)
	}
	b.Prefer("light", false)
}

const tooWide = `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 0.5)
	.slice(0, 5).map(e => e.tagName + "#" + e.id + "." + e.className + " " + e.textContent.trim().slice(0, 30)).join("; ")`

// Picture returns the whole page as PNG.
func (b *Browser) Picture() []byte {
	b.t.Helper()
	var page struct {
		CSSContentSize struct{ Width, Height float64 }
	}
	b.Call("Page.getLayoutMetrics", nil, &page)
	return b.capture(map[string]any{
		"captureBeyondViewport": true,
		"clip":                  map[string]any{"x": 0, "y": 0, "width": page.CSSContentSize.Width, "height": min(page.CSSContentSize.Height, 16000), "scale": 1},
	})
}

// View returns what the window shows as PNG.
func (b *Browser) View() []byte {
	b.t.Helper()
	return b.capture(map[string]any{})
}

func (b *Browser) capture(params map[string]any) []byte {
	b.t.Helper()
	var shot struct{ Data string }
	b.Call("Page.captureScreenshot", params, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return png
}

// axe has axe-core look at the page, as a test of its own, which is skipped without it.
// What it injects runs beside the page's policy, which stays in force for the page.
func (b *Browser) axe(name string) {
	b.t.Run("axe-core: "+name, func(t *testing.T) {
		file := os.Getenv("AXE_CORE")
		if file == "" {
			t.Skip("no axe-core here: AXE_CORE is to name its axe.min.js")
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range b.obstacles(t, string(source)) {
			t.Error(v)
		}
	})
}

// obstacles returns what axe-core, of this source, objects to.
func (b *Browser) obstacles(t *testing.T, source string) []any {
	if _, err := b.eval(source + "\n;0"); err != nil {
		t.Fatal(err)
	}
	found, err := b.eval(`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.flatMap(v => v.nodes.map(n =>
		v.id + " (" + v.impact + "): " + v.help + ": " + n.html.slice(0, 200) + ": " + n.any.concat(n.all, n.none).map(c => c.message).join("; "))))`)
	violations, ok := found.([]any)
	if err != nil || !ok {
		t.Fatalf("axe-core returned %v: %v", found, err)
	}
	return violations
}
