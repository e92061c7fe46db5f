import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { BENCH_KEY } from './bench-directory.js';
import { post } from './post.js';

/** What tells these runs from those of other load that have timed out, too. */
export const EVENT_OUTCOME = 'bench';
const CONNECTIONS = 16;

/** Sends runs that have timed out, each of which is an event that no other load makes, evenly over time. */
export class EventSource {
  /** Taken by the daemon so far: by trace, when its answer came, in milliseconds since 1970. */
  readonly acknowledged = new Map<string, number>();
  failed = 0;
  readonly #pool: Pool;
  readonly #timer: NodeJS.Timeout;
  readonly #underWay = new Set<Promise<void>>();
  readonly #since = performance.now();
  readonly #perSecond: number;
  #sent = 0;

  constructor(url: string, perSecond: number) {
    this.#perSecond = perSecond;
    this.#pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
    this.#timer = setInterval(() => {
      this.#sendDue();
    }, 5);
  }

  /** Resolves when everything sent is answered. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
    await this.#pool.close();
  }

  #sendDue(): void {
    const due = Math.floor(((performance.now() - this.#since) / 1000) * this.#perSecond);
    for (; this.#sent < due; this.#sent++) {
      const sending = this.#send().finally(() => this.#underWay.delete(sending));
      this.#underWay.add(sending);
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

/** A new run that has timed out. */
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
