package main

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/chdb"
	"github.com/waybill-int/waybill/serve"
	"github.com/waybill-int/waybill/telemetry"
)

// A clusterOfProof is what stands around the analyzer of an emulated network: two collectors, each with its part of
// the switches, a bus of three servers that each keep everything, and ClickHouse.
type clusterOfProof struct {
	urls      []string // of the bus
	addresses []string // of the collectors
	tables    []string // addresses of servers that have them; empty: the analyzer does
	store     string   // of a database of ClickHouse
	data      string   // directory of the analyzer
}

// inFlightByBus is how many reports may be on their way there: collectors ask for buffers that hold more, and the bus
// takes a tenth of a second for whatever it is given.
const inFlightByBus = 2048

func startClusterOfProof(t *testing.T, kafka, apart, relayed bool) *clusterOfProof {
	t.Helper()
	c := &clusterOfProof{store: chdb.Start(t), data: t.TempDir()}
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
	var taken []string // from where the tables take messages
	if !kafka && !relayed {
		taken = c.urls
	}
	for range 3 {
		if apart {
			address, config := tablesConfig(t, taken...)
			startRoleAt(t, config)
			c.tables = append(c.tables, address)
		}
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
	s.Data = c.data
	s.Tables.Servers, s.Version = c.tables, version
	address, database := path.Split(c.store)
	to := newOf(&s.Store.ClickHouse)
	to.URL, to.Database = strings.TrimSuffix(address, "/"), database
}

// newOf makes what a pointer of a configuration points to, whose type has no name here.
func newOf[T any](to **T) *T {
	*to = new(T)
	return *to
}

// startQuery starts a server with role query before an analyzer, and returns where it is.
func (c *clusterOfProof) startQuery(t *testing.T, analyzer string) string {
	t.Helper()
	address, database := path.Split(c.store)
	web := test.FreePort(t, "tcp")
	startRole(t, web, fmt.Sprintf("role: query\nhttp: %s\nanalyzer: {url: %q}\nstore: {clickhouse: {url: %q, database: %s}}\n",
		web, analyzer, strings.TrimSuffix(address, "/"), database))
	return "http://" + web
}

// checkStored compares what ClickHouse has of each flow, as a server with role query says it without the analyzer,
// with what the analyzer said of it, which the truth of the network was compared with.
func (c *clusterOfProof) checkStored(t *testing.T, query string, flows []telemetry.Flow) {
	t.Helper()
	api, err := client.New(query)
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.SQL(t.Context(), `SELECT lower(leftPad(hex(flow), 16, '0')), sum(reports), sum(packets), sum(bytes),
		sum(drops), sum(path_changes) FROM flows_10s GROUP BY flow`, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]string{}
	for _, row := range a.Rows {
		kept[fmt.Sprint(row[0])] = strings.Trim(fmt.Sprint(row[1:]), "[]")
	}
	wrong := 0
	for i := range flows {
		f := &flows[i]
		want := fmt.Sprint(f.Reports, f.Packets, f.Bytes, f.Drops, f.PathChanges)
		if got := kept[f.ID]; got != want {
			if wrong++; wrong <= 5 {
				t.Errorf("ClickHouse has %s of flow %s, want %s", got, f.ID, want)
			}
		}
	}
	if len(kept) != len(flows) {
		t.Errorf("ClickHouse has %d flows, want %d", len(kept), len(flows))
	}
}

// What a cluster says of an emulated network is what the network knows of itself, as in TestProof: reports come by two
// collectors and three servers of the bus, and are put in the order in which they arrived. Three servers have the
// tables and take from the bus what is about their flows, or it is relayed to them, or the analyzer has the tables;
// and a server with role query is asked. ClickHouse has the same of every flow.
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
			turn := uint64(i) + round/uint64(len(dialects))
			kafka, apart, relayed := turn%2 > 0, turn%4 < 2, turn%8 == 4
			proveUndisturbed(t, func() (string, bool) {
				return prove(t, file, &d, startClusterOfProof(t, kafka, apart, relayed))
			})
		})
	}
}
