package bench

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/go-analyze/charts"
)

// A panel is a chart in a picture: a line, or a line and the lowest and the highest values below and above it.
type panel struct {
	title  string
	labels []string // along the bottom
	lines  [][]float64
}

// What is inline style, a content security policy as that of "waybill serve" may not let a browser draw.
var styleOf = regexp.MustCompile(`style="([^"]*)"`)

func attributes(style []byte) (b []byte) {
	for pair := range strings.SplitSeq(string(styleOf.FindSubmatch(style)[1]), ";") {
		key, value, _ := strings.Cut(pair, ":")
		b = fmt.Appendf(b, ` %s="%s"`, key, value)
	}
	return b
}

// draw writes panels as a picture, in SVG, so many beside each other, each of them so many pixels wide and high.
func draw(t *testing.T, file string, columns, width, height int, panels []panel) {
	t.Helper()
	rows := (len(panels) + columns - 1) / columns
	p := charts.NewPainter(charts.PainterOptions{
		OutputFormat: charts.ChartOutputSVG, Width: columns * width, Height: rows * height,
	})
	for i, panel := range panels {
		o := charts.NewLineChartOptionWithData(panel.lines)
		o.Title.Text, o.XAxis.Labels = panel.title, panel.labels
		o.Title.FontStyle.FontSize = 11
		o.XAxis.LabelCount = min(8, len(panel.labels))
		o.XAxis.LabelFontStyle.FontSize = 8
		o.YAxis = []charts.YAxisOption{{LabelFontStyle: o.XAxis.LabelFontStyle}}
		o.Symbol.Shape, o.LineStrokeWidth = charts.SymbolNone, 1
		if len(panel.lines) > 1 {
			grey := charts.ColorSilver
			o.Theme = o.Theme.WithSeriesColors([]charts.Color{charts.ColorBlue, grey, grey})
			o.SeriesList[0].Symbol.Shape = charts.SymbolDot
			o.YAxis[0].Min = charts.Ptr(0.0)
		}
		x, y := i%columns*width, i/columns*height
		box := charts.NewBox(x, y, x+width, y+height)
		if err := p.Child(charts.PainterBoxOption(box)).LineChart(o); err != nil {
			t.Fatal(err)
		}
	}
	b, err := p.Bytes()
	if err == nil {
		err = os.WriteFile(file, styleOf.ReplaceAllFunc(b, attributes), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
