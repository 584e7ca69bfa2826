package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
)

// A clusterOfProof is what stands between an emulated network and the analyzer: two collectors, each with its part of
// the switches, and a bus of three servers that each keep everything.
type clusterOfProof struct {
	nats      *natsCluster
	dir       string
	addresses []string // of the collectors
}

// inFlightByBus is how many reports may be on their way there: collectors ask for buffers that hold more, and the bus
// takes a tenth of a second for whatever it is given.
const inFlightByBus = 2048

func startClusterOfProof(t *testing.T) *clusterOfProof {
	t.Helper()
	c := &clusterOfProof{nats: startNATS(t), dir: t.TempDir()}
	all := clusterOfTest{t: t}
	for _, network := range []string{"127.0.31", "127.0.32"} {
		all.add(network, c.nats.urls...)
	}
	for _, k := range all.collectors {
		k.start(t)
		c.addresses = append(c.addresses, k.udp)
	}
	return c
}

// configure makes a server the analyzer.
func (c *clusterOfProof) configure(s *serve.Config) {
	s.Role = "analyze" // which listens on nothing
	s.Bus.URLs, s.Bus.Replicas, s.Bus.MaxSize = c.nats.urls, 3, "64MiB"
}

// tellApart leaves out packets that look alike: IPv6 has no Identification, and acknowledgements of TCP have no other.
// Postcards of such packets are put together by the order in which they come, which is another one behind a bus, as
// docs/how-to/grow-to-several-machines.md says.
func (c *clusterOfProof) tellApart(s *scenario.Scenario) {
	for i := range s.Traffic {
		s.Traffic[i].IP = "4"
	}
}

// What a cluster says of an emulated network is what the network knows of itself, as in TestProof: reports come by two
// collectors and three servers of the bus. Those of different switches come in another order than they were sent in.
func TestProofByBus(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(test.Root(), "scenarios/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios (%v)", err)
	}
	chosen, all := test.Seed(t)
	for i, file := range files {
		if !all && uint64(i) != chosen%uint64(len(files)) {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		d := dialects[(uint64(i)+chosen/uint64(len(files)))%uint64(len(dialects))]
		if d.only != "" && d.only != name {
			d = dialects[0]
		}
		d.options.Unordered = true
		t.Run(name+"/"+d.name, func(t *testing.T) {
			proveUndisturbed(t, func() (string, bool) { return prove(t, file, &d, startClusterOfProof(t)) })
		})
	}
}
