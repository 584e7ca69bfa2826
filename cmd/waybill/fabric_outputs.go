package main

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/waybill-int/waybill/fabric"
)

// outputFiles are what a run writes.
type outputFiles struct {
	files []io.Closer
}

// create makes a file, or returns stdout for "-".
func (o *outputFiles) create(name string, stdout io.Writer) (io.Writer, error) {
	if name == "-" {
		return stdout, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	o.files = append(o.files, file)
	return file, nil
}

// close completes the files. Further calls do nothing.
func (o *outputFiles) close() error {
	var all []error
	for _, file := range o.files {
		all = append(all, file.Close())
	}
	o.files = nil
	return errors.Join(all...)
}

// open makes what the flags ask for and puts it into options.
func (c *fabricCommand) open(options *fabric.Options, collectors *collectors, files *outputFiles) error {
	if c.truth != "" {
		w, err := files.create(c.truth, c.out)
		if err != nil {
			return err
		}
		options.Truth = w
	}
	var sinks fabric.Sinks
	if c.pcap != "" {
		w, err := files.create(c.pcap, c.out)
		if err != nil {
			return err
		}
		sink, err := fabric.NewPcapSink(w)
		if err != nil {
			return err
		}
		sinks = append(sinks, sink)
	}
	if len(c.reports) > 0 {
		sinks = append(sinks, collectors)
	}
	if len(sinks) > 0 {
		options.Reports = sinks
	}
	if c.pcapLinks != "" {
		if err := os.MkdirAll(c.pcapLinks, 0o777); err != nil {
			return err
		}
		tap := fabric.NewPcapTap(c.pcapLinks)
		files.files = append(files.files, tap)
		options.Tap = tap
	}
	if c.speed == "realtime" {
		options.Pace = fabric.RealTime()
		options.EpochNs = uint64(time.Now().UnixNano()) // clocks of switches show what time it is
	}
	return nil
}

// toStdout says that something else than the summary goes to standard output.
func (c *fabricCommand) toStdout() bool { return c.truth == "-" || c.pcap == "-" }
