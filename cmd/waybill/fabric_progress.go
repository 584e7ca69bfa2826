package main

import (
	"context"
	"fmt"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/internal/command"
)

// refresh is how often a progress bar moves.
const refresh = 100 * time.Millisecond

// thousands are what large numbers are counted in.
var thousands = []string{"", "k", "M", "G"}

// A fabricProgress runs a fabric and shows on a terminal how far it is.
type fabricProgress struct {
	fabric *fabric.Fabric
	until  time.Duration
	bar    *progressbar.ProgressBar // nil: nobody would see it
}

// newProgress returns a fabricProgress with a bar, unless standard error is no terminal.
func (c *fabricCommand) newProgress(f *fabric.Fabric, until time.Duration) *fabricProgress {
	p := &fabricProgress{fabric: f, until: until}
	if c.quiet || !command.IsTerminal(c.log) {
		return p
	}
	p.bar = progressbar.NewOptions64(int64(until),
		progressbar.OptionSetWriter(c.log),
		progressbar.OptionSetWidth(10), // with what stands in front, a line of 80 columns
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish(),
	)
	return p
}

// run lets virtual time go by in steps of about the time between two refreshes.
func (p *fabricProgress) run(ctx context.Context) error {
	if p.bar == nil {
		return p.fabric.Run(ctx, p.until)
	}
	start, step := time.Now(), time.Millisecond
	defer func() {
		_ = p.bar.Finish() // a terminal that cannot be written to is no reason to fail
	}()
	for p.fabric.Now() < p.until {
		before := time.Now()
		if err := p.fabric.Run(ctx, min(p.fabric.Now()+step, p.until)); err != nil {
			return err
		}
		took := max(time.Since(before), time.Microsecond)
		step = max(time.Millisecond, min(time.Duration(float64(step)*float64(refresh)/float64(took)), 2*step))
		p.show(time.Since(start))
	}
	return nil
}

func (p *fabricProgress) show(wall time.Duration) {
	now, n := p.fabric.Now(), p.fabric.Stats()
	p.bar.Describe(fmt.Sprintf("%s of %s, %.3g x real time, %s packets, %s reports", now.Round(refresh), p.until,
		now.Seconds()/wall.Seconds(), command.Scaled(float64(n.Sent), thousands),
		command.Scaled(float64(n.Reports), thousands)))
	_ = p.bar.Set64(int64(now))
}
