package types

import "time"

// A View is a page of the console with its settings, to which somebody gave a name.
type View struct {
	ID      string    `json:"id" table:"ID" doc:"id of the view"`
	Name    string    `json:"name" table:"NAME" doc:"its name, which no other view has"`
	Page    string    `json:"page" table:"PAGE" doc:"the page, such as explore or dashboard"`
	Address string    `json:"address" table:"ADDRESS" doc:"the page with its settings: what follows #/ in the address of the console"`
	By      string    `json:"by" table:"BY" doc:"who saved it"`
	At      time.Time `json:"at" table:"AT" doc:"when it was saved"`
}

// A ViewList answers GET /api/v1/views.
type ViewList struct {
	Head
	Views []View `json:"views"`
}

// A NewView is the body of POST /api/v1/views.
type NewView struct {
	Name    string `json:"name"`    // of at most 100 characters; an older view of that name gives way
	Address string `json:"address"` // a page of the console and its settings, such as explore?of=drops&by=node
}
