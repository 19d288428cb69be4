// Publishes by the client that oapi-codegen makes of the document: ./publish BASE_URL KEY
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
)

func main() {
	authorise := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	}
	api, err := NewClientWithResponses(os.Args[1], WithRequestEditorFn(authorise))
	if err != nil {
		panic(err)
	}
	publish := func(content, once string) *CreatePostResponse {
		params := &CreatePostParams{IdempotencyKey: &once}
		answer, err := api.CreatePostWithResponse(context.Background(), params, CreatePostJSONRequestBody{Content: content})
		if err != nil {
			panic(err)
		}
		return answer
	}
	made, again := publish("By a generated client", "from-go"), publish("Another body", "from-go")
	bad := publish(" ", "refused")
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{
		"status":   made.StatusCode(),
		"content":  made.JSON201.Content,
		"same":     again.JSON200.Id == made.JSON201.Id,
		"replayed": again.HTTPResponse.Header.Get("Idempotent-Replayed"),
		"label":    bad.JSON4XX.Error,
	})
}
