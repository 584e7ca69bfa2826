//go:build linux

package kernel

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/waybill-int/waybill/node/bpf"
)

// A vlanDevice is an interface that gets packets with a VLAN tag of another one, without the tag.
type vlanDevice struct {
	name, of string
	id       uint16
}

// vlanDevices returns those of the network namespace of this thread.
func vlanDevices() ([]vlanDevice, error) {
	text, err := os.ReadFile("/proc/thread-self/net/vlan/config")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return parseVLANs(string(text)), err
}

func parseVLANs(text string) (list []vlanDevice) {
	for line := range strings.Lines(text) {
		fields := strings.Split(line, "|")
		if len(fields) != 3 { // a heading
			continue
		}
		if id, err := strconv.ParseUint(strings.TrimSpace(fields[1]), 10, 12); err == nil {
			list = append(list, vlanDevice{strings.TrimSpace(fields[0]), strings.TrimSpace(fields[2]), uint16(id)})
		}
	}
	return list
}

// addVLANs makes the VLAN interfaces on top of a port known to the programs, and those on top of them.
func addVLANs(p *bpf.Programs, port bpf.Port, of string, ids []uint16, all []vlanDevice) error {
	for _, d := range all {
		if d.of != of {
			continue
		}
		i, err := index(d.name)
		if err != nil {
			return err
		}
		ids := append(ids[:len(ids):len(ids)], d.id)
		var both [2]uint16
		copy(both[:], ids)
		if err := p.AddVLAN(port, i, both); err != nil {
			return err
		}
		if len(ids) < len(both) {
			if err := addVLANs(p, port, d.name, ids, all); err != nil {
				return err
			}
		}
	}
	return nil
}
