package collect

import (
	"os"
	"path/filepath"
	"testing"
)

func TestGroupLimit(t *testing.T) {
	root := t.TempDir()
	write := func(group, limit string) {
		t.Helper()
		dir := filepath.Join(root, group)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "memory.max"), []byte(limit+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("system.slice", "max")
	write("system.slice/waybill.service", "1000")
	write("user.slice", "500")
	write("user.slice/waybill", "2000")
	for groups, want := range map[string]int{
		"0::/system.slice/waybill.service\n":         1000,
		"4:memory:/x\n0::/user.slice/waybill/deep\n": 500,
		"0::/system.slice\n":                         1 << 40,
		"0::/\n":                                     1 << 40,
		"4:memory:/user.slice\n":                     1 << 40,
		"":                                           1 << 40,
	} {
		if got := groupLimit(root, groups, 1<<40); got != want {
			t.Errorf("%q: got %d, want %d", groups, got, want)
		}
	}
	if got := memory(); got < 64<<20 {
		t.Errorf("this machine has %d bytes of memory", got)
	}
}
