import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { ApiCaller } from '../support/api-caller.js';
import { aSpan, type Item } from '../support/trace-batch.js';

export const SPANS_A_RUN = 10;
export const AGENTS = 5;
const SENDERS = 12;
/** Each request contains the halves of this many runs. */
const RUNS_A_REQUEST = 4;
/** Every n-th run fails, so that each agent has failures. */
const FAILS = 21;

/** A sent run. */
export interface SentRun {
  readonly traceId: string;
  readonly agent: string;
  readonly hasFailed: boolean;
}

/** One half of the spans of a run: the first says it is running, the second how it ended. Order and repeats vary. */
function halfOf({ traceId, agent, hasFailed }: SentRun, half: 0 | 1, now: string): Item {
  const spans = Array.from({ length: SPANS_A_RUN / 2 }, (_, i) => {
    // The span id derives from the run id, so that a repeat is detected.
    const number = half * (SPANS_A_RUN / 2) + i;
    const span_id = `${traceId.slice(0, 35)}${number.toString(16)}`;
    return aSpan(traceId, { span_id, input_tokens: 2, output_tokens: 1, total_tokens: 3, cost_usd: '0.001' });
  });
  const ended = { status: hasFailed ? 'failed' : 'completed', success: null, ended_at: now };
  const trace = {
    ...{ trace_id: traceId, agent, started_at: now, status: 'running' },
    ...(half === 1 && ended),
    ...(half === 1 && hasFailed && { error_message: 'no answer' }),
  };
  return { trace, spans };
}

/** Sends all halves of all runs to any gateway until acknowledged, some of them twice concurrently. */
export class GatewayLoad {
  readonly runs: readonly SentRun[];
  readonly done: Promise<void>;
  readonly #url: () => string;
  readonly #key: string;
  readonly #requests: Item[][] = [];
  #acknowledged = 0;
  #watchers: (() => void)[] = [];

  /** @param url current address of a gateway @param spans total number */
  constructor(url: () => string, key: string, spans: number) {
    this.#url = url;
    this.#key = key;
    const now = new Date().toISOString();
    this.runs = Array.from({ length: spans / SPANS_A_RUN }, (_, i) => ({
      traceId: `${randomUUID().slice(0, 35)}0`,
      agent: `agent ${i % AGENTS}`,
      hasFailed: i % FAILS === 0,
    }));
    for (let from = 0; from < this.runs.length; from += RUNS_A_REQUEST) {
      const some = this.runs.slice(from, from + RUNS_A_REQUEST);
      for (const half of [0, 1] as const) this.#requests.push(some.map((run) => halfOf(run, half, now)));
    }
    // Halves of a run arrive both far apart and close together.
    for (let i = 0; i + 8 < this.#requests.length; i++) {
      const other = i + randomInt(8);
      const [one, two] = [this.#requests[i], this.#requests[other]];
      if (one && two) [this.#requests[i], this.#requests[other]] = [two, one];
    }
    this.#requests.reverse();
    this.done = Promise.all(Array.from({ length: SENDERS }, () => this.#send())).then(() => undefined);
  }

  /** Resolves once this many requests are acknowledged. */
  async reached(share: number): Promise<void> {
    const requests = (2 * this.runs.length) / RUNS_A_REQUEST;
    while (this.#acknowledged < share * requests)
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
  }

  async #send(): Promise<void> {
    for (let items = this.#requests.pop(); items !== undefined; items = this.#requests.pop()) {
      const twice = randomInt(7) === 0 ? [this.#untilTaken(items)] : [];
      await Promise.all([this.#untilTaken(items), ...twice]);
      this.#acknowledged++;
      for (const notify of this.#watchers.splice(0)) notify();
    }
  }

  async #untilTaken(items: readonly Item[]): Promise<void> {
    for (;;) {
      try {
        const { status, body } = await new ApiCaller(this.#url(), this.#key).call('POST', '/traces/batch', {
          json: { traces: items },
        });
        if (status === 200 && (body as { readonly rejected: number }).rejected === 0) return;
        if (status !== 503) throw new RangeError(`a request was answered ${status}: ${JSON.stringify(body)}`);
      } catch (error) {
        // A killed gateway sends no response.
        if (error instanceof RangeError) throw error;
      }
      await wait(20);
    }
  }
}
