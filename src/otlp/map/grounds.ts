import { FIELDS, type Field } from './conventions/convention.js';
import { SPAN_ATTRIBUTES, VERBATIM } from './conventions/jackdaw.js';
import type { OwnAttributes } from './own-attributes.js';
import type { DecidedProperty, FoundProperty, Ground, Provenance, Sources } from './provenance.js';
import type { StoredCall } from '../../signal/call-details.js';
import type { SpanRecord } from '../../signal/span.js';

/** The sources of a span's values, by name: an attribute key, or the description of a rule. */
export type Grounds = Readonly<Record<string, string>>;

/** Values that equal the best source of one field, unless another rule applies. */
const OF_FIELDS: Readonly<Record<string, Field>> = {
  model: 'model',
  provider: 'provider',
  input_tokens: 'input_tokens',
  output_tokens: 'output_tokens',
  total_tokens: 'total_tokens',
  cached_read: 'cached_read',
  cached_write: 'cached_write',
  cached_write_5m: 'cached_write_5m',
  cached_write_1h: 'cached_write_1h',
  reasoning: 'reasoning',
  audio_input: 'audio_input',
  audio_output: 'audio_output',
  cost_usd: 'cost',
  session_id: 'session_id',
  user_id: 'user_id',
  tags: 'tags',
  environment: 'environment',
  release: 'release',
  agent_version: 'agent_version',
  repository: 'repository',
  system: 'system',
  tools: 'tools',
  parameters: 'parameters',
  finish_reasons: 'finish_reasons',
};
const ALL_FIELDS: ReadonlySet<string> = new Set(FIELDS);

/** The source of a total that the client does not report. */
export const SUM_OF_TOKENS = 'sum of input and output';

/** Adds the sources of values that are not mapped from attributes. */
export function noteLater(
  from: Record<string, string>,
  {
    total_tokens,
    same_as = null,
    call,
  }: {
    readonly total_tokens: number | null;
    readonly same_as?: string | null;
    readonly call: StoredCall | null;
  },
): void {
  if (total_tokens !== null && !('total_tokens' in from)) from['total_tokens'] = SUM_OF_TOKENS;
  if (same_as !== null) from['same_as'] = 'rule of duplicate calls';
  if (call?.cost?.source === 'priced') from['cost_usd'] = `processor cost, by ${call.cost.rule ?? 'a table'}`;
}

/** Records the sources of values while spans are read. */
export class GroundsOfSpans implements Provenance {
  readonly #grounds = new Map<string, { readonly ground: string; readonly isKey: boolean }>();
  readonly #spans = new WeakMap<SpanRecord, Grounds>();

  decided(what: DecidedProperty, ground: Ground): void {
    this.#grounds.set(what, { ground, isKey: false });
  }

  found(what: FoundProperty, key: string): void {
    this.#grounds.set(what, { ground: key, isKey: true });
  }

  read(span: SpanRecord, sources: Sources, own: OwnAttributes | undefined): void {
    const grounds: Record<string, string> = {};
    if (own?.get(VERBATIM) !== true) {
      for (const [name, field] of Object.entries(OF_FIELDS)) note(grounds, name, sources.source(field));
      for (const [name, { ground, isKey }] of this.#grounds)
        note(grounds, name, !isKey && isField(ground) ? sources.source(ground) : ground);
    }
    for (const [name, { key }] of Object.entries(SPAN_ATTRIBUTES))
      if (own?.has(key) === true) grounds[name] = key;
    this.#grounds.clear();
    this.#spans.set(span, grounds);
  }

  /** The sources of a mapped span. */
  of(span: SpanRecord): Grounds {
    return this.#spans.get(span) ?? {};
  }
}

function note(grounds: Record<string, string>, name: string, ground: string): void {
  // A prefix key stands for all keys that start with it.
  if (ground !== '') grounds[name] = ground.endsWith('.') ? `${ground}*` : ground;
}

function isField(ground: string): ground is Field {
  return ALL_FIELDS.has(ground);
}
