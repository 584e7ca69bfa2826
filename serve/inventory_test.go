package serve

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// TestInventory: the configuration comes before the inventory, and that before the policy; a mistake is told with its
// line, and a reload takes a file that changed.
func TestInventory(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	inventory := file("inventory.yaml", "nodes:\n  1: {name: a, queue_unit: packets}\n  2: {name: b, queue_unit: packets}\n")
	policy := file("policy.yaml", "nodes: [{id: 1, name: x}, {id: 2, name: y}, {id: 3, name: z}]\n")
	text := "names: {1: leaf1}\nqueue_unit: {b: bytes}\ninventory: " + inventory + "\npolicy: " + policy + "\n"
	load := func() *Config {
		c, err := read(t, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		return &c
	}
	c := load()
	if got, want := c.NodeNames(), (map[uint32]string{1: "leaf1", 2: "b", 3: "z"}); !reflect.DeepEqual(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
	k, err := c.configured(c.inventory.Known())
	want := map[uint32]telemetry.QueueUnit{1: telemetry.QueueUnit(unitOf(t, "packets")), 2: unitOf(t, "bytes")}
	if err != nil || !reflect.DeepEqual(k.QueueUnits, want) || k.Inventory.Nodes[2].Name != "b" {
		t.Errorf("got %v %v, want %v", k, err, want)
	}
	file("inventory.yaml", "nodes:\n  2: {name: b, ports: {6: {name: Ethernet6}}}\nhosts: [{address: 10.0.0.1, name: h}]\n")
	next := load()
	if changed := strings.Join(c.compare(next).Changed, "; "); changed != "inventory: 1 nodes, 1 hosts" {
		t.Errorf("changed: %s", changed)
	}
	file("inventory.yaml", "nodes:\n  2: {nam: b}\n")
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), `inventory.yaml:2: nodes.2: unknown key "nam"`) {
		t.Errorf("got %v", err)
	}
}

func unitOf(t *testing.T, text string) (u telemetry.QueueUnit) {
	t.Helper()
	if err := u.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return u
}
