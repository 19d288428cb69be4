// When a call is tried again. Pure.

const FIRST_PAUSE = 0.5
const LONGEST_PAUSE = 8
const QUOTA = 'Daily content quota exceeded'

/** How a try failed: without `status` the connection did. */
export interface Failure {
  status?: number
  label?: string
  retryAfter?: number | undefined
}

/**
 * Returns the seconds to wait before another try, or undefined when there is to be none.
 * `tries` counts those so far, `left` is the time to the call's deadline in seconds, `chance` a number from 0 to 1 that
 * spreads the clients of a server that comes back.
 */
export function pauseBeforeRetry(failure: Failure, tries: number, left: number, chance: number): number | undefined {
  if (!mayPassLater(failure)) return undefined
  let pause = Math.min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE) * (0.5 + chance / 2)
  if (failure.retryAfter !== undefined) {
    // Sooner would count as another refused attempt, and extend the lock-out.
    pause = Math.max(failure.retryAfter, failure.status === 429 ? 0 : pause)
  }
  return pause < left ? pause : undefined
}

function mayPassLater({ status, label }: Failure): boolean {
  if (status === undefined || status === 408 || status >= 500) return true
  // A quota ends at midnight: to wait for it is the program's decision.
  return status === 429 && label !== QUOTA
}
