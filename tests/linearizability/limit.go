package main

import "github.com/anishathalye/porcupine"

// minute is a limit's window, in nanoseconds.
const minute = int64(60e9)

// attempts are those made so far, in the order in which they were counted.
type attempts []Call

// limit: of a key's attempts in any minute so many are admitted as the first call's number says: Input holds it.
//
// Nobody knows when exactly an attempt was counted, only that it was between its start and its end. So one is held to
// be wrongly admitted when too many before it are in its minute whenever they were counted, and wrongly refused when
// too few could have been. Attempts of an unknown outcome may have been counted.
var limit = porcupine.Model{
	Init: func() any { return attempts(nil) },
	Step: func(state, input, output any) (bool, any) {
		before, call, told := state.(attempts), input.(Call), output.(*Output)
		next := append(before[:len(before):len(before)], call)
		if told == nil {
			return true, next
		}
		surely, maybe := before.within(call)
		allowed := atoi(call.Input)
		if !told.Done {
			return maybe >= allowed, next
		}
		left := allowed - 1 - told.Number // how many were there before, as the service says
		return surely < allowed && surely <= left && left <= maybe, next
	},
	Equal: func(a, b any) bool {
		// Whoever came to the same attempts in another order may go on in the same way.
		one, two := a.(attempts), b.(attempts)
		if len(one) != len(two) {
			return false
		}
		seen := make(map[int64]int, len(one))
		for _, each := range one {
			seen[each.Start]++
		}
		for _, each := range two {
			if seen[each.Start]--; seen[each.Start] < 0 {
				return false
			}
		}
		return true
	},
}

// within counts the attempts that were surely, and that may have been, counted less than a minute before a call.
func (before attempts) within(call Call) (surely, maybe int) {
	for _, each := range before {
		if each.Output != nil && call.End-each.Start < minute {
			surely++
		}
		if each.Output == nil || call.Start-each.End < minute {
			maybe++
		}
	}
	return surely, maybe
}

func atoi(text string) int {
	number := 0
	for _, digit := range text {
		number = number*10 + int(digit-'0')
	}
	return number
}
