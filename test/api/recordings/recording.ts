import type { JsonValue } from '../../../src/signal/attributes.js';

/** Expected content of a recording, based on the recording, its note and its program. */
export interface Recording {
  /** Service map of the whole recording. */
  readonly nodes: readonly string[];
  /** Environment and release of all its runs; missing: none. */
  readonly ran?: readonly [environment: string | null, release: string | null];
  /** Sorted by start. */
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
  /** Sum over all counted model calls; null if none reports tokens. */
  readonly tokens: Tokens | null;
  /** US dollars and their source; null if no cost is known. */
  readonly cost: readonly [usd: number, source: 'reported' | 'priced'] | null;
  /** In tree order. */
  readonly tools: readonly Tool[];
  /** The first question: the last user message in the first span that has one, or the object if it is not a conversation. */
  readonly question: Expected;
  /** The final output: of the root, or else of the last model call with an output. */
  readonly answer: Expected;
}

interface Tokens {
  readonly input: number;
  /** Input tokens. */
  readonly cachedRead?: number;
  readonly cachedWrite?: number;
  readonly output: number;
  /** Output tokens. */
  readonly reasoning?: number;
}

type Tool = readonly [name: string, args: Expected, result: Expected];

/** An exact value; objects and lists with patterns, and questions that are not text, are minimums. */
export type Expected = JsonValue | RegExp | { readonly [key: string]: Expected } | readonly Expected[];

/** A completed run with defaults for everything not given here. */
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

/** A failed run with the same defaults. */
export function failed(
  agent: string,
  error: string,
  fields: Partial<Omit<ExpectedRun, 'agent'>> = {},
): ExpectedRun {
  return run(agent, { status: 'failed', error, ...fields });
}

/** The response of the model server of the small programs, and the parts of each call. */
export const SUNNY = 'It is sunny in Berlin, 21 degrees.';
export const GET_WEATHER: Tool = ['get_weather', { city: 'Berlin' }, 'sunny in Berlin'];

/** That many calls of the server by a client that reports all parts: 120 in, 64 of them cached, and 45 out, 16 of them reasoning. */
export function calls(count: number): Tokens {
  return { input: 120 * count, cachedRead: 64 * count, output: 45 * count, reasoning: 16 * count };
}

/** The same by a client that reports no parts. */
export function plainCalls(count: number): Tokens {
  return { input: 120 * count, output: 45 * count };
}

/** That many calls of gpt-4o-mini: 56 at 0.15, 64 at 0.075 and 45 at 0.60 USD per million. */
export function priced(count: number): readonly [number, 'priced'] {
  return [(40_200 * count) / 1e9, 'priced'];
}

/** The same without known cached tokens: 120 at 0.15. */
export function pricedPlain(count: number): readonly [number, 'priced'] {
  return [(45_000 * count) / 1e9, 'priced'];
}
