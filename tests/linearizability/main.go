// Command linearizability checks recorded histories against small models of what Pressroom promises.
//
// Each argument is a file of JSON lines, one call each: kind (the model), key (what the call is about; each key is
// checked alone), process, op, input, output (null: the client never learnt it) and start and end in nanoseconds.
// It prints a line for each history that no order of its calls explains, and ends with status 1 if there was one,
// with 3 if the time was too short to tell, with 2 if a file makes no sense.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// Call is one line of a history.
type Call struct {
	Kind    string  `json:"kind"`
	Key     string  `json:"key"`
	Process int     `json:"process"`
	Op      string  `json:"op"`
	Input   string  `json:"input"`
	Output  *Output `json:"output"`
	Start   int64   `json:"start"`
	End     int64   `json:"end"`
}

// Output is what a client was told.
type Output struct {
	Done     bool   `json:"done"`     // It was done, rather than refused or found absent.
	Replayed bool   `json:"replayed"` // The answer is a stored one.
	Value    string `json:"value"`    // The id of what was made, a post's text, a count.
	Number   int    `json:"number"`   // Likes of a post; requests that a limit leaves.
}

const patience = 60 * time.Second

func main() {
	histories := map[[2]string][]Call{}
	for _, name := range os.Args[1:] {
		if err := read(name, histories); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	status := 0
	for _, about := range sortedKeys(histories) {
		switch check(about[0], histories[about]) {
		case porcupine.Illegal:
			line, _ := json.Marshal(map[string]any{"kind": about[0], "key": about[1], "calls": histories[about]})
			fmt.Println(string(line))
			status = 1
		case porcupine.Unknown:
			fmt.Fprintf(os.Stderr, "%s %s: too many orders to try in %s\n", about[0], about[1], patience)
			if status == 0 {
				status = 3
			}
		}
	}
	os.Exit(status)
}

func read(name string, histories map[[2]string][]Call) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		var call Call
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
		if _, known := models[call.Kind]; !known {
			return fmt.Errorf("%s:%d: there is no model of %q", name, number, call.Kind)
		}
		about := [2]string{call.Kind, call.Key}
		histories[about] = append(histories[about], call)
	}
	for _, calls := range histories {
		sort.Slice(calls, func(a, b int) bool { return calls[a].Start < calls[b].Start })
	}
	return lines.Err()
}

func check(kind string, calls []Call) porcupine.CheckResult {
	operations := make([]porcupine.Operation, 0, len(calls))
	guessed := false
	for _, call := range calls {
		end := call.End
		if call.Output == nil {
			// One guess is as good as many: of attempts to make the same the first could do whatever a later one could,
			// and to use a key changes nothing. The checker would try them in each combination.
			if call.Op == "use" || call.Op == "create" && guessed {
				continue
			}
			guessed = guessed || call.Op == "create"
			// It may have taken effect at any time since, or never: after all others is as good as never.
			end = math.MaxInt64
		}
		operations = append(operations, porcupine.Operation{
			ClientId: call.Process, Input: call, Output: call.Output, Call: call.Start, Return: end,
		})
	}
	return porcupine.CheckOperationsTimeout(models[kind], operations, patience)
}

func sortedKeys(histories map[[2]string][]Call) [][2]string {
	keys := make([][2]string, 0, len(histories))
	for key := range histories {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(a, b int) bool {
		return keys[a][0] < keys[b][0] || keys[a][0] == keys[b][0] && keys[a][1] < keys[b][1]
	})
	return keys
}
