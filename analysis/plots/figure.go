// Package plots draws the results of an analysis with gonum's plot library, as SVG. It
// computes nothing: it is given names, estimates and labels.
//
// Every plot names the quantity and unit of its axes. In SVG every colour is a CSS
// variable with the light colour as default, so that a page can show the same plot in a
// dark theme; see [Variables]. The colours are safe for colour-blind readers, and no
// information is in colour alone.
package plots

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	stdfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a plot that can be drawn at any width. It is for one goroutine at a time.
type Figure struct {
	// height is the height of the figure at a width.
	height func(width float64) float64
	paint  func(c draw.Canvas, width float64) error
	crisp  bool // areas touch, and no seam must show
}

// Widths of figures in CSS pixels, for a page on a desktop and on a phone.
const (
	Wide   = 760
	Narrow = 340
)

const (
	fontSize  = 12
	smallFont = 11
	rowHeight = 20
)

var (
	colours  = regexp.MustCompile(`#[0-9A-Fa-f]{6}`)
	fontName = regexp.MustCompile(`font-family:[^;"]*`)
	textTag  = regexp.MustCompile(`<text\b`)
	openTag  = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)
	fillTag  = regexp.MustCompile(`(<path d="[^"]*" style="fill:[^n"][^"]*") ?/>`)
)

// SVG draws the figure as an svg element that is as wide as its container. The label
// describes it to screen readers.
func (f *Figure) SVG(width float64, label string) (string, error) {
	height := f.height(width)
	c := &canvas{Canvas: vgsvg.New(vg.Length(width), vg.Length(height)), titles: map[int]string{}}
	if err := f.paint(draw.NewCanvas(c, vg.Length(width), vg.Length(height)), width); err != nil {
		return "", fmt.Errorf("draw plot: %w", err)
	}
	var buf bytes.Buffer
	if _, err := c.WriteTo(&buf); err != nil {
		return "", fmt.Errorf("draw plot: %w", err)
	}
	body := c.entitle(compact(c.fit(openTag.ReplaceAllString(buf.String(), ""))))
	rendering := ""
	if f.crisp {
		rendering = ` shape-rendering="crispEdges"`
	}
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 %.0f %.0f"%s role="img" aria-label="%s">`,
		width, height, rendering, attribute.Replace(label))
	return head + body, nil
}

// canvas remembers how wide each text is in the font that the plot was laid out with,
// and the titles of areas.
type canvas struct {
	*vgsvg.Canvas
	widths []vg.Length
	areas  int
	titles map[int]string // by area
}

// Fill fills an area.
func (c *canvas) Fill(p vg.Path) {
	c.areas++
	c.Canvas.Fill(p)
}

// title gives the next area a title, which browsers show under the pointer.
func title(c draw.Canvas, text string) {
	under := c.Canvas
	for {
		part, cropped := under.(draw.Canvas)
		if !cropped {
			break
		}
		under = part.Canvas
	}
	if svg, ok := under.(*canvas); ok {
		svg.titles[svg.areas] = text
	}
}

// entitle writes the titles into an SVG.
func (c *canvas) entitle(svg string) string {
	n := -1
	return fillTag.ReplaceAllStringFunc(svg, func(tag string) string {
		n++
		text, ok := c.titles[n]
		if !ok {
			return tag
		}
		return fillTag.ReplaceAllString(tag, "$1>") + "<title>" + attribute.Replace(printable(text)) + "</title></path>"
	})
}

// FillString draws a text.
func (c *canvas) FillString(f font.Face, at vg.Point, text string) {
	c.widths = append(c.widths, f.Width(text))
	c.Canvas.FillString(f, at, text)
}

// fit gives each text of an SVG the width that it was laid out with: a browser without
// that font takes another, whose letters may be a fifth wider.
func (c *canvas) fit(svg string) string {
	n := -1
	return textTag.ReplaceAllStringFunc(svg, func(tag string) string {
		n++
		return fmt.Sprintf(`%s textLength="%.1f" lengthAdjust="spacingAndGlyphs"`, tag, c.widths[n].Points())
	})
}

var attribute = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;")

