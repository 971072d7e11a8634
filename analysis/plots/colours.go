package plots

import (
	"fmt"
	"math"
	"strings"
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
	halfScale     = scaleSteps / 2
	scale         = series + seriesColours
	onScale       = scale + scaleSteps // text on a step of the scale
	roles         = onScale + scaleSteps
)

const (
	light = iota
	dark
)

// rgb is a colour, 0xrrggbb.
type rgb int

func (c rgb) String() string { return fmt.Sprintf("#%06x", int(c)) }

// palette has the colours that are not on the scale, light and dark. Series are those of
// M. Okabe and K. Ito (Color Universal Design, 2008) without yellow, which is invisible on
// white.
var palette = [scale][2]rgb{
	ink:        {0x1f2328, 0xe6e9ee},
	muted:      {0x5c646f, 0xa0a8b4},
	grid:       {0xe3e6ea, 0x30363e},
	faint:      {0xc6ccd4, 0x48505b},
	behind:     {0xdee3e9, 0x373e48},
	paper:      {0xffffff, 0x161a1f},
	band:       {0xf0f3f8, 0x20262d},
	series:     {0x0072b2, 0x58a9e0},
	series + 1: {0xd55e00, 0xf08a4b},
	series + 2: {0x008f68, 0x3fc59b},
	series + 3: {0xb85c92, 0xe097c2},
	series + 4: {0x2f9bd8, 0x8fd0f5},
	series + 5: {0xc48500, 0xf2c055},
	series + 6: {0x4a4f57, 0xc2c8d0},
}

// scaleColours are the low end, the middle and the high end of the scale.
var scaleColours = [3][2]rgb{{0xb35806, 0xf09a3e}, {0xe4e7eb, 0x262b32}, {0x054f96, 0x58b0f2}}

// in returns the colour of a role in a theme.
func (r role) in(theme int) rgb {
	if r < scale {
		return palette[r][theme]
	}
	if r >= onScale {
		if (r - scaleSteps).in(theme).luminance() > 0.179 { // from where black has more contrast than white
			return 0x000000
		}
		return 0xffffff
	}
	from, to, t := scaleColours[1][theme], scaleColours[2][theme], rgb(r-scale-halfScale)
	if t < 0 {
		to, t = scaleColours[0][theme], -t
	}
	var mixed rgb
	for _, shift := range []int{16, 8, 0} {
		mixed |= ((from>>shift&0xff)*(halfScale-t) + (to>>shift&0xff)*t) / halfScale << shift
	}
	return mixed
}

func (r role) variable() string { return fmt.Sprintf("--plot-%d", int(r)) }

// scaleRole is the colour of a value on a scale from low over mid to high.
func scaleRole(v, low, mid, high float64) role {
	reach := high - mid
	if v < mid {
		reach = mid - low
	}
	t := (v - mid) / max(reach, 1e-9)
	return scale + role(halfScale+int(max(-1, min(1, t))*(halfScale+0.499)))
}

// luminance is the relative luminance of the Web Content Accessibility Guidelines 2.1.
func (c rgb) luminance() (sum float64) {
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := float64(c>>(16-8*i)&0xff) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// Style is a style sheet with the variables of all plots, in light and dark.
func Style() string {
	var sheets [2]strings.Builder
	for r := range roles {
		for theme := range sheets {
			fmt.Fprintf(&sheets[theme], "%s:%v;", r.variable(), r.in(theme))
		}
	}
	return fmt.Sprintf(":root{%s}\n@media screen and (prefers-color-scheme:dark){:root{%s}}\n", sheets[light].String(), sheets[dark].String())
}
