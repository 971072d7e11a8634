// Package plots draws what an analysis has found, with gonum's plot library, as SVG
// to be put into a page and as PNG. It computes nothing: it is handed names,
// estimates and labels.
//
// Every plot says on its axes what is shown and in which unit. In SVG every colour
// is a CSS variable with the light colour for want of one, so that a page can give
// the same plot other colours in the dark; see [Variables]. The colours can be told
// apart by people who are colour-blind, and nothing is said by colour alone.
package plots
