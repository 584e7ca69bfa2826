// Sbom writes what a program consists of, as CycloneDX 1.5: the Go modules that are linked into it, as the program
// itself says, and the npm packages that the console is made with, as its lock file says. The same program gives the
// same bytes.
//
//	go run ./packaging/sbom VERSION PROGRAM package-lock.json
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Scope   string `json:"scope,omitempty"`
	PURL    string `json:"purl"`
}

type bom struct {
	Format      string `json:"bomFormat"`
	SpecVersion string `json:"specVersion"`
	Version     int    `json:"version"`
	Metadata    struct {
		Component component `json:"component"`
	} `json:"metadata"`
	Components []component `json:"components"`
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom VERSION PROGRAM package-lock.json")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func write(version, program, lockFile string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	b := bom{Format: "CycloneDX", SpecVersion: "1.5", Version: 1, Components: []component{}}
	b.Metadata.Component = of("application", "golang", info.Main.Path, version)
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Components = append(b.Components, of("library", "golang", m.Path, m.Version))
	}
	b.Components = append(b.Components, of("library", "golang", "std", strings.TrimPrefix(info.GoVersion, "go")))
	text, err := os.ReadFile(lockFile)
	if err != nil {
		return err
	}
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return fmt.Errorf("%s: %w", lockFile, err)
	}
	for path, p := range lock.Packages {
		if i := strings.LastIndex(path, "node_modules/"); i >= 0 {
			made := of("library", "npm", path[i+len("node_modules/"):], p.Version)
			made.Scope = "optional" // the lock file does not say what the bundler takes of it
			b.Components = append(b.Components, made)
		}
	}
	slices.SortFunc(b.Components, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	b.Components = slices.CompactFunc(b.Components, func(a, b component) bool { return a.Ref == b.Ref })
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(b)
}

func of(kind, from, name, version string) component {
	purl := "pkg:" + from + "/" + strings.ReplaceAll(name, "@", "%40") + "@" + version
	return component{Type: kind, Ref: purl, Name: name, Version: version, PURL: purl}
}
