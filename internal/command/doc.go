// Package command has what the commands of a program share: exit codes, usage errors, and an output that may be a
// terminal.
package command
