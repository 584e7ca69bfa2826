package main

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/chdb"
)

// Groups of a collector and of the second server with tables, which partitions cut off: the kernel's filter tells them
// by that.
const collectorGroup, tablesGroup = 54321, 54322

// A faultyCluster is three servers of NATS that keep all datagrams three times, two collectors, an analyzer and two
// servers that have its tables, ClickHouse, and a server that is asked.
type faultyCluster struct {
	clusterOfTest
	nats    *natsCluster
	places  [2]analyzerPlace
	at      int // the place of the analyzer that is elected
	tables  [2]*process
	tableOf [2]string // configuration of each
	servers []string  // addresses of those that have the tables
	store   *gate     // before ClickHouse
}

// An analyzerPlace is where an analyzer is.
type analyzerPlace struct {
	web    string
	file   string // with its configuration
	config string // without the servers that have its tables
}

func startFaultyCluster(t *testing.T) (c *faultyCluster) {
	t.Helper()
	c = &faultyCluster{clusterOfTest: clusterOfTest{t: t}, nats: startNATS(t)}
	for i := range c.tables {
		var server string
		server, c.tableOf[i] = tablesConfig(t, c.nats.urls...)
		c.startTables(i)
		c.servers = append(c.servers, server)
	}
	database, err := url.Parse(chdb.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	c.store = openGate(t, database.Host)
	store := fmt.Sprintf("store: {clickhouse: {url: \"http://%s\", database: %s}}\n", c.store.Addr(),
		strings.TrimPrefix(database.Path, "/"))
	for i := range c.places {
		p := &c.places[i]
		p.web, p.file = test.FreePort(t, "tcp"), filepath.Join(t.TempDir(), "waybill.yaml")
		p.config = fmt.Sprintf("role: analyze\nhttp: %s\ndata: %s\n"+
			"bus: {urls: [%s], replicas: 3, max_size: 16MiB, standby: true, name: a%d}\n%s",
			p.web, t.TempDir(), strings.Join(c.nats.urls, ", "), i, store)
	}
	c.startAnalyzer()
	c.query = startRoleAt(t, fmt.Sprintf("role: query\nanalyzer: {url: \"http://%s\", standby_urls: [\"http://%s\"]}\n%s",
		c.places[0].web, c.places[1].web, store))
	for _, network := range []string{"127.0.21", "127.0.22"} {
		c.add(network, c.nats.urls...)
	}
	for i, k := range c.collectors {
		if i == 1 {
			k.change = append(k.change, inGroup(collectorGroup))
		}
		k.start(t)
	}
	c.sendAll(200)
	c.check("at the beginning")
	return c
}

// startTables starts a server that has tables.
func (c *faultyCluster) startTables(i int) {
	group := []uint32{0, tablesGroup}[i]
	c.tables[i] = startRoleAt(c.t, c.tableOf[i], inGroup(group))
}

// configure writes the configuration of the analyzer, with the servers that have its tables.
func (c *faultyCluster) configure() {
	p := &c.places[c.at]
	text := p.config + "tables: {servers: [" + strings.Join(c.servers, ", ") + "]}\n"
	if err := os.WriteFile(p.file, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *faultyCluster) startAnalyzer() {
	c.configure()
	c.analyzer = startProcess(c.t, c.places[c.at].web, "/healthz", "serve --config "+c.places[c.at].file)
	c.awaitAnalyzer()
}

// replaceAnalyzer starts an analyzer that stands by, and kills the one that is elected, or lets it stand still for a
// while. That one stands by when it goes on.
func (c *faultyCluster) replaceAnalyzer(kill bool) {
	before := c.analyzer
	c.at = 1 - c.at
	c.configure()
	next := startProcess(c.t, c.places[c.at].web, "/healthz", "serve --config "+c.places[c.at].file)
	standing := func() bool {
		var cluster client.Cluster
		return c.analyzer.ask("/api/v1/cluster", &cluster) == nil && len(cluster.Standing) == 1
	}
	test.Eventually(c.t, "an analyzer that stands by", standing)
	c.sendAll(200)
	name := fmt.Sprint("kept over analyzer ", c.at)
	c.addView(name)
	if kill {
		before.kill()
	} else if err := before.Process.Signal(syscall.SIGSTOP); err != nil {
		c.t.Fatal(err)
	}
	c.sendAll(300)
	c.analyzer = next
	c.awaitAnalyzer()
	c.check("another analyzer is elected")
	var views struct{ Views []struct{ Name string } }
	if err := c.analyzer.ask("/api/v1/views", &views); err != nil || !slices.ContainsFunc(views.Views,
		func(v struct{ Name string }) bool { return v.Name == name }) {
		c.t.Errorf("the view that was saved before is not there: %v %v", views, err)
	}
	if kill {
		return
	}
	if err := before.Process.Signal(syscall.SIGCONT); err != nil {
		c.t.Fatal(err)
	}
	c.sendAll(200)
	test.Eventually(c.t, "the analyzer of before standing by", standing)
	c.check("the analyzer of before stands by")
	before.terminate(c.t)
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
	c.startTables(i)
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

// killAnalyzer kills the analyzer while reports come, and starts it again.
func (c *faultyCluster) killAnalyzer() {
	c.analyzer.kill()
	c.sendAll(300)
	c.startAnalyzer()
}

// addView saves a view, and waits until the next analyzer has it.
func (c *faultyCluster) addView(name string) {
	c.t.Helper()
	text := fmt.Sprintf(`{"name":%q,"address":"explore"}`, name)
	answer, err := http.Post("http://"+c.analyzer.http+"/api/v1/views", "application/json", strings.NewReader(text))
	if err != nil {
		c.t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusCreated {
		c.t.Fatal(answer.Status)
	}
	written := func() (at float64) {
		for line := range strings.Lines(c.analyzer.text("/metrics")) {
			_, _ = fmt.Sscanf(line, "waybill_checkpoint_timestamp_seconds %g", &at)
		}
		return at
	}
	for range 2 { // what is written behind the view, and that it is saved
		before := written()
		test.Eventually(c.t, "another checkpoint", func() bool { return written() > before })
	}
}

// moveTables gives the tables to one server more, and then takes them from it again, by reading the configuration. That
// one has no bus, so that datagrams are relayed to all of them meanwhile.
func (c *faultyCluster) moveTables() {
	server, config := tablesConfig(c.t)
	third := startRoleAt(c.t, config)
	two := c.servers
	three := append(slices.Clone(two), server)
	for _, servers := range [][]string{three, two} {
		c.servers = servers
		c.configure()
		if err := c.analyzer.Process.Signal(syscall.SIGHUP); err != nil {
			c.t.Fatal(err)
		}
		c.sendAll(300)
		test.Eventually(c.t, fmt.Sprint(len(c.servers), " servers with tables"), func() bool {
			var cluster client.Cluster
			return c.analyzer.ask("/api/v1/cluster", &cluster) == nil && len(cluster.Tables) == len(c.servers) &&
				(len(cluster.Tables[0].Partitions) > 0) == (len(c.servers) == 2)
		})
		c.check("tables were moved")
	}
	third.terminate(c.t)
}

// disturbStore lets the store do something for a while, during which reports come.
func (c *faultyCluster) disturbStore(how gateState, during time.Duration) {
	c.store.set(how)
	for end := time.Now().Add(during); time.Now().Before(end); {
		c.sendAll(50)
	}
	c.check("the store is disturbed")
	c.store.set(gateOpen)
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
	here, there := c.collectors[0], c.collectors[1]
	defer c.cutOff(collectorGroup)()
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

// partitionTables lets a server that has tables take nothing from the bus, for more than it takes to send some.
func (c *faultyCluster) partitionTables(more time.Duration) {
	defer c.cutOff(tablesGroup)()
	c.sendAll(1000)
	time.Sleep(more)
}

// cutOff lets nothing of the processes of a group come to the bus, until mend is called.
func (c *faultyCluster) cutOff(group uint32) (mend func()) {
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
	// A connection that a process has given up belongs to no group, and the kernel still sends what it had of it: its
	// port is noted while it has one.
	nft(fmt.Sprintf(`table inet %s {
	set cut { type inet_service; flags dynamic; size 65535; }
	chain out {
		type filter hook output priority 0
		meta skgid %d tcp dport { %s } add @cut { tcp sport } drop
		tcp sport @cut drop
	}
}
`, table, group, strings.Join(ports, ", ")))
	return func() { nft("delete table inet " + table + "\n") }
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
	c.startAnalyzer()
	c.sendAll(200)
}

// upgrade starts one part after the other anew, as docs/how-to/upgrade-a-cluster.md says.
func (c *faultyCluster) upgrade() {
	c.analyzer.terminate(c.t)
	c.sendAll(200)
	for i, tables := range c.tables {
		tables.terminate(c.t)
		c.startTables(i)
	}
	c.startAnalyzer()
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
	turns, cut, away := 1, time.Duration(0), 2*time.Second
	if all {
		seed, turns, away = uint64(time.Now().UnixNano()), 20, 30*time.Second
		cut = 20 * time.Second // a connection that answers nothing for 15 is given up
	}
	t.Logf("seed %d", seed)
	g := mathrand.New(mathrand.NewPCG(seed, 0))
	c := startFaultyCluster(t)
	arrived := uint64(0)
	type fault struct {
		name string
		do   func()
	}
	var long []fault
	if all {
		long = append(long, fault{"tables stood still", func() { c.stopTables(g.IntN(2)) }})
	}
	for turn := range turns {
		for i, fault := range append([]fault{
			{"a server was killed", func() { c.killServer(g.IntN(3)) }},
			{"tables were killed", func() { c.killTables(g.IntN(2)) }},
			{"tables were moved", c.moveTables},
			{"the analyzer was killed", c.killAnalyzer},
			{"another analyzer followed", func() { c.replaceAnalyzer(g.IntN(2) == 0) }},
			{"the store was away", func() { c.disturbStore(gateShut, away) }},
			{"the store was slow", func() { c.disturbStore(gateSlow, away) }},
			{"a collector was killed", func() {
				c.collectors[0].killAndStart(t)
				c.sendAll(200)
			}},
			{"a collector was cut off", func() { c.partition(cut) }},
			{"tables were cut off", func() { c.partitionTables(cut) }},
			{"the stream was full", c.fill},
			{"all of it was upgraded", c.upgrade},
		}, long...) {
			if !all && (uint64(i)+seed)%2 > 0 { // of two commits each has half of them
				continue
			}
			start := time.Now()
			c.sendAll(200)
			fault.do()
			c.sendAll(100)
			arrived = c.check(fault.name)
			t.Logf("%d: %s: %v", turn+1, fault.name, time.Since(start).Round(time.Millisecond))
		}
	}
	c.checkStored(arrived)
}

// checkStored stops the analyzer, and asks the server with role query for what is stored. What waits for further
// reports is written by an analyzer that is started again.
func (c *faultyCluster) checkStored(packets uint64) {
	c.t.Helper()
	ask := "/api/v1/query?sql=" + url.QueryEscape("SELECT sum(packets), sum(reports) FROM flows_10s")
	for pause := time.Second; ; pause += time.Second {
		c.analyzer.terminate(c.t)
		var stored struct{ Rows [][]uint64 }
		if err := c.query.ask(ask, &stored); err != nil {
			c.t.Fatal(err)
		}
		if got := stored.Rows[0]; got[0] >= packets || pause > 10*time.Second {
			if got[0] != packets || got[1] != packets {
				c.t.Errorf("the store has %d packets by %d reports, want %d", got[0], got[1], packets)
			}
			return
		}
		c.startAnalyzer()
		time.Sleep(pause)
	}
}

// A gate passes on connections to a server, or not.
type gate struct {
	net.Listener
	to    string
	mu    sync.Mutex
	state gateState
	open  map[net.Conn]bool
}

// A gateState is what a gate does.
type gateState int

const (
	gateOpen gateState = iota
	gateShut           // what is connected is cut off, and nobody gets in
	gateSlow           // whatever is passed on takes a while
)

func openGate(t *testing.T, to string) *gate {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	g := &gate{Listener: listener, to: to, open: map[net.Conn]bool{}}
	go g.run()
	return g
}

func (g *gate) set(state gateState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.state = state
	if state == gateShut {
		for conn := range g.open {
			conn.Close()
		}
	}
}

// enter notes a connection, unless the gate is shut.
func (g *gate) enter(conn net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == gateShut {
		conn.Close()
		return false
	}
	g.open[conn] = true
	return true
}

func (g *gate) run() {
	for {
		from, err := g.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", g.to)
		if err != nil || !g.enter(from) || !g.enter(to) {
			from.Close()
			continue
		}
		go g.pass(from, to)
		go g.pass(to, from)
	}
}

func (g *gate) pass(from, to net.Conn) {
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, conn := range []net.Conn{from, to} {
			conn.Close()
			delete(g.open, conn)
		}
	}()
	piece := make([]byte, 4096)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			g.mu.Lock()
			slow := g.state == gateSlow
			g.mu.Unlock()
			if slow {
				time.Sleep(100 * time.Millisecond)
			}
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// inGroup has a process run in a group.
func inGroup(group uint32) func(*exec.Cmd) {
	return func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Gid: group}}
	}
}
