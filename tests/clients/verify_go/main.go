// Judges deliveries, one line of JSON each: {body, headers, secret}. Prints a verdict of the library.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type delivery struct {
	Body    string
	Headers map[string]string
	Secret  string
}

func main() {
	lines := json.NewDecoder(os.Stdin)
	for lines.More() {
		var sent delivery
		if err := lines.Decode(&sent); err != nil {
			panic(err)
		}
		headers := http.Header{}
		for name, value := range sent.Headers {
			headers.Set(name, value)
		}
		webhook, err := webhooks.NewWebhook(sent.Secret)
		if err != nil {
			panic(err)
		}
		fmt.Printf("[%t]\n", webhook.Verify([]byte(sent.Body), headers) == nil)
	}
}
