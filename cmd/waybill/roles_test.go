package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// startRole starts waybill serve in a process of its own, with a configuration of the file's text.
func startRole(t *testing.T, http, config string, change ...func(*exec.Cmd)) *process {
	t.Helper()
	file := filepath.Join(t.TempDir(), "waybill.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return startProcess(t, http, "/healthz", "serve --config "+file, change...)
}

// tablesConfig returns the configuration of a server that has tables, two of them, for an analyzer, and where. It takes
// messages from servers of a bus, if there are any.
func tablesConfig(t *testing.T, bus ...string) (address, config string) {
	t.Helper()
	address = test.FreePort(t, "tcp")
	return address, fmt.Sprintf("role: tables\nworkers: 2\nmemory: 128MiB\ntables: {listen: %s}\nbus: {urls: [%s]}\n",
		address, strings.Join(bus, ", "))
}

// startRoleAt is startRole for what answers about itself only, wherever that is.
func startRoleAt(t *testing.T, config string, change ...func(*exec.Cmd)) *process {
	t.Helper()
	web := test.FreePort(t, "tcp")
	return startRole(t, web, config+"http: "+web+"\n", change...)
}

func (p *process) kill() {
	p.Process.Kill()
	p.Wait()
}

// A collectorOfTest is a collector with the switches that send to it, from addresses of a network of their own.
type collectorOfTest struct {
	udp, http, config string
	network           string
	*process
	change   []func(*exec.Cmd)
	kills    int
	switches []*switchOfTest
}

func (c *collectorOfTest) start(t *testing.T) {
	t.Helper()
	c.process = startRole(t, c.http, c.config, c.change...)
}

// killAndStart kills a collector, and starts the next one.
func (c *collectorOfTest) killAndStart(t *testing.T) {
	t.Helper()
	c.kill()
	c.kills++
	c.start(t)
}

// sent returns how many datagrams its switches have sent.
func (c *collectorOfTest) sent() (n uint64) {
	for _, s := range c.switches {
		n += uint64(s.next)
	}
	return n
}

// A clusterOfTest is an analyzer with collectors.
type clusterOfTest struct {
	t          *testing.T
	collectors []*collectorOfTest
	analyzer   *process
	query      *process // that is asked for the ledger; nil: the analyzer is
}

// add adds a collector, which does not run yet, with three switches.
func (c *clusterOfTest) add(network string, urls ...string) {
	k := &collectorOfTest{udp: test.FreePort(c.t, "udp"), http: test.FreePort(c.t, "tcp"), network: network}
	k.config = fmt.Sprintf("role: collect\nhttp: %s\nlisten: [%q]\ndata: %s\nbus: {urls: [%s], name: c%d}\n",
		k.http, "udp://"+k.udp, c.t.TempDir(), strings.Join(urls, ", "), len(c.collectors))
	to, err := net.ResolveUDPAddr("udp", k.udp)
	if err != nil {
		c.t.Fatal(err)
	}
	for j := range 3 {
		conn, err := net.ListenPacket("udp", fmt.Sprintf("%s.%d:0", network, j+1))
		if err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(func() { conn.Close() })
		k.switches = append(k.switches, &switchOfTest{PacketConn: conn, to: to, flow: uint32(3*len(c.collectors) + j)})
	}
	c.collectors = append(c.collectors, k)
}

// sendAll lets each switch send n reports.
func (c *clusterOfTest) sendAll(n int) {
	for range n {
		for _, k := range c.collectors {
			for _, s := range k.switches {
				s.send(1)
			}
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// settled waits until the ledger has the newest report of each switch, and returns what it says.
func (c *clusterOfTest) settled() map[string]telemetry.Loss {
	bySource := map[string]telemetry.Loss{}
	asked := c.analyzer
	if c.query != nil {
		asked = c.query
	}
	test.Eventually(c.t, "receiving everything", func() bool {
		var l struct{ Loss []telemetry.Loss }
		if asked.ask("/api/v1/loss", &l) != nil {
			return false
		}
		all := map[string]telemetry.Loss{}
		for _, x := range l.Loss {
			all[x.Source.String()] = x
		}
		clear(bySource)
		for _, k := range c.collectors {
			for j, s := range k.switches {
				source := fmt.Sprintf("%s.%d", k.network, j+1)
				x, has := all[source]
				if !has || x.Sent == nil || *x.Sent != uint64(s.next) {
					return false
				}
				bySource[source] = x
			}
		}
		return true
	})
	return bySource
}

// check checks that each report was received once, or, if it was sent to a collector that was killed, that the ledger
// has it as lost. It returns how many were received.
func (c *clusterOfTest) check(what string) (received uint64) {
	c.t.Helper()
	settled := c.settled()
	for _, k := range c.collectors {
		for j, s := range k.switches {
			x := settled[fmt.Sprintf("%s.%d", k.network, j+1)]
			received += x.Received
			if *x.Arrived+*x.Lost != uint64(s.next) || x.Received != *x.Arrived || *x.Duplicate != 0 ||
				x.Restarted != 0 || *x.Lost > uint64(1500*k.kills) {
				c.t.Errorf("%s: %v: sent %d, arrived %d, lost %d, received %d, duplicates %d", what, x.Source, s.next,
					*x.Arrived, *x.Lost, x.Received, *x.Duplicate)
			}
		}
	}
	return received
}

// Two collectors, a bus and an analyzer: what was sent is received, each report once, while the analyzer and with it
// the bus are killed, and the ledger names what a killed collector had in its memory.
func TestRoles(t *testing.T) {
	bus, web := test.FreePort(t, "tcp"), test.FreePort(t, "tcp")
	analyze := fmt.Sprintf("role: analyze\nworkers: 2\nhttp: %s\ndata: %s\nbus: {embedded: %q}\n", web,
		t.TempDir(), bus)
	all := clusterOfTest{t: t}
	for _, network := range []string{"127.0.8", "127.0.9"} {
		all.add(network, "nats://"+bus)
	}
	collectors := all.collectors

	for _, c := range collectors { // before there is a bus
		c.start(t)
	}
	all.sendAll(500)
	all.analyzer = startRole(t, web, analyze)
	all.sendAll(500)
	all.check("collectors came first")

	var cluster client.Cluster
	test.Eventually(t, "everything is confirmed", func() bool {
		if err := all.analyzer.ask("/api/v1/cluster", &cluster); err != nil {
			t.Fatal(err)
		}
		for i, c := range cluster.Collectors {
			if c.Delivered != collectors[i].sent() || c.Received != c.Delivered {
				return false
			}
			for _, p := range c.Partitions { // partition 0 also has messages that say that nothing comes
				if p.Partition > 0 && p.Unconfirmed > 0 {
					return false
				}
			}
		}
		return len(cluster.Collectors) == len(collectors)
	})
	if cluster.Role != "analyze" || cluster.Bus == nil || !cluster.Bus.Connected {
		t.Errorf("the state of the cluster is %+v", cluster)
	}
	for i, c := range cluster.Collectors {
		got, sent := [2]uint64{}, collectors[i].sent()
		for _, p := range c.Partitions {
			got[0] += p.Delivered
			got[1] += p.Lost
		}
		if c.Name != fmt.Sprintf("c%d", i) || c.State != "alive" || c.Received != sent || c.Delivered != sent ||
			c.Lost != 0 || got != [2]uint64{sent, 0} {
			t.Errorf("collector %d was sent %d datagrams: %+v", i, sent, c)
		}
	}

	_, config := tablesConfig(t)
	for what, p := range map[string]*process{
		"a collector": collectors[0].process, "tables": startRoleAt(t, config),
		"query": startRoleAt(t, "role: query\nanalyzer: {url: \"http://"+web+"\"}\n"),
	} {
		if err := p.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		if err := p.ask("/healthz", nil); err != nil {
			t.Errorf("%s that was told to read its configuration again: %v", what, err)
		}
	}

	all.sendAll(700)
	all.analyzer.kill() // and the bus
	all.sendAll(700)
	all.analyzer = startRole(t, web, analyze)
	all.sendAll(100)
	all.check("the analyzer was killed")
	var frame struct{ Gaps []telemetry.LossGap }
	if err := all.analyzer.ask("/api/v1/loss", &frame); err != nil || len(frame.Gaps) > 0 {
		t.Errorf("collectors were there all the time, and the ledger has gaps: %+v %v", frame.Gaps, err)
	}

	all.sendAll(200)
	collectors[0].killAndStart(t)
	all.sendAll(200)
	all.check("a collector was killed")

	collectors[1].Process.Signal(os.Interrupt)
	if err := collectors[1].Wait(); err != nil {
		t.Errorf("a collector that was told to stop: %v\n%s", err, collectors[1].log.String())
	}
	all.analyzer.Process.Signal(os.Interrupt)
	if err := all.analyzer.Wait(); err != nil {
		t.Errorf("an analyzer that was told to stop: %v", err)
	}
}
