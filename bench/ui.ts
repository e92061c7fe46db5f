import { randomUUID } from 'node:crypto';
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import type { JsonObject } from '../src/signal/attributes.js';
import { launchChromium } from '../test/support/chromium.js';
import { aSpan } from '../test/support/trace-batch.js';
import { Api } from './api.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { Latency } from './load-plan.js';
import { ms, printSetup, table, type Print } from './report.js';

export interface UiOptions {
  /** Sizes of the runs that are opened. */
  readonly spans: readonly number[];
  /** How much slower the browser's processor is made. */
  readonly slower: number;
  /** How often each page is opened. */
  readonly turns: number;
  /** Runs that come in each second while the list of runs is looked at. */
  readonly live: number;
  /** How long scrolling and live updates are watched. */
  readonly seconds: number;
}

const SMALL_RUNS = 300;
const AGENTS = 12;
const KEYS = 60;
// Tables that stand for a chart, for those who cannot see it, are hidden.
const A_ROW = 'main table tbody tr:visible';
const A_SPAN = '[role=treegrid] [role=row] >> nth=3';

type Login = NonNullable<BrowserContextOptions['storageState']>;

/** A daemon with runs in it, and a browser. */
interface Place {
  readonly url: string;
  readonly api: Api;
  readonly browser: Browser;
  readonly slower: number;
  /** What a browser that has logged in keeps: to log in for each page would soon be refused. */
  readonly login: Login;
  /** Ids of the long runs, by their size. */
  readonly runs: ReadonlyMap<number, string>;
}

/** `npm run bench -- ui`: what one waits for in the pages, in a real browser with a slowed processor. */
export async function ui(options: UiOptions, print: Print): Promise<void> {
  printSetup(print, 'ui', { ...options, spans: options.spans.join(',') });
  await inFreshDirectory(async (directory) => {
    const daemon = await DaemonProcess.start(await writeDaemonConfig({ directory, key: BENCH_KEY }));
    const browser = await launchChromium();
    const api = new Api(daemon.url, BENCH_KEY);
    try {
      for (let at = 0; at < SMALL_RUNS; at++) await sendRun(api, `agent ${String(at % AGENTS)}`, 8);
      const runs = new Map<number, string>();
      for (const size of options.spans) runs.set(size, await sendRun(api, 'long', size));
      const login = await logIn(browser, daemon.url);
      const place = { url: daemon.url, api, browser, slower: options.slower, login, runs };
      await measureOpening(options, place, print);
      await measureMoving(options, place, print);
      await measureLive(options, place, print);
      await api.close();
      await daemon.stop();
    } finally {
      await browser.close();
      await daemon.kill();
    }
  });
}

/** How long pages take to open, in a new browser and once it knows their code. */
async function measureOpening({ turns }: UiOptions, place: Place, print: Print): Promise<void> {
  const rows: string[][] = [];
  const pages = [
    ['agents', '/agents', A_ROW],
    ['runs', '/runs', A_ROW],
    ...[...place.runs].map(([size, id]) => [`run of ${String(size)}`, `/traces/${id}`, A_SPAN] as const),
  ] as const;
  for (const [name, path, shown] of pages) {
    const [first, again] = [new LatencyRecorder(), new LatencyRecorder()];
    let kilobytes = 0;
    for (let turn = 0; turn < turns; turn++)
      await withPage(place, async (page) => {
        first.record(await timeToShow(page, place.url + path, shown));
        kilobytes = await transferred(page);
        again.record(await timeToShow(page, place.url + path, shown));
      });
    rows.push([name, ms(first.summary().p50), ms(again.summary().p50), kilobytes.toFixed(0)]);
  }
  print(table(['page', 'first p50 ms', 'again p50 ms', 'KiB first'], rows));
}

