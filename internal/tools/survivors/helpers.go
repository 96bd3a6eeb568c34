package main

// helpers is a file that is added to the package. Its functions do what an operator does, unless the
// number is that of a mutant of theirs.
const helpers = `package main

import (
	mutantOS "os"
	mutantStrconv "strconv"
)

// mutantNumber is the mutant that the package is, or 0.
var mutantNumber, _ = mutantStrconv.Atoi(mutantOS.Getenv("` + variable + `"))

type mutantInteger interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type mutantReal interface{ mutantInteger | ~float32 | ~float64 }

type mutantOrdered interface{ mutantReal | ~string }

func mutantLess[T mutantOrdered](boundary, negation int, a, b T) bool {
	if mutantNumber == boundary {
		return a <= b
	}
	return (a < b) != (mutantNumber == negation)
}

func mutantLessOrEqual[T mutantOrdered](boundary, negation int, a, b T) bool {
	if mutantNumber == boundary {
		return a < b
	}
	return (a <= b) != (mutantNumber == negation)
}

func mutantGreater[T mutantOrdered](boundary, negation int, a, b T) bool {
	if mutantNumber == boundary {
		return a >= b
	}
	return (a > b) != (mutantNumber == negation)
}

func mutantGreaterOrEqual[T mutantOrdered](boundary, negation int, a, b T) bool {
	if mutantNumber == boundary {
		return a > b
	}
	return (a >= b) != (mutantNumber == negation)
}

func mutantAdd[T mutantReal](number int, a, b T) T {
	if mutantNumber == number {
		return a - b
	}
	return a + b
}

func mutantSubtract[T mutantReal](number int, a, b T) T {
	if mutantNumber == number {
		return a + b
	}
	return a - b
}

func mutantMultiply[T mutantReal](number int, a, b T) T {
	if mutantNumber == number {
		return a / b
	}
	return a * b
}

func mutantDivide[T mutantReal](number int, a, b T) T {
	if mutantNumber == number {
		return a * b
	}
	return a / b
}

func mutantRemainder[T mutantInteger](number int, a, b T) T {
	if mutantNumber == number {
		return a * b
	}
	return a % b
}

func mutantNegative[T mutantReal](number int, a T) T {
	if mutantNumber == number {
		return a
	}
	return -a
}
`

// variable is that of the environment which chooses a mutant.
const variable = "ESPALIER_MUTANT"
