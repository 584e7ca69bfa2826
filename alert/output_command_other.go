//go:build !unix

package alert

import "os/exec"

// killGroup has no groups to kill here: only the command itself is.
func killGroup(*exec.Cmd) {}
