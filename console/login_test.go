package console_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogIn: who follows a link and has to log in first comes to what the link shows.
func TestLogIn(t *testing.T) {
	chromium := needBrowser(t)
	waybill, tokens := build(t), filepath.Join(t.TempDir(), "tokens")
	token, err := exec.CommandContext(t.Context(), waybill, "token", "create", "--tokens", tokens, "--name", "operator", "--role", "read").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CONSOLE_TOKEN", strings.TrimSpace(string(token)))
	drive(t, chromium, "login.mjs", below(t, serve(t, waybill, "--tokens", tokens)))
}
