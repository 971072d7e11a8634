package plots

import (
	"fmt"
	"image"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Matrix is a table of numbers for a heat map.
type Matrix struct {
	Rows, Columns  []string
	Cells          [][]float64 // by row and column; NaN is left blank
	RowAxis, Axis  string      // what rows and columns are
	Scale          string      // what the colours are, with the unit
	Low, Mid, High float64     // of the colours
	Percent        bool        // how numbers are written
	Numbers        bool        // in the cells, where there is room
	// Title is what a cell says under the pointer; nil for nothing. A matrix that is
	// drawn as one picture has no titles.
	Title func(row, column int) string
}

const (
	mostVector  = 45 // rows or columns drawn cell by cell; larger matrices are one picture
	scaleHeight = 58
)

// Heatmap draws a matrix, the first row at the top, with its colour scale below.
func Heatmap(m Matrix) *Figure {
	under := 30 + 6.2*float64(longest(m.Columns))
	cell := func(width float64) float64 {
		return (width - 60 - 6.2*float64(longest(m.Rows))) / float64(len(m.Columns))
	}
	return &Figure{
		crisp: true,
		height: func(width float64) float64 {
			return min(36, max(9, cell(width)))*float64(len(m.Rows)) + under + scaleHeight
		},
		paint: func(c draw.Canvas, width float64) error {
			c.SetColor(colour(paper))
			c.Fill(c.Rectangle.Path())
			p := m.plot(cell(width))
			picture, err := m.picture()
			if err != nil {
				return err
			}
			p.Add(heat{m, picture, m.Numbers && cell(width) >= 34})
			p.Draw(draw.Crop(c, 4, -8, scaleHeight, -6))
			m.scale(draw.Crop(c, 0, 0, 0, scaleHeight-c.Size().Y))
			return nil
		},
	}
}

func longest(names []string) int {
	most := 0
	for _, n := range names {
		most = max(most, len([]rune(shorten(n, nameLength(Wide)))))
	}
	return most
}

func (m Matrix) plot(cell float64) *plot.Plot {
	p := newPlot(m.Axis, m.RowAxis)
	p.X.Min, p.X.Max = -0.5, float64(len(m.Columns))-0.5
	p.Y.Min, p.Y.Max = -0.5, float64(len(m.Rows))-0.5
	size := min(fontSize, max(7, cell*0.85))
	var columns, rows plot.ConstantTicks
	turned := longest(m.Columns) > 3 || len(m.Columns) > 40
	for j, name := range m.Columns {
		label := shorten(name, nameLength(Wide))
		if turned {
			label += "  " // room between the text and the cells
		}
		columns = append(columns, plot.Tick{Value: float64(j), Label: label})
	}
	for i, name := range m.Rows {
		rows = append(rows, plot.Tick{Value: float64(len(m.Rows) - 1 - i), Label: shorten(name, nameLength(Wide))})
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = columns, rows
	p.X.Tick.Label = merge(p.X.Tick.Label, style(ink, size))
	p.Y.Tick.Label = merge(p.Y.Tick.Label, style(ink, size))
	if turned {
		p.X.Tick.Label.Rotation = math.Pi / 2
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding, a.Tick.Length, a.LineStyle.Width, a.Tick.LineStyle.Width = 1, 2, 0, 0
	}
	return p
}

func (m Matrix) role(v float64) role { return scaleRole(v, m.Low, m.Mid, m.High) }

// picture is the matrix as one image, or nil if it is small enough to be drawn cell by
// cell: the size of cells grows with the square of the field.
func (m Matrix) picture() (image.Image, error) {
	if len(m.Rows) <= mostVector && len(m.Columns) <= mostVector {
		return nil, nil
	}
	if len(m.Rows) == 0 || len(m.Columns) == 0 {
		return nil, fmt.Errorf("matrix of %d rows and %d columns is empty", len(m.Rows), len(m.Columns))
	}
	img := image.NewRGBA(image.Rect(0, 0, len(m.Columns), len(m.Rows)))
	for i, row := range m.Cells {
		for j, v := range row {
			if !math.IsNaN(v) {
				img.Set(j, i, colour(m.role(v)))
			}
		}
	}
	return img, nil
}

// write formats a value of the matrix.
func (m Matrix) write(v float64) string {
	if m.Percent {
		return fmt.Sprintf("%.0f%%", 100*v)
	}
	return fmt.Sprintf("%.2f", v)
}

type heat struct {
	Matrix
	picture image.Image
	numbers bool
}

func (h heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	n := len(h.Rows)
	if h.picture != nil {
		c.DrawImage(vg.Rectangle{
			Min: vg.Point{X: x(-0.5), Y: y(-0.5)},
			Max: vg.Point{X: x(float64(len(h.Columns)) - 0.5), Y: y(float64(n) - 0.5)},
		}, h.picture)
		return
	}
	for i, row := range h.Cells {
		for j, v := range row {
			if math.IsNaN(v) {
				continue
			}
			top, left := float64(n-1-i), float64(j)
			r := h.role(v)
			c.SetColor(colour(r))
			box := vg.Rectangle{Min: vg.Point{X: x(left - 0.5), Y: y(top - 0.5)}, Max: vg.Point{X: x(left + 0.5), Y: y(top + 0.5)}}
			if h.Title != nil {
				title(c, h.Title(i, j))
			}
			c.Fill(box.Path())
			if h.numbers {
				on := ink
				if strong(r) {
					on = paper
				}
				s := style(on, smallFont)
				s.XAlign, s.YAlign = draw.XCenter, draw.YCenter
				c.FillText(s, vg.Point{X: x(left), Y: y(top)}, h.write(v))
			}
		}
	}
}

// scale draws the colours and their values.
func (m Matrix) scale(c draw.Canvas) {
	const steps = scaleSteps
	width := min(c.Size().X-40, 320)
	left := c.Center().X - width/2
	top := c.Max.Y - 10
	for i := range steps {
		r := scale + role(i)
		if m.Mid == m.Low { // the lower half is not used
			r = scale + role(scaleSteps/2+i/2)
		}
		c.SetColor(colour(r))
		x0, x1 := left+width*vg.Length(i)/steps, left+width*vg.Length(i+1)/steps
		c.Fill(vg.Rectangle{Min: vg.Point{X: x0, Y: top - 12}, Max: vg.Point{X: x1, Y: top}}.Path())
	}
	say := func(x vg.Length, y vg.Length, s string) {
		st := style(muted, smallFont)
		st.XAlign, st.YAlign = draw.XCenter, draw.YTop
		c.FillText(st, vg.Point{X: x, Y: y}, s)
	}
	say(left, top-15, m.write(m.Low))
	say(left+width, top-15, m.write(m.High))
	if m.Mid != m.Low {
		say(left+width/2, top-15, m.write(m.Mid))
	}
	say(c.Center().X, top-30, m.Scale)
}
