package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Matrix is a table of shares for a heat map.
type Matrix struct {
	Rows, Columns  []string
	Cells          [][]float64 // shares by row and column; NaN is left blank
	RowAxis, Axis  string      // what rows and columns are
	Scale          string      // what the shares are of
	Low, Mid, High float64     // of the colours
	Numbers        bool        // stand in the cells, where there is room
	// Title is what a cell says under the pointer. The cells of a large matrix say nothing.
	Title func(row, column int) string
}

const mostTitled = 45 // rows or columns: the size of titles grows with their product

// Heatmap draws a matrix, the first row at the top, with its colour scale below.
func Heatmap(m Matrix) *Figure {
	return &Figure{func(c *canvas) float64 {
		h := m.heat(c.width)
		c.put(`<g transform="translate(%v %v) scale(%v %v)" shape-rendering="crispEdges">`, h.x.from, h.y.from, h.cell, h.row)
		if max(len(m.Rows), len(m.Columns)) > mostTitled {
			h.areas(c)
		} else {
			h.cells(c)
		}
		c.put(`</g>`)
		if m.Numbers && h.cell >= 34 {
			h.numbers(c)
		}
		return h.scale(c, h.names(c))
	}}
}

// heat is a matrix in its place.
type heat struct {
	Matrix
	x, y            axis
	cell, row, size float64 // the width and height of a cell, and the font size of names
}

// heat divides the width between names and cells, which depend on each other.
func (m Matrix) heat(width float64) heat {
	for _, names := range []*[]string{&m.Rows, &m.Columns} {
		*names = slices.Clone(*names)
		for i, n := range *names {
			(*names)[i] = shorten(n, fontSize, 176)
		}
	}
	rows, columns := float64(len(m.Rows)), float64(len(m.Columns))
	left := func(size float64) float64 { return 28 + widest(size, m.Rows...) }
	cell := func(size float64) float64 { return math.Floor(100*(width-8-left(size))/max(1, columns)) / 100 }
	h := heat{Matrix: m, size: min(fontSize, max(7, 0.85*cell(fontSize)))}
	h.cell = cell(h.size)
	h.row = min(36, max(9, h.cell))
	h.x = axis{high: columns, from: left(h.size), to: left(h.size) + columns*h.cell}
	h.y = axis{high: rows, from: topMargin, to: topMargin + rows*h.row}
	return h
}

// each calls f with every cell that is not blank.
func (m Matrix) each(f func(row, column int, v float64, r role)) {
	for i, row := range m.Cells {
		for j, v := range row {
			if !math.IsNaN(v) {
				f(i, j, v, scaleRole(v, m.Low, m.Mid, m.High))
			}
		}
	}
}

// cells draws every cell with its title.
func (m Matrix) cells(c *canvas) {
	m.each(func(i, j int, _ float64, r role) {
		c.put(`<rect x="%v" y="%v" width=".97" height=".97" fill="%v"><title>%v</title></rect>`, j, i, r, m.Title(i, j))
	})
}

// areas draws all cells of a colour as one path, of lines as thick as a cell.
func (m Matrix) areas(c *canvas) {
	var paths [roles]strings.Builder
	m.each(func(i, j int, _ float64, r role) { fmt.Fprintf(&paths[r], "M%d %d.5h1", j, i) })
	for r := range roles {
		if paths[r].Len() > 0 {
			c.put(`<path d="%v" stroke="%v"/>`, paths[r].String(), r)
		}
	}
}

func (h heat) numbers(c *canvas) {
	c.put(`<g pointer-events="none">`) // so that the pointer finds the title of the cell
	h.each(func(i, j int, v float64, r role) {
		c.text(r+scaleSteps, smallFont, h.x.at(float64(j)+0.5), h.y.at(float64(i)+0.5), "middle", percent(v))
	})
	c.put(`</g>`)
}

func percent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// names writes the names of rows, columns and axes.
func (h heat) names(c *canvas) (bottom float64) {
	c.upward(muted, fontSize, 10, h.y.middle(), "middle", h.RowAxis)
	for i, name := range h.Rows {
		c.text(ink, h.size, h.x.from-6, h.y.at(float64(i)+0.5), "end", name)
	}
	bottom = h.y.to + 6 + h.size
	every, turned := 1, widest(h.size, h.Columns...) > h.cell-4
	if turned {
		bottom = h.y.to + 6 + widest(h.size, h.Columns...)
		every = max(1, int(math.Ceil(1.1*h.size/h.cell))) // all of them would overlap
	}
	for j := 0; j < len(h.Columns); j += every {
		if x := h.x.at(float64(j) + 0.5); turned {
			c.upward(ink, h.size, x, h.y.to+6, "end", h.Columns[j])
		} else {
			c.text(ink, h.size, x, h.y.to+6+h.size/2, "middle", h.Columns[j])
		}
	}
	c.text(muted, fontSize, h.x.middle(), bottom+12, "middle", h.Axis)
	return bottom + 24
}

// scale draws the colours and their values.
func (m Matrix) scale(c *canvas, top float64) (bottom float64) {
	half := min(160, c.width/2-40)
	x := axis{low: float64(scale), high: float64(onScale), from: c.width/2 - half, to: c.width/2 + half}
	if m.Mid == m.Low {
		x.low += halfScale // the lower half is not used
	} else {
		c.text(muted, smallFont, x.middle(), top+26, "middle", percent(m.Mid))
	}
	c.put(`<g shape-rendering="crispEdges">`)
	for v := x.low; v < x.high; v++ {
		c.rect(role(v), x.at(v), top+4, x.at(v+1)-x.at(v), 12)
	}
	c.put(`</g>`)
	c.text(muted, smallFont, x.from, top+26, "middle", percent(m.Low))
	c.text(muted, smallFont, x.to, top+26, "middle", percent(m.High))
	c.text(muted, smallFont, c.width/2, top+44, "middle", m.Scale)
	return top + 58
}
