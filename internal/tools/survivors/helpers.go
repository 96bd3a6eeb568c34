package main

// helpers is a file that is added to the package. Its functions do what an operator does, unless the
// number is that of a mutant of theirs. SIZE is how many mutants there are.
//
// A mutant that does not end is found by its steps: each time code of a mutant is reached is one. To
// learn which mutants a test reaches, and how many steps it takes, all of them are noted in a file.
const helpers = `package main

import (
	mutantMath "math"
	mutantOS "os"
	mutantStrconv "strconv"
)

var (
	mutantNumber, _  = mutantStrconv.Atoi(mutantOS.Getenv("` + variable + `")) // the mutant that the package is, or 0
	mutantNotes, _   = mutantOS.OpenFile(mutantOS.Getenv("` + variable + `_NOTES"), mutantOS.O_WRONLY|mutantOS.O_APPEND, 0)
	mutantLimit      = mutantStepsAllowed()
	mutantSteps, mutantNoted int
	mutantSeen       [SIZE + 1]bool
)

func mutantStepsAllowed() int {
	if mutantNotes != nil {
		return -1
	}
	if n, err := mutantStrconv.Atoi(mutantOS.Getenv("` + variable + `_STEPS")); err == nil {
		return n
	}
	return mutantMath.MaxInt
}

func mutantIs(number int) bool {
	mutantSteps++
	if mutantSteps > mutantLimit {
		mutantPast(number)
	}
	return number == mutantNumber
}

// Steps are noted whenever they are a quarter more.
func mutantPast(number int) {
	if mutantNotes == nil {
		println("mutant: too many steps")
		mutantOS.Exit(EXIT)
	}
	if !mutantSeen[number] {
		mutantSeen[number] = true
		mutantNotes.WriteString(mutantStrconv.Itoa(number) + "\n")
	}
	if mutantSteps > mutantNoted {
		mutantNoted = mutantSteps + mutantSteps/4 + 1000
		mutantNotes.WriteString(mutantStrconv.Itoa(-mutantNoted) + "\n")
	}
}

type mutantInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type mutantReal interface{ mutantInteger | ~float32 | ~float64 }

type mutantOrdered interface{ mutantReal | ~string }

func mutantLess[T mutantOrdered](boundary, negation int, a, b T) bool {
	if mutantIs(boundary) {
		return a <= b
	}
	return (a < b) != mutantIs(negation)
}

func mutantLessOrEqual[T mutantOrdered](boundary, negation int, a, b T) bool {
	if mutantIs(boundary) {
		return a < b
	}
	return (a <= b) != mutantIs(negation)
}

func mutantGreater[T mutantOrdered](boundary, negation int, a, b T) bool {
	if mutantIs(boundary) {
		return a >= b
	}
	return (a > b) != mutantIs(negation)
}

func mutantGreaterOrEqual[T mutantOrdered](boundary, negation int, a, b T) bool {
	if mutantIs(boundary) {
		return a > b
	}
	return (a >= b) != mutantIs(negation)
}

func mutantAdd[T mutantReal](number int, a, b T) T {
	if mutantIs(number) {
		return a - b
	}
	return a + b
}

func mutantSubtract[T mutantReal](number int, a, b T) T {
	if mutantIs(number) {
		return a + b
	}
	return a - b
}

func mutantMultiply[T mutantReal](number int, a, b T) T {
	if mutantIs(number) {
		return a / b
	}
	return a * b
}

func mutantDivide[T mutantReal](number int, a, b T) T {
	if mutantIs(number) {
		return a * b
	}
	return a / b
}

func mutantRemainder[T mutantInteger](number int, a, b T) T {
	if mutantIs(number) {
		return a * b
	}
	return a % b
}

func mutantNegative[T mutantReal](number int, a T) T {
	if mutantIs(number) {
		return a
	}
	return -a
}
`

// variable is that of the environment which chooses a mutant.
const variable = "ESPALIER_MUTANT"
