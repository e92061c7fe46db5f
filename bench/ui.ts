import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import type { JsonObject } from '../src/signal/attributes.js';
import { launchChromium } from '../test/support/chromium.js';
import { aSpan } from '../test/support/trace-batch.js';
import { Api } from './api.js';
import { BENCH_KEY, withTempDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { Latency } from './load-plan.js';
import { ms, printSetup, table, type Print } from './report.js';

export interface UiOptions {
  /** Sizes of the runs to open, in spans. */
  readonly spans: readonly number[];
  /** CPU throttling factor of the browser. */
  readonly slower: number;
  /** Times to open each page. */
  readonly turns: number;
  /** Runs per second to send while the list of runs is open. */
  readonly live: number;
  /** Seconds to measure scrolling and live updates. */
  readonly seconds: number;
}

const SMALL_RUNS = 300;
const AGENTS = 12;
const KEY_PRESSES = 60;
// Tables that replace charts for screen readers are hidden.
const TABLE_ROW = 'main table tbody tr:visible';
const SPAN_ROW = '[role=treegrid] [role=row] >> nth=3';

type Login = NonNullable<BrowserContextOptions['storageState']>;

/** A daemon with runs, and a browser. */
interface Setup {
  readonly url: string;
  readonly api: Api;
  readonly browser: Browser;
  readonly slower: number;
  /** State of a logged-in browser. Logging in for each page would exceed the limit of logins. */
  readonly login: Login;
  /** Ids of the long runs by size. */
  readonly runs: ReadonlyMap<number, string>;
}

/** `npm run bench -- ui`: loading, scrolling and live updates of the pages in a browser with a throttled CPU. */
export async function ui(options: UiOptions, print: Print): Promise<void> {
  printSetup(print, 'ui', { ...options, spans: options.spans.join(',') });
  await withTempDirectory(async (directory) => {
    const daemon = await DaemonProcess.start(await writeDaemonConfig({ directory, key: BENCH_KEY }));
    const browser = await launchChromium();
    const api = new Api(daemon.url, BENCH_KEY);
    try {
      for (let at = 0; at < SMALL_RUNS; at++) await sendRun(api, `agent ${String(at % AGENTS)}`, 8);
      const runs = new Map<number, string>();
      for (const size of options.spans) runs.set(size, await sendRun(api, 'long', size));
      const login = await logIn(browser, daemon.url);
      const setup = { url: daemon.url, api, browser, slower: options.slower, login, runs };
      await measureOpening(options, setup, print);
      await measureScrolling(options, setup, print);
      await measureLive(options, setup, print);
      await api.close();
      await daemon.stop();
    } finally {
      await browser.close();
      await daemon.kill();
    }
  });
}

/** Measures how long pages take to open, with an empty cache and with a warm one. */
async function measureOpening({ turns }: UiOptions, setup: Setup, print: Print): Promise<void> {
  const rows: string[][] = [];
  const pages = [
    ['agents', '/agents', TABLE_ROW],
    ['runs', '/runs', TABLE_ROW],
    ...[...setup.runs].map(([size, id]) => [`run of ${String(size)}`, `/traces/${id}`, SPAN_ROW] as const),
  ] as const;
  for (const [name, path, shown] of pages) {
    const [cold, warm] = [new LatencyRecorder(), new LatencyRecorder()];
    let kilobytes = 0;
    for (let turn = 0; turn < turns; turn++)
      await withPage(setup, async (page) => {
        cold.record(await timeToShow(page, setup.url + path, shown));
        kilobytes = await transferredKiB(page);
        warm.record(await timeToShow(page, setup.url + path, shown));
      });
    rows.push([name, ms(cold.summary().p50), ms(warm.summary().p50), kilobytes.toFixed(0)]);
  }
  print(table(['page', 'cold p50 ms', 'warm p50 ms', 'KiB cold'], rows));
}

/** Measures scrolling and arrow keys in long runs. */
async function measureScrolling({ seconds }: UiOptions, setup: Setup, print: Print): Promise<void> {
  const rows: string[][] = [];
  for (const [size, id] of setup.runs)
    await withPage(setup, async (page) => {
      await timeToShow(page, `${setup.url}/traces/${id}`, SPAN_ROW);
      const frames = summaryOf(await framesWhileScrolling(page, seconds));
      const keys = summaryOf(await keysToPaint(page, KEY_PRESSES));
      rows.push([
        String(size),
        (1000 / frames.p50).toFixed(0),
        ms(frames.p95),
        ms(frames.max),
        ms(keys.p50),
        ms(keys.p95),
      ]);
    });
  print(table(['spans', 'frames/s', 'frame p95 ms', 'max', 'key to paint p50 ms', 'p95'], rows));
}

/** Measures the list of runs while runs arrive. */
async function measureLive({ live, seconds }: UiOptions, setup: Setup, print: Print): Promise<void> {
  await withPage(setup, async (page, cdp) => {
    await timeToShow(page, `${setup.url}/runs`, TABLE_ROW);
    const idle = await mainThreadLoad(cdp, () => page.waitForTimeout(seconds * 1000));
    let sent = 0;
    const busy = await mainThreadLoad(cdp, async () => {
      const startedMs = performance.now();
      while (performance.now() - startedMs < seconds * 1000) {
        await sendRun(setup.api, 'live', 4);
        sent += 1;
        await page.waitForTimeout(Math.max(0, startedMs + (sent * 1000) / live - performance.now()));
      }
    });
    const share = (value: number) => `${(100 * value).toFixed(0)} %`;
    print(
      table(
        ['runs/s', 'main thread busy', 'busy when idle'],
        [[(sent / seconds).toFixed(0), share(busy), share(idle)]],
      ),
    );
  });
}

async function logIn(browser: Browser, url: string): Promise<Login> {
  const context = await browser.newContext();
  const headers = { 'X-Jackdaw': '1' };
  const { request } = context;
  const answer = await request.post(`${url}/api/v1/session`, { data: { key: BENCH_KEY }, headers });
  if (!answer.ok()) throw new Error(`The daemon refused the login with status ${String(answer.status())}.`);
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Runs `work` in a throttled, logged-in browser with an empty cache. */
async function withPage(
  { browser, slower, login }: Setup,
  work: (page: Page, cdp: CDPSession) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, storageState: login });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slower });
  await work(page, cdp);
  await context.close();
}

