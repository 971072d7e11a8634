package mcptools

import (
	"context"
	"errors"
)

// ErrNoResource is what Resource.Read returns for an address under which there
// is nothing.
var ErrNoResource = errors.New("mcptools: no such resource")

// A Resource is something that a client can read.
type Resource struct {
	// URI is the address ("lab://api/script"), or with Template set a URI
	// template of RFC 6570 ("lab://reports/{name}").
	URI      string
	Template bool
	// Name identifies the resource in lists, Title is its name for people.
	Name, Title, Description string
	// MIME is the media type; "text/plain" if empty.
	MIME string
	// Read returns what stands under an address that fits URI. ErrNoResource
	// says that there is nothing; any other error is told to the client by its
	// text. It is used from many goroutines at once.
	Read func(ctx context.Context, uri string) ([]byte, error)
}

// A Prompt is a text that teaches a model something, with places to fill in.
type Prompt struct {
	Name, Title, Description string
	Arguments                []Argument
	// Render returns the text. Required arguments are there, and no others than
	// those above. An error is told to the client by its text.
	Render func(ctx context.Context, arguments map[string]string) (string, error)
}

// An Argument is a place to fill in.
type Argument struct {
	Name, Title, Description string
	Required                 bool
}
