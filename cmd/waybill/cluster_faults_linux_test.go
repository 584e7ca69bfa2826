package main

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
)

// partitionedGroup is the group of the collector that a partition cuts off: the kernel's filter tells it by that.
const partitionedGroup = 54321

// A faultyCluster is three servers of NATS that keep all datagrams three times, two collectors, an analyzer and two
// servers that have its tables.
type faultyCluster struct {
	clusterOfTest
	nats        *natsCluster
	web, config string // of the analyzer
	tables      [2]*process
	tableOf     [2]string // configuration of each
}

func startFaultyCluster(t *testing.T) (c *faultyCluster, data string) {
	t.Helper()
	c = &faultyCluster{clusterOfTest: clusterOfTest{t: t}, nats: startNATS(t), web: test.FreePort(t, "tcp")}
	data = t.TempDir()
	var servers [2]string
	for i := range servers {
		servers[i], c.tableOf[i] = tablesConfig(t)
		c.tables[i] = startRoleAt(t, c.tableOf[i])
	}
	c.config = fmt.Sprintf("role: analyze\nhttp: %s\ndata: %s\nbus: {urls: [%s], replicas: 3, max_size: 16MiB}\n"+
		"tables: {servers: [%s]}\n", c.web, data, strings.Join(c.nats.urls, ", "), strings.Join(servers[:], ", "))
	c.analyzer = startRole(t, c.web, c.config)
	for _, network := range []string{"127.0.21", "127.0.22"} {
		c.add(network, c.nats.urls...)
	}
	for i, k := range c.collectors {
		if i == 1 {
			k.change = append(k.change, inGroup)
		}
		k.start(t)
	}
	c.sendAll(200)
	c.check("at the beginning")
	return c, data
}

// arrived returns how many reports of a collector's first switch the analyzer knows of.
func (c *faultyCluster) arrived(k *collectorOfTest) (n uint64) {
	var l struct {
		Loss []struct {
			Source   string
			Received uint64
		}
	}
	if err := c.analyzer.ask("/api/v1/loss", &l); err != nil {
		c.t.Fatal(err)
	}
	for _, x := range l.Loss {
		if x.Source == k.network+".1" {
			n += x.Received
		}
	}
	return n
}

// killServer kills a server of NATS, leader or not, and starts it again after two others have carried reports.
func (c *faultyCluster) killServer(i int) {
	c.nats.kill(i)
	c.sendAll(500)
	c.check("a server of the bus is gone")
	c.nats.start(i)
	c.sendAll(200)
}

// killTables kills a server that has tables, while reports come. The analyzer begins anew when it is back.
func (c *faultyCluster) killTables(i int) {
	c.tables[i].kill()
	c.sendAll(300)
	c.tables[i] = startRoleAt(c.t, c.tableOf[i])
	c.sendAll(200)
	c.awaitAnalyzer()
}

// stopTables lets a server that has tables stand still for so long that the analyzer takes it for gone.
func (c *faultyCluster) stopTables(i int) {
	_ = c.tables[i].Process.Signal(syscall.SIGSTOP)
	c.sendAll(300)
	time.Sleep(25 * time.Second)
	_ = c.tables[i].Process.Signal(syscall.SIGCONT)
	c.sendAll(200)
	c.awaitAnalyzer()
}

// awaitAnalyzer waits until the analyzer answers.
func (c *faultyCluster) awaitAnalyzer() {
	c.t.Helper()
	test.Eventually(c.t, "an analyzer that answers", func() bool {
		var l struct{}
		return c.analyzer.ask("/api/v1/loss", &l) == nil
	})
}

// partition lets nothing of a collector come to the bus, for more than it takes to send some.
func (c *faultyCluster) partition(more time.Duration) {
	var ports []string
	for _, o := range c.nats.options {
		_, port, _ := net.SplitHostPort(o.Client)
		ports = append(ports, port)
	}
	table := fmt.Sprint("waybill_test_", os.Getpid())
	nft := func(text string) {
		c.t.Helper()
		command := exec.Command("nft", "-f", "-")
		command.Stdin = strings.NewReader(text)
		if out, err := command.CombinedOutput(); err != nil {
			c.t.Fatalf("nft: %v\n%s", err, out)
		}
	}
	// A connection that the collector has given up belongs to no group, and the kernel still sends what it had of it:
	// its port is noted while it has one.
	nft(fmt.Sprintf(`table inet %s {
	set cut { type inet_service; flags dynamic; size 65535; }
	chain out {
		type filter hook output priority 0
		meta skgid %d tcp dport { %s } add @cut { tcp sport } drop
		tcp sport @cut drop
	}
}
`, table, partitionedGroup, strings.Join(ports, ", ")))
	mend := "delete table inet " + table + "\n"
	defer func() { nft(mend) }()
	here, there := c.collectors[0], c.collectors[1]
	before := uint64(there.switches[0].next) - c.lost(there) // some may still be on their way
	c.sendAll(1000)
	time.Sleep(more)
	test.Eventually(c.t, "reports of the collector that is not cut off", func() bool {
		return c.arrived(here) == uint64(here.switches[0].next)-c.lost(here)
	})
	if n := c.arrived(there); n > before {
		c.t.Errorf("%d reports came through the partition", n-before)
	}
}

