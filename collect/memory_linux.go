package collect

import (
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// memory returns how many bytes of memory this process may use: those of the machine or, if that is less, of a control
// group that it is in.
func memory() int {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	all := int(info.Totalram) * int(info.Unit)
	groups, _ := os.ReadFile("/proc/self/cgroup")
	return groupLimit("/sys/fs/cgroup", string(groups), all)
}

// groupLimit returns the lowest memory limit, in bytes, of the control group (version 2) that the text of
// /proc/self/cgroup names and of those around it, below root; all if none is lower.
func groupLimit(root, groups string, all int) int {
	for line := range strings.Lines(groups) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/")
		if !ok {
			continue // of version 1, which does not count what waits in sockets
		}
		for {
			text, _ := os.ReadFile(path.Join(root, group, "memory.max"))
			if limit, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil { // else "max", or no such file
				all = min(all, limit)
			}
			if group == "" || group == "." {
				break
			}
			group = path.Dir(group)
		}
	}
	return all
}
