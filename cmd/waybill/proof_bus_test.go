package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/serve"
)

// A clusterOfProof is what stands between an emulated network and the analyzer: two collectors, each with its part of
// the switches, and a bus of three servers that each keep everything.
type clusterOfProof struct {
	urls      []string // of the bus
	addresses []string // of the collectors
}

// inFlightByBus is how many reports may be on their way there: collectors ask for buffers that hold more, and the bus
// takes a tenth of a second for whatever it is given.
const inFlightByBus = 2048

func startClusterOfProof(t *testing.T, kafka bool) *clusterOfProof {
	t.Helper()
	c := &clusterOfProof{}
	if kafka {
		brokers, err := kfake.NewCluster(kfake.NumBrokers(3))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(brokers.Close)
		for _, address := range brokers.ListenAddrs() {
			c.urls = append(c.urls, "kafka://"+address)
		}
	} else {
		c.urls = startNATS(t).urls
	}
	all := clusterOfTest{t: t}
	for _, network := range []string{"127.0.31", "127.0.32"} {
		all.add(network, c.urls...)
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
	s.Bus.URLs, s.Bus.Replicas, s.Bus.MaxSize = c.urls, 3, "64MiB"
}

// What a cluster says of an emulated network is what the network knows of itself, as in TestProof: reports come by two
// collectors and three servers of the bus, and are put in the order in which they arrived.
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
		round := chosen / uint64(len(files))
		d := dialects[(uint64(i)+round)%uint64(len(dialects))]
		if d.only != "" && d.only != name {
			d = dialects[0]
		}
		t.Run(name+"/"+d.name, func(t *testing.T) {
			kafka := (uint64(i)+round/uint64(len(dialects)))%2 > 0
			proveUndisturbed(t, func() (string, bool) { return prove(t, file, &d, startClusterOfProof(t, kafka)) })
		})
	}
}