// compact replaces colours by their variables and drops what browsers assume anyway.
func compact(svg string) string {
	known := map[string]string{}
	svg = colours.ReplaceAllStringFunc(svg, func(c string) string {
		v, seen := known[c]
		if !seen {
			v = c
			if r, ok := roleOf(c); ok {
				v = fmt.Sprintf("var(%s,%s)", r.variable(), hex(colour(r)))
			}
			known[c] = v
		}
		return v
	})
	// A picture of cells must fill the frame that their labels stand at.
	svg = strings.ReplaceAll(svg, "<image ", `<image preserveAspectRatio="none" `)
	svg = fontName.ReplaceAllString(svg, "font-family:Liberation Sans,Arial,Helvetica,sans-serif")
	return strings.NewReplacer("font-variant:normal;", "", "font-weight:normal;", "", "font-style:normal;", "", "\n", "").Replace(svg)
}

// style is that of text in a role and size.
func style(r role, size float64) text.Style {
	return text.Style{
		Color:   colour(r),
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Weight: stdfont.WeightNormal, Size: vg.Length(size)},
		Handler: plot.DefaultTextHandler,
	}
}

func line(r role, width float64) draw.LineStyle {
	return draw.LineStyle{Color: colour(r), Width: vg.Length(width)}
}

// newPlot is an empty plot in our looks.
func newPlot(xLabel, yLabel string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = colour(paper)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle = merge(a.Label.TextStyle, style(muted, fontSize))
		a.Tick.Label = merge(a.Tick.Label, style(muted, smallFont))
		a.LineStyle = line(muted, 0.75)
		a.Tick.LineStyle = line(muted, 0.75)
		a.Tick.Length = 4
		a.Padding = 4
		a.Label.Padding = 4
	}
	p.X.Label.Text, p.Y.Label.Text = xLabel, yLabel
	return p
}

// merge keeps the alignment and rotation of a style and takes the rest from another.
func merge(s, looks text.Style) text.Style {
	s.Color, s.Font, s.Handler = looks.Color, looks.Font, looks.Handler
	return s
}

// shorten cuts a name to a number of characters and replaces control characters.
func shorten(name string, most int) string {
	r := []rune(printable(name))
	if len(r) > most {
		r = append(r[:most-1], '…')
	}
	return string(r)
}

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}

// nameLength is how many characters of a name fit a figure of a width.
func nameLength(width float64) int {
	if width < 500 {
		return 14
	}
	return 24
}

// roundTicks labels at most a number of multiples of 1, 2 or 5 times a power of ten.
func roundTicks(most int) plot.Ticker {
	return plot.TickerFunc(func(low, high float64) []plot.Tick {
		step, decimals := roundStep((high-low)/float64(max(2, most)), false)
		var ticks []plot.Tick
		for k := math.Ceil(low/step - 1e-9); k*step <= high+step*1e-9; k++ {
			v := k*step + 0 // not -0
			ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', decimals, 64)})
		}
		return ticks
	})
}

// roundStep returns the smallest round step that is not below another, and the decimals
// of its multiples. A whole step is at least 1.
func roundStep(least float64, whole bool) (step float64, decimals int) {
	if !(least > 0) || math.IsInf(least, 0) {
		return 1, 0
	}
	for exponent := int(math.Floor(math.Log10(least))); ; exponent++ {
		for _, m := range []float64{1, 2, 5} {
			step = m * math.Pow10(exponent)
			if step >= least*(1-1e-9) && (!whole || step >= 1) {
				return step, max(0, -exponent)
			}
		}
	}
}

// wholeTicks labels whole numbers between the first and the last x, as many as fit.
func wholeTicks(first, last, width float64) plot.Ticker {
	step, _ := roundStep((last-first)/(width/45), true)
	var ticks plot.ConstantTicks
	for v := math.Ceil(first/step) * step; v <= last; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)})
	}
	return ticks
}

// logTicks labels 0 and powers of ten on an axis of log(1 + x).
func logTicks(most float64) plot.Ticker {
	ticks := plot.ConstantTicks{{Value: 0, Label: "0"}}
	for v := 1.0; v <= most; v *= 10 {
		ticks = append(ticks, plot.Tick{Value: math.Log1p(v), Label: strconv.FormatFloat(v, 'f', -1, 64)})
	}
	return ticks
}
