import type { JsonValue } from '../../../src/signal/attributes.js';

/** What a person expects of a recording who reads it, its note, and the program behind it. */
export interface Recording {
  /** Of the service map of the whole recording. */
  readonly nodes: readonly string[];
  /** By their start. */
  readonly runs: readonly ExpectedRun[];
}

export interface ExpectedRun {
  readonly agent: string;
  readonly kind: 'agent' | 'other';
  readonly status: 'completed' | 'failed';
  readonly error: string | null;
  readonly session: string | null;
  readonly user: string | null;
  readonly tags: readonly string[];
  /** Of all model calls, each once; null where none tells any. */
  readonly tokens: number | null;
  /** In the order of the tree. */
  readonly tools: readonly Tool[];
  /** What was asked first: the last message of the user in the first span that has one; of what is no conversation the object. */
  readonly question: Expected;
  /** What came out at last: of the root, or where that has no output of the last model call that says anything. */
  readonly answer: Expected;
}

type Tool = readonly [name: string, args: Expected, result: Expected];

/** A value, exactly. Of an object or list that holds patterns, and of a question that is no text, what it has at least. */
export type Expected = JsonValue | RegExp | { readonly [key: string]: Expected } | readonly Expected[];

/** A run that completed, of which nothing is to be said but what is said here. */
export function run(agent: string, said: Partial<Omit<ExpectedRun, 'agent'>> = {}): ExpectedRun {
  return {
    agent,
    kind: 'agent',
    status: 'completed',
    error: null,
    session: null,
    user: null,
    tags: [],
    tokens: null,
    tools: [],
    question: null,
    answer: null,
    ...said,
  };
}

/** A run that failed, likewise. */
export function failed(
  agent: string,
  error: string,
  said: Partial<Omit<ExpectedRun, 'agent'>> = {},
): ExpectedRun {
  return run(agent, { status: 'failed', error, ...said });
}

/** What the small programs' model server answers, and of what each of its calls consists. */
export const SUNNY = 'It is sunny in Berlin, 21 degrees.';
export const GET_WEATHER: Tool = ['get_weather', { city: 'Berlin' }, 'sunny in Berlin'];

/** The tokens of so many calls of that server: 120 in and 45 out. */
export function calls(count: number): number {
  return 165 * count;
}
