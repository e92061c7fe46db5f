import type { Test } from 'tap';
import { startJsonEndpoint, type JsonEndpoint } from '../../support/json-endpoint.js';

/** The answer of an OpenAI-compatible API. @param tokens of the input; 10 of the output */
export function completion(content: unknown, tokens = 1000): { status: 200; body: string } {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return {
    status: 200,
    body: JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }],
      usage: { prompt_tokens: tokens, completion_tokens: 10, total_tokens: tokens + 10 },
    }),
  };
}

export const GOOD = { explanation: 'Clear and right.', score: 0.75, label: 'good' };

/** A judge that answers {@link GOOD}. */
export async function startJudge(t: Pick<Test, 'teardown'>): Promise<JsonEndpoint> {
  const endpoint = await startJsonEndpoint(t);
  endpoint.answer = () => completion(GOOD);
  return endpoint;
}

/**
 * YAML of a daemon that evaluates runs.
 *
 * @param keys of the exporter
 * @param types of the outbox; without any, runs are not evaluated when they end
 * @param extensions in addition to those of every daemon
 * @param over settings of processors, and those that logs pass
 */
export function evaluateOverlay(
  keys: object,
  types: readonly string[] = ['trace.completed', 'trace.failed'],
  extensions: readonly string[] = [],
  over: { readonly processors: object; readonly logs: readonly string[] } = {
    processors: {},
    logs: ['validation', 'quota'],
  },
): string {
  return JSON.stringify({
    receivers: { outbox: { types } },
    processors: over.processors,
    exporters: {
      evaluate: {
        pipelines: ['logs', 'traces/judge'],
        targets: { allow_cidrs: ['127.0.0.0/8'] },
        retry: { initial_interval: '5ms', max_interval: '20ms' },
        ...keys,
      },
    },
    extensions: Object.fromEntries(extensions.map((id) => [id, {}])),
    service: {
      extensions: ['sqlite', 'duckdb', 'query', 'health', ...extensions],
      pipelines: {
        events: { receivers: ['outbox'], exporters: ['evaluate'] },
        logs: { receivers: ['otlp', 'scores', 'evaluate'], processors: over.logs },
        'traces/judge': { receivers: ['evaluate'], processors: ['validation'], exporters: ['storage'] },
      },
    },
  });
}
