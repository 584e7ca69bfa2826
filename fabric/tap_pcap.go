package fabric

import (
	"errors"
	"os"
	"path/filepath"
)

// A PcapTap writes a capture file for each link, with both directions, named after the link.
type PcapTap struct {
	dir   string
	links map[string]*PcapSink
	files []*os.File
}

// NewPcapTap returns a Tap that writes into a directory. A file is made when its link has its first frame.
func NewPcapTap(dir string) *PcapTap { return &PcapTap{dir: dir, links: map[string]*PcapSink{}} }

// Frame implements Tap.
func (t *PcapTap) Frame(link string, _ bool, atNs uint64, frame []byte) error {
	s := t.links[link]
	if s == nil {
		file, err := os.Create(filepath.Join(t.dir, link+".pcap"))
		if err != nil {
			return err
		}
		t.files = append(t.files, file)
		if s, err = NewPcapSink(file); err != nil {
			return err
		}
		t.links[link] = s
	}
	return s.Report(atNs, frame)
}

// Close completes the files.
func (t *PcapTap) Close() error {
	var all []error
	for _, s := range t.links {
		all = append(all, s.Flush())
	}
	for _, file := range t.files {
		all = append(all, file.Close())
	}
	return errors.Join(all...)
}
