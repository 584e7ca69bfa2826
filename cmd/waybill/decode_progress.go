package main

import (
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/internal/command"
)

// largeFile is the size in bytes from which reading a file is worth a progress bar.
const largeFile = 8 << 20

// A progress shows how much of a file has been read. The zero value shows nothing.
type progress struct {
	capture *collect.Capture
	bar     *progressbar.ProgressBar
	packets int
}

// progress returns a bar for large files, if it can be seen and does not run into the output.
func (c *decodeCommand) progress(capture *collect.Capture) *progress {
	if capture.Size() < largeFile || !command.IsTerminal(c.stderr) || command.IsTerminal(c.stdout) {
		return &progress{}
	}
	return &progress{capture: capture, bar: progressbar.NewOptions64(capture.Size(),
		progressbar.OptionSetWriter(c.stderr),
		progressbar.OptionSetDescription("decoding"),
		progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

func (p *progress) update() {
	const every = 1024 // packets
	p.packets++
	if p.bar != nil && p.packets%every == 0 {
		// A terminal that cannot be written to is no reason to stop decoding.
		_ = p.bar.Set64(min(p.capture.BytesRead(), p.capture.Size()))
	}
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
