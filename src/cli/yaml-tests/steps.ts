import type { Sent } from './daemon/schema.js';
import { TestProblem } from './test-problem.js';
import type { Case, Input } from './test-schema.js';

/** A step of a test, run after the previous one. */
export interface Step {
  /** Keys that lead to the step in the test. */
  readonly path: readonly string[];
  /** Time that passes before the step. */
  readonly after: string;
  readonly input: Input | undefined;
  readonly send: readonly Sent[] | undefined;
}

/**
 * The steps of a test; one if it lists none.
 *
 * @throws TestProblem
 */
export function stepsOf({ steps, input, send, expect }: Case): readonly Step[] {
  if (steps === undefined) {
    if (expect === undefined) throw new TestProblem(['expect'], 'is missing: list the expected results');
    return [{ path: [], after: '0s', input, send }];
  }
  if (input !== undefined || expect !== undefined || send !== undefined)
    throw new TestProblem(['steps'], 'replace input, send and expect: move those into a step');
  return steps.map((step, index) => ({
    path: ['steps', String(index)],
    after: step.after ?? '0s',
    input: step.input,
    send: step.send,
  }));
}
