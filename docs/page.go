package docs

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Home is the path of the page that leads to all others.
const Home = "README"

// A Page is a page of the documentation.
type Page struct {
	Path     string    // that of its file, without .md
	Title    string    // its first heading
	HTML     string    // without scripts, styles and raw HTML
	Sections []Section // in their order; the first is what stands before the second heading
}

// A Section is what stands below a heading.
type Section struct {
	Anchor  string // of its heading in the page
	Heading string
	Text    string // without marks, white space as single spaces
}

// sections of the documentation, in the order in which people need them.
var folders = []string{"tutorial", "how-to", "reference", "formats", "explanation"}

// All returns all pages: the home page, then folder by folder. They are made when somebody asks first.
var All = sync.OnceValues(func() ([]Page, error) { return pagesOf(embedded) })

// Find returns the page with a path.
func Find(name string) (*Page, bool) {
	all, err := All()
	i := slices.IndexFunc(all, func(p Page) bool { return p.Path == name })
	if err != nil || i < 0 {
		return nil, false
	}
	return &all[i], true
}

func pagesOf(files fs.FS) ([]Page, error) {
	var names []string
	for _, folder := range append([]string{"."}, folders...) {
		found, err := fs.Glob(files, path.Join(folder, "*.md"))
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(found, func(a, b string) int { // a README leads to the others
			return cmpBool(path.Base(b) == "README.md", path.Base(a) == "README.md")
		})
		names = append(names, found...)
	}
	pages := make([]Page, len(names))
	for i, name := range names {
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		if pages[i], err = pageOf(strings.TrimSuffix(name, ".md"), source); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return pages, nil
}

func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// tables have attributes for the alignment of cells, since a page must not have inline styles.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Strikethrough,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

func pageOf(name string, source []byte) (Page, error) {
	page := Page{Path: name}
	doc := markdown.Parser().Parse(text.NewReader(source),
		parser.WithContext(parser.NewContext(parser.WithIDs(&anchors{}))))
	var outside []*ast.Link
	var section *Section
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			anchor, _ := id.([]byte)
			page.Sections = append(page.Sections, Section{Anchor: string(anchor), Heading: plain(n, source)})
			section = &page.Sections[len(page.Sections)-1]
			if page.Title == "" {
				page.Title = section.Heading
			}
		case *ast.Link:
			to, inside := linkTo(name, string(n.Destination))
			if !inside {
				outside = append(outside, n)
			}
			n.Destination = []byte(to)
		case *ast.Image:
			n.Destination = []byte("docs/" + path.Join(path.Dir(name), string(n.Destination)))
		case *ast.Paragraph, *ast.TextBlock, *east.TableCell, *ast.FencedCodeBlock, *ast.CodeBlock:
			if section != nil {
				section.Text = strings.TrimSpace(section.Text + " " + plain(n, source))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return page, err
	}
	for _, link := range outside { // what it leads to is not here: its words stay
		parent := link.Parent()
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			parent.InsertBefore(parent, link, child)
		}
		parent.RemoveChild(parent, link)
	}
	var html bytes.Buffer
	err = markdown.Renderer().Render(&html, source, doc)
	page.HTML = html.String()
	return page, err
}

// linkTo returns where a link of a page leads to in the console. It is not inside if it leads to another file of the
// repository, which the program does not have.
func linkTo(from, to string) (link string, inside bool) {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return to, true
	}
	file, anchor, _ := strings.Cut(to, "#")
	target := from
	if file != "" {
		target = path.Join(path.Dir(from), file)
		if !strings.HasSuffix(target, ".md") || strings.HasPrefix(target, "../") {
			return "", false
		}
		target = strings.TrimSuffix(target, ".md")
	}
	link = "#/docs?page=" + target
	if anchor != "" {
		link += "&at=" + anchor
	}
	return link, true
}

// plain returns the text of n without marks, in one line.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		case *ast.AutoLink:
			if entering {
				b.Write(n.URL(source))
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// anchors names headings as links of the documentation do: lower case, spaces as hyphens, no punctuation; the second of
// a name ends in -1.
type anchors struct{ used map[string]int }

// Generate implements parser.IDs.
func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	if a.used == nil {
		a.used = map[string]int{}
	}
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
			return r
		}
		return -1
	}, strings.ToLower(strings.TrimSpace(string(value))))
	n := a.used[slug]
	a.used[slug]++
	if n > 0 {
		slug = fmt.Sprintf("%s-%d", slug, n)
	}
	return []byte(slug)
}

// Put implements parser.IDs.
func (a *anchors) Put([]byte) {}
