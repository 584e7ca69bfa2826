package inventory

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/unit"
)

// What all sources have that ask devices and servers.
const (
	defaultEvery = 5 * time.Minute
	minEvery     = 10 * time.Second
	maxEvery     = 7 * 24 * time.Hour
)

func every(d *unit.Duration) time.Duration {
	if d == nil {
		return defaultEvery
	}
	return time.Duration(*d)
}

func checkEvery(d *conf.Document, key string, value *unit.Duration) {
	if e := every(value); e < minEvery || e > maxEvery {
		d.Say(key+".every", "got %v, want 10s to 7d", value)
	}
}

// checkSecret refuses a file that cannot be read. It is read again each time that it is needed.
func checkSecret(d *conf.Document, key, name string) {
	if name == "" {
		return
	}
	if text, err := readSecret(name); err != nil {
		d.Say(key, "%v", err)
	} else if text == "" {
		d.Say(key, "%s is empty", name)
	}
}

// deviceSources returns a source for each device.
func deviceSources(
	d *conf.Document, key string, devices map[uint32]string, port string, newSource func(uint32, string) Source,
) (list []Source) {
	if len(devices) == 0 {
		d.Say(key+".devices", "want addresses by node id, such as {1: 10.0.0.1}")
	}
	for _, node := range slices.Sorted(maps.Keys(devices)) {
		address := devices[node]
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(strings.Trim(address, "[]"), port)
		}
		host, number, err := net.SplitHostPort(address)
		if n, errNumber := strconv.ParseUint(number, 10, 16); err != nil || host == "" || errNumber != nil || n == 0 {
			d.Say(key+".devices."+strconv.FormatUint(uint64(node), 10), "got %q, want HOST or HOST:PORT", devices[node])
			continue
		}
		list = append(list, newSource(node, address))
	}
	return list
}

// portNumbers say which number a port has in reports.
type portNumbers string

const (
	portsByIndex portNumbers = "index" // its ifIndex; also without a value
	portsByName  portNumbers = "name"  // the number at the end of its name
)

// UnmarshalText reads one.
func (p *portNumbers) UnmarshalText(text []byte) error {
	if *p = portNumbers(text); *p != portsByIndex && *p != portsByName {
		return unit.Want("index (ifIndex) or name (the number at the end of a name)")
	}
	return nil
}

// number returns that of a port.
func (p portNumbers) number(index uint32, name string) (uint32, bool) {
	if p != portsByName {
		return index, true
	}
	digits := len(name)
	for digits > 0 && '0' <= name[digits-1] && name[digits-1] <= '9' {
		digits--
	}
	n, err := strconv.ParseUint(name[digits:], 10, 32)
	return uint32(n), err == nil
}
