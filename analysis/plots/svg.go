// Package plots draws the results of an analysis as SVG, for pages and as files. It
// computes nothing: it takes names, estimates and labels.
//
// Every plot names the quantity and unit of its axes. In a page every colour is a CSS
// variable with the light colour as default, so that the page can show the same plot in a
// dark theme; see [Style]. The colours are safe for colour-blind readers, and no
// information is in colour alone.
package plots

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Figure is a plot that can be drawn at any width.
type Figure struct {
	draw func(c *canvas) (height float64)
}

// Widths of figures in CSS pixels, for a page on a desktop and on a phone.
const (
	Wide   = 760
	Narrow = 340
)

const (
	fontSize  = 12.0
	smallFont = 11.0
)

// SVG draws the figure as an svg element for a page, as wide as its container. The label
// describes it to screen readers.
func (f *Figure) SVG(width float64, label string) string {
	return f.svg(&canvas{width: width}, label)
}

// File draws the figure as an SVG file that stands alone: programs that know no CSS
// variables show it, too.
func (f *Figure) File(width float64, label string) string {
	return f.svg(&canvas{width: width, alone: true}, label) + "\n"
}

func (f *Figure) svg(c *canvas, label string) string {
	height := math.Ceil(f.draw(c))
	all := &canvas{alone: c.alone}
	all.put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %v %v" `, c.width, height)
	if c.alone {
		all.put(`width="%v" height="%v" `, c.width, height)
	}
	all.put(`role="img" aria-label="%v" font-family="Liberation Sans,Arial,Helvetica,sans-serif">`, label)
	all.put(`<rect width="%v" height="%v" fill="%v"/>`, c.width, height, paper)
	return all.String() + c.String() + "</svg>"
}

// canvas collects the elements of a figure.
type canvas struct {
	strings.Builder
	width float64
	alone bool // no page defines the variables of colours
}

// small reports whether the figure is for a phone.
func (c *canvas) small() bool { return c.width < 500 }

// put writes markup with values: texts are escaped, and numbers have two decimals at most.
func (c *canvas) put(markup string, values ...any) {
	for i, v := range values {
		switch v := v.(type) {
		case float64:
			values[i] = number(v)
		case role:
			values[i] = v.in(light)
			if !c.alone {
				values[i] = fmt.Sprintf("var(%s,%v)", v.variable(), v.in(light))
			}
		case string:
			values[i] = html.EscapeString(printable(v))
		}
	}
	fmt.Fprintf(c, markup, values...)
}

func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64) // + 0: not -0
}

func (c *canvas) line(r role, width, x1, y1, x2, y2 float64) {
	c.put(`<path d="M%v %vL%v %v" stroke="%v" stroke-width="%v"/>`, x1, y1, x2, y2, r, width)
}

func (c *canvas) rect(r role, x, y, width, height float64) {
	c.put(`<rect x="%v" y="%v" width="%v" height="%v" fill="%v"/>`, x, y, width, height, r)
}

// text writes a line of text that starts, has its middle, or ends at x; y is the middle
// of its height.
func (c *canvas) text(r role, size, x, y float64, anchor, text string) {
	c.put(`<text x="%v" y="%v" font-size="%v" fill="%v" text-anchor="%v">%v</text>`, x, y+0.36*size, size, r, anchor, text)
}

// upward writes a line of text that reads upwards.
func (c *canvas) upward(r role, size, x, y float64, anchor, text string) {
	c.put(`<text transform="translate(%v %v) rotate(-90)" font-size="%v" fill="%v" text-anchor="%v">%v</text>`, x+0.36*size, y, size, r, anchor, text)
}

// printable replaces what XML forbids and what turns the text around it.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return '?'
		}
		return r
	}, text)
}

// glyph estimates the width of a character by that in Verdana and DejaVu Sans, the widest
// fonts that a browser may take, in font sizes.
func glyph(r rune) float64 {
	switch {
	case strings.ContainsRune("ijl'|", r):
		return 0.35
	case strings.ContainsRune("Ifrt .,:;!-()[]/", r):
		return 0.46
	case strings.ContainsRune("mwMW@%", r) || r > 0x24f: // other scripts
		return 1.08
	case unicode.IsUpper(r) || strings.ContainsRune("&+<=>#~", r):
		return 0.84
	}
	return 0.64
}

// widest estimates the width of the widest text.
func widest(size float64, texts ...string) (most float64) {
	for _, text := range texts {
		width := 0.0
		for _, r := range text {
			width += size * glyph(r)
		}
		most = max(most, width)
	}
	return most
}

// shorten cuts a name to a width, and ends it with an ellipsis then.
func shorten(name string, size, most float64) string {
	if widest(size, name) <= most {
		return name
	}
	left := most/size - glyph('…')
	for i, r := range name {
		if left -= glyph(r); left < 0 {
			return name[:i] + "…"
		}
	}
	return name
}
