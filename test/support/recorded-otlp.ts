import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { TelemetrySignal } from '../../src/signal/batch.js';
import type { ApiCaller } from './api-caller.js';

/** Recordings outside the repository. The path is relative to the root of the repository. */
const DATA = '../shared/data';

/** What a program sent. */
export interface RecordedProgram {
  /** Of its files, without what they end with. */
  readonly name: string;
  /** OTLP/JSON. */
  readonly requests: readonly { readonly signal: TelemetrySignal; readonly body: string }[];
}

/** Runs of real agents as OTLP/JSON requests by the name of their file, as text; empty where the folder is absent. */
export function recordedOtlpTraces(): ReadonlyMap<string, string> {
  return tracesIn('otlp-traces');
}

/** The same of small programs, each written with another client. */
export function recordedPrograms(): ReadonlyMap<string, string> {
  return tracesIn('frameworks');
}

/** Everything that was recorded, logs and metrics beside the traces, too. */
export function recordings(): readonly RecordedProgram[] {
  return ['frameworks', 'otlp-traces'].flatMap((folder) =>
    [...tracesIn(folder)].map(([file, body]) => {
      const name = file.replace(ENDING, '');
      const beside = (signal: 'logs' | 'metrics') =>
        filesIn(folder)
          .filter((other) => other === `${name}.${signal}${ENDING}`)
          .map((other) => ({ signal, body: textOf(folder, other) }));
      return {
        name,
        requests: [{ signal: 'traces' as const, body }, ...beside('logs'), ...beside('metrics')],
      };
    }),
  );
}

/** A request for each span of one that was recorded. */
function alone(text: string): unknown[] {
  const { resourceSpans } = JSON.parse(text) as {
    resourceSpans: { resource?: unknown; scopeSpans: { scope?: unknown; spans: unknown[] }[] }[];
  };
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [span] }] }] })),
    ),
  );
}

/** So many are under way at once: each waits for its commit. */
const AT_ONCE = 24;

/** Sends every recorded span alone, the last ones first. @throws Error where one is not taken as it is */
export async function sendAlone(api: ApiCaller, texts: Iterable<string>): Promise<void> {
  const requests = [...texts].flatMap(alone).reverse();
  for (let next = 0; next < requests.length; next += AT_ONCE) {
    const some = requests.slice(next, next + AT_ONCE);
    const answers = await Promise.all(some.map((json) => api.call('POST', '/otlp/v1/traces', { json })));
    assert.deepEqual(
      answers.map(({ body }) => body),
      some.map(() => ({})),
    );
  }
}

const ENDING = '.otlp.json';

function tracesIn(folder: string): ReadonlyMap<string, string> {
  const files = filesIn(folder).filter((name) => /^[^.]+\.otlp\.json$/.test(name));
  return new Map(files.map((name) => [name, textOf(folder, name)]));
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(`${DATA}/${folder}`);
  } catch {
    return [];
  }
}

function textOf(folder: string, name: string): string {
  return readFileSync(`${DATA}/${folder}/${name}`, 'utf8');
}
