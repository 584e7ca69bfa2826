package cli

import (
	"bufio"
	"io"
	"strings"
	"unicode"
)

// A Cell is a text in a table, in a colour if it asks for attention.
type Cell struct {
	text  string
	color color
}

// A color is the sequence that turns it on.
type color string

const (
	plain  color = ""
	red    color = "\x1b[31m"
	yellow color = "\x1b[33m"
	bold   color = "\x1b[1m"
)

// PlainCell returns a cell without colour.
func PlainCell(text string) Cell { return Cell{text: text} }

// printTable writes a table of rows below titles, unless these are left out.
func printTable(to io.Writer, titles []string, rows [][]Cell, noTitles bool) error {
	v, w := newView(to, false), bufio.NewWriter(to)
	v.bare = noTitles
	columns := make([]tableColumn[[]Cell], len(titles))
	for i, title := range titles {
		columns[i] = tableColumn[[]Cell]{title: title, cell: func(_ *view, row *[]Cell) Cell { return (*row)[i] }}
	}
	writeTable(w, &v, columns, rows)
	return w.Flush()
}

// writeTable writes the columns that v shows, aligned, two spaces apart. text/tabwriter would count colours and bytes.
// To a table that grows it adds rows, in columns that are at least as wide as before.
func writeTable[T any](w *bufio.Writer, v *view, columns []tableColumn[T], items []T) {
	var shown []tableColumn[T]
	var head []Cell
	for _, c := range columns {
		if v.wide || !c.wide {
			shown = append(shown, c)
			head = append(head, Cell{c.title, bold})
		}
	}
	rows := [][]Cell{head}
	if v.bare || v.grows && v.widths != nil {
		rows = nil
	}
	for i := range items {
		row := make([]Cell, len(shown))
		for j, c := range shown {
			row[j] = c.cell(v, &items[i])
			row[j].text = printable(row[j].text)
		}
		rows = append(rows, row)
	}
	widths := make([]int, len(shown))
	if v.grows {
		copy(widths, v.widths)
		v.widths = widths
	}
	for _, row := range rows {
		for j := range row {
			widths[j] = max(widths[j], width(row[j].text))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for j, c := range row {
			gap := strings.Repeat(" ", widths[j]-width(c.text))
			if shown[j].right {
				line.WriteString(gap + c.colored(v))
			} else {
				line.WriteString(c.colored(v) + gap)
			}
			line.WriteString("  ")
		}
		w.WriteString(strings.TrimRight(line.String(), " "))
		w.WriteByte('\n')
	}
}

// colored returns the text with the sequences of its colour if v has colours.
func (c Cell) colored(v *view) string {
	if !v.color || c.color == plain {
		return c.text
	}
	return string(c.color) + c.text + "\x1b[0m"
}

// AlarmCell returns a cell that asks for attention.
func AlarmCell(text string) Cell { return Cell{text: text, color: red} }

// printable replaces what a terminal would act on: names come from elsewhere.
func printable(text string) string {
	return strings.Map(printableRune, text)
}

func printableRune(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return '?'
}

// printableLines joins lines.
func printableLines(lines []string) string {
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	return strings.Join(lines, "\n")
}

// wideRunes take two columns of a terminal: East Asian Wide and Fullwidth (Unicode Annex 11), in coarse ranges.
var wideRunes = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1},
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1},
		{Lo: 0x3041, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff00, Hi: 0xff60, Stride: 1},
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1faff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// width returns how many columns of a terminal text takes.
func width(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case unicode.Is(wideRunes, r):
			n += 2
		default:
			n++
		}
	}
	return n
}
