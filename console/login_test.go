package console_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLogIn: who follows a link and has to log in first comes to what the link shows, and sees what they may not do.
func TestLogIn(t *testing.T) {
	chromium := needBrowser(t)
	waybill, tokens, rules := build(t), filepath.Join(t.TempDir(), "tokens"), filepath.Join(t.TempDir(), "alerts.yaml")
	if err := os.WriteFile(rules, []byte(alertRules), 0o600); err != nil {
		t.Fatal(err)
	}
	token, err := exec.CommandContext(t.Context(), waybill, "token", "create", "--tokens", tokens, "--name", "operator", "--role", "read").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CONSOLE_TOKEN", strings.TrimSpace(string(token)))
	drive(t, chromium, "login.mjs", below(t, serve(t, waybill, "--tokens", tokens, "--alerts", rules)))
}