function summaryOf(times: readonly number[]): Latency {
  const recorder = new LatencyRecorder();
  for (const time of times) recorder.record(time);
  return recorder.summary();
}

// Code for the browser is text, because its types differ from those of Node.

/** Milliseconds from navigation until an element is painted. @param shown its selector */
async function timeToShow(page: Page, url: string, shown: string): Promise<number> {
  const startedMs = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator(shown).first().waitFor();
  await page.evaluate('new Promise(requestAnimationFrame)');
  return performance.now() - startedMs;
}

/** KiB that the page has transferred. */
async function transferredKiB(page: Page): Promise<number> {
  return await page.evaluate<number>(
    `[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]
      .reduce((sum, { transferSize }) => sum + transferSize, 0) / 1024`,
  );
}

/** Scrolls the first scrollable element in each frame. @returns milliseconds between frames */
async function framesWhileScrolling(page: Page, seconds: number): Promise<number[]> {
  return await page.evaluate<number[]>(
    `new Promise((resolve) => {
      const grid = document.querySelector('[role=treegrid]') ?? document.querySelector('main');
      const near = [grid, grid.parentElement, ...grid.querySelectorAll('*')];
      const box = near.find((one) => one.scrollHeight > one.clientHeight + 100 && getComputedStyle(one).overflowY !== 'visible')
        ?? document.scrollingElement;
      const gaps = [];
      let before = performance.now();
      const end = before + ${String(seconds * 1000)};
      const step = (now) => {
        gaps.push(now - before);
        before = now;
        box.scrollBy(0, 60);
        if (now < end) requestAnimationFrame(step);
        else resolve(gaps.slice(1));
      };
      requestAnimationFrame(step);
    })`,
  );
}