/** Scrolling and keys in long runs. */
async function measureMoving({ seconds }: UiOptions, place: Place, print: Print): Promise<void> {
  const rows: string[][] = [];
  for (const [size, id] of place.runs)
    await withPage(place, async (page) => {
      await timeToShow(page, `${place.url}/traces/${id}`, A_SPAN);
      const frames = summaryOf(await framesWhileScrolling(page, seconds));
      const keys = summaryOf(await keysToPaint(page, KEYS));
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

/** The list of runs, while runs come in. */
async function measureLive({ live, seconds }: UiOptions, place: Place, print: Print): Promise<void> {
  await withPage(place, async (page, cdp) => {
    await timeToShow(page, `${place.url}/runs`, A_ROW);
    const idle = await busyWhile(cdp, () => page.waitForTimeout(seconds * 1000));
    let sent = 0;
    const busy = await busyWhile(cdp, async () => {
      const begun = performance.now();
      while (performance.now() - begun < seconds * 1000) {
        await sendRun(place.api, 'live', 4);
        sent += 1;
        await page.waitForTimeout(Math.max(0, begun + (sent * 1000) / live - performance.now()));
      }
    });
    const share = (value: number) => `${(100 * value).toFixed(0)} %`;
    print(
      table(
        ['runs/s', 'thread of the page busy', 'without'],
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
  if (!answer.ok()) throw new Error(`the daemon answered a login with ${String(answer.status())}`);
  const kept = await context.storageState();
  await context.close();
  return kept;
}

/** Does something in a browser with nothing in its cache, logged in and as slow as wanted. */
async function withPage(
  { browser, slower, login }: Place,
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

/** What is measured inside a page. Texts, since what runs in a browser knows other types than what runs here. */

/** Milliseconds from asking for a page until what it is about is in it and painted. @param shown the selector of that */
async function timeToShow(page: Page, url: string, shown: string): Promise<number> {
  const begun = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator(shown).first().waitFor();
  await page.evaluate('new Promise(requestAnimationFrame)');
  return performance.now() - begun;
}

/** KiB of everything that a page has loaded, as they were sent. */
async function transferred(page: Page): Promise<number> {
  return await page.evaluate<number>(
    `[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]
      .reduce((sum, { transferSize }) => sum + transferSize, 0) / 1024`,
  );
}

/** Milliseconds between frames, while the first thing that can be scrolled is scrolled by some rows a frame. */
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

/** Milliseconds from each of some keys, pressed in a run's grid, to the frame that shows what it did. */
async function keysToPaint(page: Page, keys: number): Promise<number[]> {
  await page.evaluate(
    `globalThis.keysToPaint = [];
    addEventListener('keydown', ({ timeStamp }) => {
      // What runs in a frame is painted before the next task.
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

/** The share of the time of some work in which the page's main thread did something. */
async function busyWhile(cdp: CDPSession, work: () => Promise<void>): Promise<number> {
  await cdp.send('Performance.enable');
  const busySeconds = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
  };
  const [before, begun] = [await busySeconds(), performance.now()];
  await work();
  return ((await busySeconds()) - before) / ((performance.now() - begun) / 1000);
}

/** As many spans as a request may have, and requests that are under way together. */
const BATCH = 100;
const AT_ONCE = 8;
const CALLS_OF_STEP = 19;
const STEP_MS = 20;

/**
 * Sends one run: a root, steps below it, model and tool calls with texts below these; every hundredth call failed.
 *
 * @param spans of the run @returns its id
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
  for (let first = 0; first < batches.length; first += AT_ONCE)
    await Promise.all(
      batches
        .slice(first, first + AT_ONCE)
        .map((some) => api.post('/traces/batch', { traces: [{ trace, spans: some }] })),
    );
  return id;
}

function* spansOf(traceId: string, count: number, start: number): Generator<JsonObject> {
  const span = (parent: string | null, name: string, type: string, begun: number, ms: number): JsonObject =>
    aSpan(traceId, {
      parent_span_id: parent,
      name,
      type,
      started_at: at(begun),
      ended_at: at(begun + ms),
      duration_ms: ms,
    });
  const root = span(null, 'answer', 'agent', start, count * STEP_MS);
  yield root;
  let step = root;
  for (let place = 1; place < count; place++) {
    const begun = start + place * STEP_MS;
    if ((place - 1) % (CALLS_OF_STEP + 1) === 0) {
      step = span(idOf(root), `step ${String(place)}`, 'custom', begun, CALLS_OF_STEP * STEP_MS);
      yield step;
      continue;
    }
    const isModel = place % 2 === 0;
    const failed = { status: 'failed', error_message: 'The service did not answer in time.' };
    yield {
      ...span(idOf(step), isModel ? 'chat' : 'search', isModel ? 'llm' : 'tool', begun, STEP_MS),
      ...(place % 100 === 50 ? failed : {}),
      output_data: { answer: `Number ${String(place)} has been in stock since Tuesday. `.repeat(4) },
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
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
