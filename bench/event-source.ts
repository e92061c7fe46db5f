import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { BENCH_KEY } from './bench-directory.js';
import { post } from './post.js';

/** Outcome of these runs, which other load does not use. */
export const EVENT_OUTCOME = 'bench';
const CONNECTIONS = 16;

/** Sends timed-out runs at a steady rate. Each creates an event. */
export class EventSource {
  /** Time of acknowledgement by trace id, in milliseconds since 1970. */
  readonly acknowledged = new Map<string, number>();
  failed = 0;
  readonly #pool: Pool;
  readonly #timer: NodeJS.Timeout;
  readonly #pending = new Set<Promise<void>>();
  readonly #startedMs = performance.now();
  readonly #perSecond: number;
  #sent = 0;

  constructor(url: string, perSecond: number) {
    this.#perSecond = perSecond;
    this.#pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
    this.#timer = setInterval(() => {
      this.#sendDue();
    }, 5);
  }

  /** Stops sending and waits for pending responses. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
    await this.#pool.close();
  }

  #sendDue(): void {
    const due = Math.floor(((performance.now() - this.#startedMs) / 1000) * this.#perSecond);
    for (; this.#sent < due; this.#sent++) {
      const sending = this.#send().finally(() => this.#pending.delete(sending));
      this.#pending.add(sending);
    }
  }

  async #send(): Promise<void> {
    const trace = timedOutRun();
    const headers = { authorization: `Bearer ${BENCH_KEY}`, 'content-type': 'application/json' };
    const body = Buffer.from(JSON.stringify({ traces: [{ trace, spans: [] }] }));
    const { status } = await post(this.#pool, '/api/v1/traces/batch', headers, body);
    if (status === 200) this.acknowledged.set(trace.trace_id, Date.now());
    else this.failed++;
  }
}

/** Creates a timed-out run. */
export function timedOutRun(): { readonly trace_id: string } {
  const now = new Date().toISOString();
  const run = {
    trace_id: randomUUID(),
    agent: 'researcher',
    status: 'timed_out',
    started_at: now,
    ended_at: now,
    outcome: EVENT_OUTCOME,
    error_message: 'The model did not answer in 60 s.',
  };
  return run;
}
