import { randomUUID } from 'node:crypto';
import type { DuckDBStore } from '../src/storage/duckdb/client/store.js';
import { UNSET_FIELDS } from '../src/signal/span.js';
import type { TraceRecord } from '../src/signal/trace.js';

const TRACES_A_BATCH = 500;
const BATCHES_AT_ONCE = 8;
const MICROS_A_DAY = 86_400_000_000;

/** Stores runs of many agents, each with one model call, that came evenly over the last 24 hours. */
export async function storeHistory(
  store: DuckDBStore,
  userId: string,
  { agents, traces }: { readonly agents: number; readonly traces: number },
): Promise<void> {
  const now = Date.now() * 1000;
  const batches = Math.ceil(traces / TRACES_A_BATCH);
  for (let from = 0; from < batches; from += BATCHES_AT_ONCE) {
    const some = Array.from({ length: Math.min(BATCHES_AT_ONCE, batches - from) }, (_, i) => from + i);
    await Promise.all(
      some.map(async (batch) => {
        const receivedAt = Math.round(now - MICROS_A_DAY + (MICROS_A_DAY * (batch + 1)) / batches);
        const items = Array.from({ length: TRACES_A_BATCH }, (_, i) =>
          aRun(`agent ${(batch * TRACES_A_BATCH + i) % agents}`, receivedAt, batch * TRACES_A_BATCH + i),
        );
        await store.writer.traces({ tenant: userId, items }, { receivedAt });
      }),
    );
  }
  await store.settled();
}

/** @param number decides how it went */
function aRun(agent: string, endedAt: number, number: number): TraceRecord {
  const trace_id = randomUUID();
  const durationMs = 500 + ((number * 7919) % 20_000);
  const started_at = endedAt - durationMs * 1000;
  const common = { started_at, ended_at: endedAt, duration_ms: durationMs } as const;
  const nothing = { error_message: null, metadata: null, total_tokens: null } as const;
  const status = number % 10 === 0 ? 'failed' : 'completed';
  return {
    trace: {
      ...common,
      ...nothing,
      trace_id,
      agent,
      status,
      success: null,
      outcome: null,
      total_cost_usd: 1200 + (number % 997),
      sdk_version: null,
      sample_rate: null,
      kind: 'agent',
      follows_spans: false,
      idle_timeout_ms: null,
      orphan_wait_ms: null,
    },
    spans: [
      {
        ...UNSET_FIELDS,
        ...common,
        span_id: randomUUID(),
        trace_id,
        type: 'llm',
        name: 'answer',
        status,
        model: 'claude',
        input_tokens: 900,
        output_tokens: 120,
      },
    ],
  };
}
