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
  /** Of all model calls that count; null where none tells any. */
  readonly tokens: Tokens | null;
  /** US dollars, and where they come from; null where nothing costs anything, as far as is known. */
  readonly cost: readonly [usd: number, source: 'reported' | 'priced'] | null;
  /** In the order of the tree. */
  readonly tools: readonly Tool[];
  /** What was asked first: the last message of the user in the first span that has one; of what is no conversation the object. */
  readonly question: Expected;
  /** What came out at last: of the root, or where that has no output of the last model call that says anything. */
  readonly answer: Expected;
}

interface Tokens {
  readonly input: number;
  /** Of the input. */
  readonly cachedRead?: number;
  readonly cachedWrite?: number;
  readonly output: number;
  /** Of the output. */
  readonly reasoning?: number;
}

type Tool = readonly [name: string, args: Expected, result: Expected];

/** A value, exactly. Of an object or list that holds patterns, and of a question that is no text, what it has at least. */
export type Expected = JsonValue | RegExp | { readonly [key: string]: Expected } | readonly Expected[];

/** A run that completed, of which nothing is to be said but what is said here. */
export function run(agent: string, fields: Partial<Omit<ExpectedRun, 'agent'>> = {}): ExpectedRun {
  return {
    agent,
    kind: 'agent',
    status: 'completed',
    error: null,
    session: null,
    user: null,
    tags: [],
    tokens: null,
    cost: null,
    tools: [],
    question: null,
    answer: null,
    ...fields,
  };
}

/** A run that failed, likewise. */
export function failed(
  agent: string,
  error: string,
  fields: Partial<Omit<ExpectedRun, 'agent'>> = {},
): ExpectedRun {
  return run(agent, { status: 'failed', error, ...fields });
}

/** What the small programs' model server answers, and of what each of its calls consists. */
export const SUNNY = 'It is sunny in Berlin, 21 degrees.';
export const GET_WEATHER: Tool = ['get_weather', { city: 'Berlin' }, 'sunny in Berlin'];

/** So many calls of that server by a client that tells everything: 120 in, 64 of them cached, and 45 out, 16 of them reasoning. */
export function calls(count: number): Tokens {
  return { input: 120 * count, cachedRead: 64 * count, output: 45 * count, reasoning: 16 * count };
}

/** The same of a client that tells no parts. */
export function plainCalls(count: number): Tokens {
  return { input: 120 * count, output: 45 * count };
}

/** So many of them by gpt-4o-mini: 56 at 0.15, 64 at 0.075 and 45 at 0.60 USD for a million. */
export function priced(count: number): readonly [number, 'priced'] {
  return [(40_200 * count) / 1e9, 'priced'];
}

/** The same where the cached ones are not known: 120 at 0.15. */
export function pricedPlain(count: number): readonly [number, 'priced'] {
  return [(45_000 * count) / 1e9, 'priced'];
}
