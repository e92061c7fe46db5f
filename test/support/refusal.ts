import { HttpProblem } from '../../src/component/http.js';

/** @returns the problem thrown by a call. @throws Error if it throws none. */
export function refusal(attempt: () => unknown): HttpProblem {
  try {
    attempt();
  } catch (error) {
    if (error instanceof HttpProblem) return error;
    throw error;
  }
  throw new Error('It was not refused');
}
