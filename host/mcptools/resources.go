package mcptools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrNoResource is the error of Resource.Read for an address without content.
var ErrNoResource = errors.New("mcptools: no such resource")

// A Resource is something that a client can read.
type Resource struct {
	// URI is the address ("lab://api/script") or, with Template, a URI template of
	// RFC 6570 ("lab://reports/{name}").
	URI      string
	Template bool
	// Name identifies the resource in lists, Title is its name for people.
	Name, Title, Description string
	// MIME is the media type; "text/plain" if empty.
	MIME string
	// Read returns the content at an address that matches URI, or ErrNoResource.
	// The client sees the text of any other error. Read must be safe for
	// concurrent use.
	Read func(ctx context.Context, uri string) ([]byte, error)
}

// A Prompt is a text for a model, with arguments to fill in.
type Prompt struct {
	Name, Title, Description string
	Arguments                []*Argument
	// Render returns the text. It is called with no other arguments than those above. The
	// client sees the text of an error.
	Render func(ctx context.Context, arguments map[string]string) (string, error)
}

// An Argument is an argument of a prompt: Name, Title and Description.
type Argument = mcp.PromptArgument

func (s *Server) addResource(r Resource) {
	r.MIME = cmp.Or(r.MIME, "text/plain")
	read := func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri := req.Params.URI
		data, err := r.Read(ctx, uri)
		if errors.Is(err, ErrNoResource) {
			return nil, mcp.ResourceNotFoundError(uri)
		}
		if err != nil {
			return nil, &sdkrpc.Error{Code: sdkrpc.CodeInternalError, Message: err.Error()}
		}
		c := &mcp.ResourceContents{URI: uri, MIMEType: r.MIME}
		if isText(r.MIME) && utf8.Valid(data) {
			c.Text = string(data)
		} else {
			c.Blob = data
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{c}}, nil
	}
	if r.Template {
		s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIME,
		}, read)
		return
	}
	s.sdk.AddResource(&mcp.Resource{
		URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIME,
	}, read)
}

// isText reports whether a media type is textual.
func isText(mime string) bool {
	base, _, _ := strings.Cut(mime, ";")
	return strings.HasPrefix(base, "text/") || strings.HasSuffix(base, "json") || strings.HasSuffix(base, "xml") || strings.HasSuffix(base, "javascript")
}

func (s *Server) addPrompt(p Prompt) {
	about := &mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description, Arguments: p.Arguments}
	s.sdk.AddPrompt(about, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		for name := range req.Params.Arguments {
			if !slices.ContainsFunc(p.Arguments, func(a *Argument) bool { return a.Name == name }) {
				return nil, badPrompt(fmt.Errorf("the prompt %s has no argument %q", p.Name, name))
			}
		}
		text, err := p.Render(ctx, req.Params.Arguments)
		if err != nil {
			return nil, badPrompt(err)
		}
		return &mcp.GetPromptResult{
			Description: p.Description,
			Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
		}, nil
	})
}

func badPrompt(err error) error {
	return &sdkrpc.Error{Code: sdkrpc.CodeInvalidParams, Message: err.Error()}
}