/** Presses arrow keys in the grid of a run. @returns milliseconds from each key to its frame */
async function keysToPaint(page: Page, keys: number): Promise<number[]> {
  await page.evaluate(
    `globalThis.keysToPaint = [];
    addEventListener('keydown', ({ timeStamp }) => {
      // The next task runs after the frame is painted.
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => globalThis.keysToPaint.push(performance.now() - timeStamp);
        port2.postMessage(null);
      });
    }, { capture: true });`,
  );
  await page.locator('[role=treegrid] [role=row]').nth(2).click();
  for (let pressed = 0; pressed < keys; pressed++) {
    await page.keyboard.press('ArrowDown');
    await page.waitForTimeout(50);
  }
  return await page.evaluate<number[]>('globalThis.keysToPaint');
}

/** Share of the duration of `work` in which the page's main thread was busy. */
async function mainThreadLoad(cdp: CDPSession, work: () => Promise<void>): Promise<number> {
  await cdp.send('Performance.enable');
  const busySeconds = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  };
  const [before, startedMs] = [await busySeconds(), performance.now()];
  await work();
  return ((await busySeconds()) - before) / ((performance.now() - startedMs) / 1000);
}

const SPANS_PER_REQUEST = 100;
const CONCURRENT_REQUESTS = 8;
const CALLS_PER_STEP = 19;
const STEP_MS = 20;

/**
 * Sends one run: a root span, steps, and model and tool calls with text; every hundredth call failed.
 *
 * @param spans number of spans @returns id of the run
 */
async function sendRun(api: Api, agent: string, spans: number, start = Date.now()): Promise<string> {
  const id = randomUUID();
  const trace = {
    trace_id: id,
    agent,
    status: 'completed',
    success: true,
    started_at: at(start),
    ended_at: at(start + spans * STEP_MS),
  };
  const batches = [...batchesOf(spansOf(id, spans, start))];
  for (let first = 0; first < batches.length; first += CONCURRENT_REQUESTS)
    await Promise.all(
      batches
        .slice(first, first + CONCURRENT_REQUESTS)
        .map((batch) => api.post('/traces/batch', { traces: [{ trace, spans: batch }] })),
    );
  return id;
}

function* spansOf(traceId: string, count: number, start: number): Generator<JsonObject> {
  const span = (
    parent: string | null,
    name: string,
    type: string,
    startedMs: number,
    ms: number,
  ): JsonObject =>
    aSpan(traceId, {
      parent_span_id: parent,
      name,
      type,
      started_at: at(startedMs),
      ended_at: at(startedMs + ms),
      duration_ms: ms,
    });
  const root = span(null, 'answer', 'agent', start, count * STEP_MS);
  yield root;
  let step = root;
  for (let index = 1; index < count; index++) {
    const startedMs = start + index * STEP_MS;
    if ((index - 1) % (CALLS_PER_STEP + 1) === 0) {
      step = span(idOf(root), `step ${String(index)}`, 'custom', startedMs, CALLS_PER_STEP * STEP_MS);
      yield step;
      continue;
    }
    const isModel = index % 2 === 0;
    const failed = { status: 'failed', error_message: 'The service did not answer in time.' };
    yield {
      ...span(idOf(step), isModel ? 'chat' : 'search', isModel ? 'llm' : 'tool', startedMs, STEP_MS),
      ...(index % 100 === 50 ? failed : {}),
      output_data: { answer: `Number ${String(index)} has been in stock since Tuesday. `.repeat(4) },
    };
  }
}

function idOf(span: JsonObject): string {
  return span['span_id'] as string;
}

function at(ms: number): string {
  return new Date(ms).toISOString();
}

function* batchesOf(spans: Iterable<JsonObject>): Generator<JsonObject[]> {
  let batch: JsonObject[] = [];
  for (const each of spans) {
    batch.push(each);
    if (batch.length < SPANS_PER_REQUEST) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
