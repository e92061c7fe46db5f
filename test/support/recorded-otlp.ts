import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { TelemetrySignal } from '../../src/signal/batch.js';
import type { ApiCaller } from './api-caller.js';

/** Recordings outside the repository. The path is relative to the repository root. */
const DATA = '../shared/data';

/** Recorded data of a program. */
export interface RecordedProgram {
  /** Base name of its files. */
  readonly name: string;
  /** OTLP/JSON. */
  readonly requests: readonly { readonly signal: TelemetrySignal; readonly body: string }[];
}

/** Runs of real agents as OTLP/JSON texts by file name; empty if the folder is missing. */
export function recordedOtlpTraces(): ReadonlyMap<string, string> {
  return tracesIn('otlp-traces');
}

/** The same for small programs, each with another client. */
export function recordedPrograms(): ReadonlyMap<string, string> {
  return tracesIn('frameworks');
}

/** All recordings, including logs and metrics. */
export function recordings(): readonly RecordedProgram[] {
  return ['clients', 'frameworks', 'otlp-traces'].flatMap((folder) =>
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

/** One request per span of a recorded request. */
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

/** Concurrent requests: each waits for its commit. */
const AT_ONCE = 24;

/** Sends every recorded span alone, in reverse order. @throws Error if one is rejected */
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
