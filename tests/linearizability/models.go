package main

import (
	"strings"

	"github.com/anishathalye/porcupine"
)

// models says, for each kind of history, what a service that did one call after the other would answer.
var models = map[string]porcupine.Model{
	"create":     {Init: func() any { return created{} }, Step: stepper(create)},
	"post":       {Init: func() any { return post{} }, Step: stepper(edit)},
	"likes":      {Init: func() any { return "" }, Step: stepper(like)},
	"revocation": {Init: func() any { return false }, Step: stepper(revoke)},
	"limit":      limit,
}

// stepper makes a model's step of a function that is given the call, and nil as output if nobody learnt it.
func stepper[S any](step func(S, Call, *Output) (bool, S)) func(any, any, any) (bool, any) {
	return func(state, input, output any) (bool, any) {
		call, told := input.(Call), output.(*Output)
		return step(state.(S), call, told)
	}
}

// created is what is known of an Idempotency-Key: that something was made under it, and its id once told.
type created struct {
	made bool
	id   string
}

// create: the first call under a key makes something, each later one is told the same id again.
func create(state created, _ Call, told *Output) (bool, created) {
	if told == nil {
		return true, created{true, state.id}
	}
	if told.Replayed != state.made {
		return false, state
	}
	if state.id != "" && state.id != told.Value {
		return false, state
	}
	return true, created{true, told.Value}
}

type post struct {
	there bool
	text  string
}

// edit: a post is a register that is made, written, read, and deleted for good.
func edit(state post, call Call, told *Output) (bool, post) {
	next := state
	switch call.Op {
	case "create":
		next = post{true, call.Input}
	case "edit":
		if state.there {
			next.text = call.Input
		}
	case "delete":
		next = post{}
	}
	if told == nil {
		return true, next
	}
	if call.Op == "create" {
		return told.Done, next
	}
	if told.Done != state.there {
		return false, state
	}
	if call.Op == "read" && told.Done && told.Value != state.text {
		return false, state
	}
	return true, next
}

// like: a post has a set of accounts that like it, and says how many they are. The state lists them, each as ",name".
func like(state string, call Call, told *Output) (bool, string) {
	own := "," + call.Input + ";"
	next := state
	switch call.Op {
	case "like":
		if !strings.Contains(state, own) {
			next = insert(state, own)
		}
	case "unlike":
		next = strings.Replace(state, own, "", 1)
	}
	if told != nil && call.Op == "read" && told.Number != strings.Count(state, ",") {
		return false, state
	}
	return true, next
}

// insert keeps the list in order, so that equal sets are equal states.
func insert(list, own string) string {
	parts := strings.SplitAfter(list, ";")
	var out strings.Builder
	put := false
	for _, part := range parts {
		if !put && (part == "" || part > own) {
			out.WriteString(own)
			put = true
		}
		out.WriteString(part)
	}
	return out.String()
}

// revoke: a key is good until it is revoked, and never again.
func revoke(revoked bool, call Call, told *Output) (bool, bool) {
	if call.Op == "revoke" {
		return told == nil || told.Done, true
	}
	return told == nil || told.Done == !revoked, revoked
}
