import { readdirSync, readFileSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../src/signal/attributes.js';

/** One item of the body of `POST /api/v1/traces/batch`. */
export interface Item {
  readonly trace: JsonObject;
  readonly spans: JsonObject[];
}

const START = '2026-11-03T08:15:30.250Z';
const END = '2026-11-03T08:15:31.5Z';

/** A valid span; an `undefined` change removes a field. */
export function aSpan(traceId: string, changes: Changes = {}): JsonObject {
  return changed(
    {
      span_id: randomUUID(),
      trace_id: traceId,
      type: 'llm',
      name: 'answer',
      status: 'completed',
      started_at: START,
      ended_at: END,
      duration_ms: 1250,
      model: 'model-one',
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      cost_usd: '0.001250',
      input_data: { messages: [{ role: 'user', content: 'Why is the sky blue?' }] },
      output_data: { content: 'Because of Rayleigh scattering.' },
      metadata: { attempt: 1 },
    },
    changes,
  );
}

/** A valid item with `spans` spans; an `undefined` change removes a field. */
export function anItem(changes: { readonly trace?: Changes; readonly spans?: number } = {}): Item {
  const traceId = randomUUID();
  const trace = changed(
    {
      trace_id: traceId,
      agent: 'researcher',
      status: 'completed',
      started_at: START,
      ended_at: END,
      success: true,
      metadata: { environment: 'test' },
      sdk_version: '1.2.3',
    },
    changes.trace ?? {},
  );
  return { trace, spans: Array.from({ length: changes.spans ?? 1 }, () => aSpan(traceId)) };
}

export type Changes = Readonly<Record<string, JsonObject[string] | undefined>>;

function changed(value: JsonObject, changes: Changes): JsonObject {
  const merged = Object.entries({ ...value, ...changes }).filter(
    (entry): entry is [string, JsonObject[string]] => entry[1] !== undefined,
  );
  return Object.fromEntries(merged);
}

/** JSON text of an object with that many levels, more than can be serialized. */
export function nestedText(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
}

/** Runs of real agents outside the repository. The path is relative to the repository root. */
const RECORDED = '../shared/data/trace-batches';

/** The recorded batches by file name; empty if the folder is missing. */
export function recordedBatches(): ReadonlyMap<string, { readonly traces: Item[] }> {
  try {
    return new Map(
      readdirSync(RECORDED)
        .filter((name) => name.endsWith('.batch.json'))
        .map((name) => [
          name,
          JSON.parse(readFileSync(`${RECORDED}/${name}`, 'utf8')) as { readonly traces: Item[] },
        ]),
    );
  } catch {
    return new Map();
  }
}