// lost returns how many reports of a collector's first switch the ledger has as lost.
func (c *faultyCluster) lost(k *collectorOfTest) uint64 {
	var l struct {
		Loss []struct {
			Source string
			Lost   *uint64
		}
	}
	if err := c.analyzer.ask("/api/v1/loss", &l); err != nil {
		c.t.Fatal(err)
	}
	for _, x := range l.Loss {
		if x.Source == k.network+".1" && x.Lost != nil {
			return *x.Lost
		}
	}
	return 0
}

// fill fills the stream while nobody takes from it, with datagrams that are no reports: what comes then stays in the
// spools.
func (c *faultyCluster) fill() {
	c.analyzer.kill()
	junk := make([]byte, 1400)
	filling := []net.Conn{}
	for _, k := range c.collectors {
		conn, err := net.Dial("udp", k.udp)
		if err != nil {
			c.t.Fatal(err)
		}
		defer conn.Close()
		filling = append(filling, conn)
	}
	failed := func(k *collectorOfTest) bool {
		for line := range strings.Lines(k.text("/metrics")) {
			n := 0.0
			if fmt.Sscanf(line, "waybill_collect_spool_bytes %g", &n); n > 1<<20 {
				return c.nats.streamBytes() > 15<<20
			}
		}
		return false
	}
	test.Eventually(c.t, "a full stream", func() bool {
		for range 1000 {
			rand.Read(junk)
			junk[0] = 0xff // of no version
			for _, conn := range filling {
				conn.Write(junk)
			}
			time.Sleep(100 * time.Microsecond)
		}
		return failed(c.collectors[0]) && failed(c.collectors[1])
	})
	c.sendAll(300)
	c.analyzer = startRole(c.t, c.web, c.config)
	c.sendAll(200)
}

// upgrade starts one part after the other anew, as docs/how-to/upgrade-a-cluster.md says.
func (c *faultyCluster) upgrade() {
	c.analyzer.terminate(c.t)
	c.sendAll(200)
	for i, tables := range c.tables {
		tables.terminate(c.t)
		c.tables[i] = startRoleAt(c.t, c.tableOf[i])
	}
	c.analyzer = startRole(c.t, c.web, c.config)
	c.check("the analyzer was upgraded")
	for _, k := range c.collectors {
		k.terminate(c.t)
		k.kills++ // for what is sent meanwhile
		c.sendAll(50)
		k.start(c.t)
		c.sendAll(50)
		c.check("a collector was upgraded")
	}
	for i := range c.nats.processes {
		c.nats.kill(i)
		c.nats.start(i)
		c.sendAll(50)
		test.Eventually(c.t, "all servers having all messages", c.nats.whole)
	}
}

// TestClusterFaults: whatever of a cluster is killed, cut off or full, once it works again its answers are what was
// sent, and the ledger names what a collector had in its memory when it was killed; the store has the same, once.
func TestClusterFaults(t *testing.T) {
	seed, all := test.Seed(t)
	turns, cut := 1, time.Duration(0)
	if all {
		seed, turns = uint64(time.Now().UnixNano()), 20
		cut = 20 * time.Second // a connection that answers nothing for 15 is given up
	}
	t.Logf("seed %d", seed)
	g := mathrand.New(mathrand.NewPCG(seed, 0))
	c, data := startFaultyCluster(t)
	arrived := uint64(0)
	type fault struct {
		name string
		do   func()
	}
	var long []fault
	if all {
		long = append(long, fault{"tables stood still", func() { c.stopTables(g.IntN(2)) }})
	}
	for range turns {
		for _, fault := range append([]fault{
			{"a server was killed", func() { c.killServer(g.IntN(3)) }},
			{"tables were killed", func() { c.killTables(g.IntN(2)) }},
			{"a collector was killed", func() {
				c.collectors[0].killAndStart(t)
				c.sendAll(200)
			}},
			{"a collector was cut off", func() { c.partition(cut) }},
			{"the stream was full", c.fill},
			{"all of it was upgraded", c.upgrade},
		}, long...) {
			start := time.Now()
			c.sendAll(200)
			fault.do()
			c.sendAll(100)
			arrived = c.check(fault.name)
			t.Logf("%s: %v", fault.name, time.Since(start).Round(time.Millisecond))
		}
	}
	c.analyzer.terminate(t)
	statement := "SELECT 'all', sum(packets), sum(reports) FROM flows_10s"
	kept := openLast(t, data, arrived, func() *process { return startRole(t, c.web, c.config) })
	equalSums(t, statement, map[string]string{"all": fmt.Sprint(arrived, arrived)}, sums(t, kept, statement))
}

// inGroup has a process run in the group that is cut off.
func inGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Gid: partitionedGroup}}
}
