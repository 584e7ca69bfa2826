//go:build linux

package bpf

//go:generate src/generate .
