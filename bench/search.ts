import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Api } from './api.js';
import { BENCH_KEY, withTempDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { provideStore } from './filled-store.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { SampledTrace } from './load-plan.js';
import { residentMiB } from './process-usage.js';
import { bytesOf, ms, printSetup, table, type Print } from './report.js';

export interface SearchOptions {
  /** Sizes of stores in spans. */
  readonly spans: readonly number[];
  readonly requests: number;
  readonly data?: string;
  readonly config?: string;
}

/** Goals in milliseconds with 10 million spans. */
const FREQUENT_MS = 150;
const RARE_MS = 1000;
const MISSING_MS = 2000;
/** In most runs, in one and in none. */
const FREQUENT = 'confidence';
const IN_ONE_RUN = 'zebraquuxonce';
const MISSING = 'zebraquuxnowhere';
/** Of the word that is spread over the store: one search of 10 million spans takes a minute. */
const MOST_SPREAD_REQUESTS = 2;
/** Parts of a search: each request takes at most 1.5 seconds. */
const MOST_PARTS = 100;
const SAMPLES = 50;

interface FoundPage {
  readonly items: readonly unknown[];
  readonly next_cursor: string | null;
}

/** `npm run bench -- search`: how long a search takes until its page is full or all runs were searched. */
export async function search(options: SearchOptions, print: Print): Promise<void> {
  printSetup(print, 'search', { ...options });
  for (const items of options.spans) {
    print(`\n${items} spans`);
    await withTempDirectory(async (directory) => {
      const store = join(directory, 'store');
      const samples = await provideStore({ kind: 'batch', items }, store, options.data, print);
      print(`  ${(await bytesOf(join(store, 'data'))) >> 20} MiB on disk`);
      const files = await writeDaemonConfig({ directory: store, key: BENCH_KEY, extra: options.config });
      const daemon = await DaemonProcess.start(files);
      const api = new Api(daemon.url, BENCH_KEY);
      try {
        print(await measure(api, samples, options.requests));
        print(`  memory ${(await residentMiB(daemon.pid))?.toFixed(0) ?? 'unknown'} MiB`);
        await api.close();
        await daemon.stop();
      } finally {
        await daemon.kill();
      }
    });
  }
}

async function measure(api: Api, samples: readonly SampledTrace[], requests: number): Promise<string> {
  const rows: string[][] = [];
  await sendRun(api, IN_ONE_RUN);
  const few = Math.min(requests, MOST_SPREAD_REQUESTS);
  for (const [name, query, times, targetMs] of [
    ['in most runs', FREQUENT, requests, FREQUENT_MS],
    ['in one run', IN_ONE_RUN, requests, RARE_MS],
    ['in every 500th request', await spreadWord(api, samples), few, RARE_MS],
    ['in no run', MISSING, requests, MISSING_MS],
  ] as const) {
    const recorder = new LatencyRecorder();
    let found = 0;
    for (let request = 0; request < times; request++) {
      const startedMs = performance.now();
      found = await pageOf(api, query);
      recorder.record(performance.now() - startedMs);
    }
    const { p50, max } = recorder.summary();
    rows.push([`${name} (${query})`, String(found), ms(p50), ms(max), `< ${targetMs}`]);
  }
  return table(['word', 'runs', 'p50', 'max', 'target'], rows);
}

/** Searches until a page of 50 is full or nothing is left. @returns the number of runs found */
async function pageOf(api: Api, query: string): Promise<number> {
  let found = 0;
  let cursor = '';
  for (let part = 0; part < MOST_PARTS && found < 50; part++) {
    const page = (await api.json(
      `/dashboard/traces?page_size=${50 - found}&query=${query}${cursor}`,
    )) as FoundPage;
    found += page.items.length;
    if (page.next_cursor === null) break;
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  return found;
}

/** An id in an input: the load sends each of its 500 bodies many times, spread over the store. */
async function spreadWord(api: Api, samples: readonly SampledTrace[]): Promise<string> {
  for (const { traceId } of samples.slice(0, SAMPLES)) {
    const { spans } = (await api.json(`/dashboard/traces/${traceId}`)) as {
      readonly spans: readonly { readonly input_data: object | null }[];
    };
    const inputs = JSON.stringify(spans.map(({ input_data }) => input_data));
    const word = inputs.match(/\b(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{7,}\b/)?.[0];
    if (word !== undefined) return word;
  }
  throw new Error('The store has no id in the inputs of its sampled runs.');
}

/** Sends a run with a word in its output. */
async function sendRun(api: Api, word: string): Promise<void> {
  const [traceId, at] = [randomUUID(), new Date().toISOString()];
  const common = { trace_id: traceId, status: 'completed', started_at: at, ended_at: at };
  const output = { answer: `The order is ${word}.` };
  const span = { ...common, span_id: randomUUID(), type: 'llm', name: 'answer', output_data: output };
  await api.post('/traces/batch', { traces: [{ trace: { ...common, agent: 'bench' }, spans: [span] }] });
}
