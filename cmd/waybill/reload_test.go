package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// A server takes another configuration while it runs, on SIGHUP and by the command; a wrong one changes nothing, and
// what needs a restart is named.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	config, policy := filepath.Join(dir, "waybill.yaml"), filepath.Join(dir, "policy.yaml")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := "names: {1: s1}\nint_udp_port: 17768\npolicy: " + policy + "\n"
	write(policy, "nodes: [{id: 1}, {id: 2}, {id: 3}]\n")
	write(config, first)
	udp, web := test.FreePort(t, "udp"), test.FreePort(t, "tcp")
	p := startServe(t, udp, web, filepath.Join(dir, "data"), "--config", config)
	to, err := net.ResolveUDPAddr("udp", udp)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sender := &switchOfTest{PacketConn: c, to: to}
	names := func() string {
		t.Helper()
		var list struct{ Nodes []telemetry.Node }
		if err := p.ask("/api/v1/nodes", &list); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, n := range list.Nodes {
			all = append(all, n.Name)
		}
		return strings.Join(all, ",")
	}
	unexpected := func() int {
		var list struct{ Events []telemetry.Event }
		if err := p.ask("/api/v1/events?filter=kind+%3D+unexpected_node+and+node+%3D+2", &list); err != nil {
			t.Fatal(err)
		}
		return len(list.Events)
	}
	refused := func() uint64 {
		var list struct{ Listeners []struct{ Refused uint64 } }
		if err := p.ask("/api/v1/listeners", &list); err != nil {
			t.Fatal(err)
		}
		return list.Listeners[0].Refused + list.Listeners[1].Refused
	}
	reload := func(want string, code int) {
		t.Helper()
		out, errs, got := runWaybill(t, "reload", "--server", "http://"+web)
		if text := out + errs; got != code || !strings.Contains(text, want) {
			t.Errorf("exit %d, want %d and %q:\n%s", got, code, want, text)
		}
	}
	sender.send(10)
	test.Eventually(t, "the first reports", func() bool { return names() == "s1,," })

	reload("nothing changed", 0)
	for wrong, want := range map[string]string{
		"names: {1: s9}\nexporters: [{sauce: 10.0.0.0/8}]\n":   config + ":2: ",
		"names: {1: s9}\nsampling:\n  nobody: 10\n":            config + ":3: sampling",
		"names: {1: s9}\nexporters:\n  - {source: everyone}\n": config + ":3: exporters",
		"names: {1: s9}\npolicy: " + dir + "/none\n":           "none: no such file",
		"names: {1: s9}\nint_dscp: 64\n":                       config + ":2: int_dscp",
	} {
		write(config, wrong)
		reload(want, 1)
		if got := names(); got != "s1,," {
			t.Errorf("after %q names are %q", wrong, got)
		}
	}

	write(policy, "nodes: [{id: 1}, {id: 3}]\n")
	write(config, first+"queue_unit: {1: packets}\nmemory: 1GiB\nstore: {min_free: 1MiB}\n")
	reload("policy: 2 nodes, 0 rules\nneeds a restart: memory, store.min_free", 0)
	test.Eventually(t, "the new policy", func() bool {
		sender.send(10)
		return unexpected() == 1
	})

	inventory := filepath.Join(dir, "inventory.yaml")
	write(inventory, "nodes: {2: {name: of the inventory}, 3: {name: leaf3}}\n")
	write(config, "names: {1: leaf1, 2: s2}\ninventory: "+inventory+"\nexporters: [{source: 127.0.0.1, nodes: [1]}]\nint_udp_port: 17768\nint_dscp: 23\n")
	if err := p.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	test.Eventually(t, "the new names", func() bool { return names() == "leaf1,s2,leaf3" })
	test.Eventually(t, "the new list of exporters", func() bool {
		sender.send(10) // as node 3
		return refused() > 0
	})
	var flows struct{ Total int }
	if err := p.ask("/api/v1/hops?filter=node+%3D+leaf1", &flows); err != nil {
		t.Errorf("a filter with the new name: %v", err)
	}
	_ = p.Process.Signal(syscall.SIGTERM)
	_ = p.Wait()
	for _, want := range []string{
		`"msg":"the configuration was not reloaded; everything stays as it was"`, `"by":"SIGHUP"`,
		"names: 1 added, 1 changed; exporters: 1, were 0; queue_unit: 1 removed; policy: none; inventory: 2 nodes, 0 hosts; int_dscp: 23; int_dscp_mask: 63",
	} {
		if !strings.Contains(p.log.String(), want) {
			t.Errorf("the log lacks %s", want)
		}
	}
}
