package plots

import (
	"fmt"
	"image/color"
)

// role is the purpose of a colour.
type role int

const (
	ink    role = iota // text that names something
	muted              // axes, their labels, what is in the background
	grid               // lines to read by
	faint              // lines that others stand out from
	behind             // bars that others lie on
	paper              // behind the plot
	band               // behind every other group of rows
	series             // the first of several series; others follow
)

const (
	seriesColours = 7
	scaleSteps    = 21 // of the scale of a heat map, an odd number
	scale         = series + seriesColours
	roles         = int(scale) + scaleSteps
)

// palette has the colours that are not on the scale, by theme. Series are those of M.
// Okabe and K. Ito (Color Universal Design, 2008) without yellow, which is invisible on
// white.
var palette = [scale]struct{ light, dark color.RGBA }{
	ink:        {color.RGBA{0x1f, 0x23, 0x28, 0xff}, color.RGBA{0xe6, 0xe9, 0xee, 0xff}},
	muted:      {color.RGBA{0x5c, 0x64, 0x6f, 0xff}, color.RGBA{0xa0, 0xa8, 0xb4, 0xff}},
	grid:       {color.RGBA{0xe3, 0xe6, 0xea, 0xff}, color.RGBA{0x30, 0x36, 0x3e, 0xff}},
	faint:      {color.RGBA{0xc6, 0xcc, 0xd4, 0xff}, color.RGBA{0x48, 0x50, 0x5b, 0xff}},
	behind:     {color.RGBA{0xde, 0xe3, 0xe9, 0xff}, color.RGBA{0x37, 0x3e, 0x48, 0xff}},
	paper:      {color.RGBA{0xff, 0xff, 0xff, 0xff}, color.RGBA{0x16, 0x1a, 0x1f, 0xff}},
	band:       {color.RGBA{0xf0, 0xf3, 0xf8, 0xff}, color.RGBA{0x20, 0x26, 0x2d, 0xff}},
	series:     {color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0x58, 0xa9, 0xe0, 0xff}},
	series + 1: {color.RGBA{0xd5, 0x5e, 0x00, 0xff}, color.RGBA{0xf0, 0x8a, 0x4b, 0xff}},
	series + 2: {color.RGBA{0x00, 0x8f, 0x68, 0xff}, color.RGBA{0x3f, 0xc5, 0x9b, 0xff}},
	series + 3: {color.RGBA{0xb8, 0x5c, 0x92, 0xff}, color.RGBA{0xe0, 0x97, 0xc2, 0xff}},
	series + 4: {color.RGBA{0x2f, 0x9b, 0xd8, 0xff}, color.RGBA{0x8f, 0xd0, 0xf5, 0xff}},
	series + 5: {color.RGBA{0xc4, 0x85, 0x00, 0xff}, color.RGBA{0xf2, 0xc0, 0x55, 0xff}},
	series + 6: {color.RGBA{0x4a, 0x4f, 0x57, 0xff}, color.RGBA{0xc2, 0xc8, 0xd0, 0xff}},
}

// The ends and the middle of the scale: orange below, blue above.
var (
	scaleLight = [3]color.RGBA{{0xb3, 0x58, 0x06, 0xff}, {0xf4, 0xf4, 0xf2, 0xff}, {0x05, 0x4f, 0x96, 0xff}}
	scaleDark  = [3]color.RGBA{{0xf0, 0x9a, 0x3e, 0xff}, {0x26, 0x2b, 0x32, 0xff}, {0x58, 0xb0, 0xf2, 0xff}}
)

// colour returns the light colour of a role; the roles of the scale follow it.
func colour(r role) color.RGBA {
	if r < scale {
		return palette[r].light
	}
	return step(scaleLight, int(r-scale))
}

func darkColour(r role) color.RGBA {
	if r < scale {
		return palette[r].dark
	}
	return step(scaleDark, int(r-scale))
}

// step interpolates a scale.
func step(ends [3]color.RGBA, i int) color.RGBA {
	const half = scaleSteps / 2
	from, to, t := ends[1], ends[2], i-half
	if i < half {
		to, t = ends[0], half-i
	}
	mix := func(a, b uint8) uint8 { return uint8((int(a)*(half-t) + int(b)*t) / half) }
	return color.RGBA{mix(from.R, to.R), mix(from.G, to.G), mix(from.B, to.B), 0xff}
}

// seriesRole is the colour of a series, from 0; curves with the same colour after seven
// differ in their dashes.
func seriesRole(i int) role { return series + role(i%seriesColours) }

// scaleRole is the colour of a value on a scale from low over mid to high.
func scaleRole(v, low, mid, high float64) role {
	const half = scaleSteps / 2
	t := 0.0
	switch {
	case v > mid && high > mid:
		t = (v - mid) / (high - mid)
	case v < mid && low < mid:
		t = (v - mid) / (mid - low)
	}
	return scale + role(half+int(max(-1, min(1, t))*(half+0.499)))
}

// strong reports that a step is so far from the middle of the scale that text on it
// must have the colour of the background.
func strong(r role) bool {
	d := int(r-scale) - scaleSteps/2
	return max(d, -d) > scaleSteps/3
}

// Variable is a CSS variable in the SVG of a plot.
type Variable struct {
	Name        string // "--plot-3"
	Light, Dark string // "#0072b2"
}

// Variables returns the CSS variables of all plots.
func Variables() []Variable {
	list := make([]Variable, roles)
	for r := range list {
		list[r] = Variable{role(r).variable(), hex(colour(role(r))), hex(darkColour(role(r)))}
	}
	return list
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// translucent is the colour of a band that lines show through.
func translucent(c color.RGBA) color.NRGBA { return color.NRGBA{c.R, c.G, c.B, 0x30} }

func (r role) variable() string { return fmt.Sprintf("--plot-%d", int(r)) }

// roleOf returns the role of a colour, as SVG writes it. Translucent colours come out
// of the canvas one off.
func roleOf(text string) (role, bool) {
	var c color.RGBA
	if _, err := fmt.Sscanf(text, "#%02x%02x%02x", &c.R, &c.G, &c.B); err != nil {
		return 0, false
	}
	for r := range role(roles) {
		if k := colour(r); apart(k.R, c.R) <= 1 && apart(k.G, c.G) <= 1 && apart(k.B, c.B) <= 1 {
			return r, true
		}
	}
	return 0, false
}

func apart(a, b uint8) uint8 { return max(a, b) - min(a, b) }
