// Package wireshark holds the dissector that shows telemetry reports and INT in Wireshark, and finds where Wireshark
// looks for it.
//
// The dissector is a translation of the walk of wire/dissect, step by step, with the same names of fields and errors: a
// test compares both over vectors and captures, in every dialect. To add a header, a dialect or a quirk there, add it
// here too.
package wireshark

import (
	"bytes"
	_ "embed" // for Script
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// FileName is what the dissector is called in the folder of plugins.
const FileName = "waybill.lua"

// Script is the dissector, in Lua.
//
//go:embed waybill.lua
var Script []byte

// IsOurs reports whether a file is some version of the dissector: whether it begins as Script does.
func IsOurs(file []byte) bool {
	first, _, _ := bytes.Cut(Script, []byte(" of "))
	return bytes.HasPrefix(file, first)
}

// PluginFolder returns the folder that the user's Wireshark reads Lua plugins from: what the installed Wireshark says,
// or where it is by default.
func PluginFolder() (string, error) {
	for _, program := range []string{"tshark", "wireshark"} {
		out, err := exec.Command(program, "-G", "folders").Output()
		if err != nil {
			continue
		}
		if folder := personalFolder(string(out)); folder != "" {
			return folder, nil
		}
	}
	if runtime.GOOS == "windows" {
		config, err := os.UserConfigDir()
		return filepath.Join(config, "Wireshark", "plugins"), err
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "lib", "wireshark", "plugins"), err
}

// personalFolder finds the folder in what Wireshark prints.
func personalFolder(folders string) string {
	for line := range strings.Lines(folders) {
		if name, folder, ok := strings.Cut(line, ":"); ok && name == "Personal Lua Plugins" {
			return strings.TrimSpace(folder)
		}
	}
	return ""
}
