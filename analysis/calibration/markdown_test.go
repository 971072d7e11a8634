package calibration

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// writeMarkdown writes rows as tables in Markdown, one for all fields that were measured
// alike: with a line for each field or, where more was measured than there are fields, a
// column.
func writeMarkdown(buf *bytes.Buffer, rows []Row) {
	for k, block := range alike(byField(rows)) {
		if k > 0 {
			buf.WriteByte('\n')
		}
		block.write(buf)
	}
}

// block is the rows of fields that were measured alike, by field.
type block [][]Row

func byField(rows []Row) (fields [][]Row) {
	for i, r := range rows {
		if i == 0 || r.heading() != rows[i-1].heading() {
			fields = append(fields, nil)
		}
		fields[len(fields)-1] = append(fields[len(fields)-1], r)
	}
	return fields
}

func alike(fields [][]Row) (blocks []block) {
	same := func(a, b []Row) bool {
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if a[i].What != b[i].What {
				return false
			}
		}
		return true
	}
	for _, f := range fields {
		k := slices.IndexFunc(blocks, func(b block) bool { return same(f, b[0]) })
		if k < 0 {
			k, blocks = len(blocks), append(blocks, nil)
		}
		blocks[k] = append(blocks[k], f)
	}
	return blocks
}

func (b block) write(buf *bytes.Buffer) {
	lines := [][]string{b.headings()}
	for i, r := range b[0] {
		line, promised := []string{r.What}, r.promised()
		alike := !slices.ContainsFunc(b, func(f []Row) bool { return f[i].promised() != promised })
		if alike && promised != "" {
			line[0] += ", " + promised
		}
		for _, f := range b {
			text := f[i].cell()
			if p := f[i].promised(); !alike && p != "" {
				text += ", promised " + p
			}
			line = append(line, text)
		}
		lines = append(lines, line)
	}
	if len(b) > len(lines)-1 {
		lines = transposed(lines)
	}
	for i, line := range lines {
		fmt.Fprintf(buf, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			buf.WriteString(strings.Repeat("|---", len(line)) + "|\n")
		}
	}
}

func transposed(lines [][]string) [][]string {
	list := make([][]string, len(lines[0]))
	for _, line := range lines {
		for k, text := range line {
			list[k] = append(list[k], text)
		}
	}
	return list
}

// headings has what is the same in all fields first, and then what is not.
func (b block) headings() []string {
	list := make([]string, 1+len(b))
	for i := range b[0][0].heading() {
		texts := map[string]bool{}
		for _, f := range b {
			texts[f[0].heading()[i]] = true
		}
		for k, f := range b {
			text := f[0].heading()[i]
			switch {
			case i == 0 || len(texts) > 1:
				list[k+1] = strings.TrimPrefix(list[k+1]+", "+text, ", ")
			case k == 0:
				list[0] = strings.TrimPrefix(list[0]+", "+text, ", ")
			}
		}
	}
	return list
}

// cell is the measured value, shares in percent, the lowest and the highest of several, and
// the mean width of intervals.
func (r Row) cell() string {
	if !r.share() || r.Verdict != "" {
		return r.measured(r.Measured)
	}
	text := fmt.Sprintf("%.1f", 100*r.Measured)
	if r.Intervals > 1 {
		text += fmt.Sprintf(" (%.1f-%.1f)", 100*r.Lowest, 100*r.Highest)
	}
	if width := digits(r.Width); width != "" {
		text += ", width " + width
	}
	return strings.TrimSpace(text + " " + r.missed())
}
