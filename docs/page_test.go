package docs_test

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/docs"
)

var (
	linkOf  = regexp.MustCompile(`<a href="([^"]*)"`)
	imageOf = regexp.MustCompile(`<img src="docs/([^"]*)"`)
	// What a page with a strict content security policy would not get.
	forbidden = regexp.MustCompile(`<script|<style|\sstyle=|\son[a-z]+=|javascript:`)
)

// Every page can be shown: links lead to pages and headings that there are, pictures are there, and nothing is inline.
func TestPages(t *testing.T) {
	pages, err := docs.All()
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]bool{}
	for _, p := range pages {
		places["#/docs?page="+p.Path] = true
		for _, s := range p.Sections {
			places["#/docs?page="+p.Path+"&amp;at="+s.Anchor] = true
		}
	}
	if pages[0].Path != docs.Home {
		t.Errorf("the first page is %s", pages[0].Path)
	}
	links, images := 0, 0
	for _, p := range pages {
		if p.Title == "" || len(p.Sections) == 0 {
			t.Errorf("%s has no heading", p.Path)
		}
		for _, m := range linkOf.FindAllStringSubmatch(p.HTML, -1) {
			if links++; !strings.Contains(m[1], "://") && !places[m[1]] {
				t.Errorf("%s: nothing is at %s", p.Path, m[1])
			}
		}
		for _, m := range imageOf.FindAllStringSubmatch(p.HTML, -1) {
			images++
			if _, err := fs.Stat(docs.Files(), m[1]); err != nil {
				t.Errorf("%s: %v", p.Path, err)
			}
		}
		if bad := forbidden.FindString(p.HTML); bad != "" {
			t.Errorf("%s has %s", p.Path, bad)
		}
	}
	if links < 100 || images == 0 {
		t.Errorf("%d links, %d images", links, images)
	}
	// Each Markdown file is a page.
	count := 0
	fs.WalkDir(docs.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(name, ".md") {
			count++
		}
		return err
	})
	if count != len(pages) {
		t.Errorf("%d files, %d pages", count, len(pages))
	}
}

func TestSearch(t *testing.T) {
	for words, want := range map[string]string{
		"acl_deny":             "reference/drop-reasons",
		"receive buffer":       "how-to/size-a-collector",
		"Microburst":           "reference/events microburst",
		"telemetry report 2.0": "formats/telemetry-report-2.0",
	} {
		hits, err := docs.Search(words, 10)
		found := []string{}
		for _, h := range hits {
			place := h.Page.Path + " " + h.Section.Anchor
			found = append(found, place)
			text := strings.ToLower(h.Section.Heading + " " + h.Section.Text + " " + h.Page.Title)
			for _, word := range strings.Fields(strings.ToLower(words)) {
				if !strings.Contains(text, word) {
					t.Errorf("%s: %q is not in %s", words, word, place)
				}
			}
			if len(h.Excerpt) > 200 {
				t.Errorf("%s: the excerpt has %d bytes", place, len(h.Excerpt))
			}
		}
		if err != nil || !strings.Contains(fmt.Sprint(found), want) {
			t.Errorf("%s: got %v, %v, want %s", words, found, err, want)
		}
	}
	for _, none := range []string{"", "  ", "nobody writes zzyzx"} {
		if hits, err := docs.Search(none, 10); len(hits) > 0 || err != nil {
			t.Errorf("%q: got %d, %v", none, len(hits), err)
		}
	}
}
