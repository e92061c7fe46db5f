import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { launchChromium } from '../test/support/chromium.js';
import { Api } from './api.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { Latency } from './load-plan.js';
import { ms, printSetup, table, type Print } from './report.js';
import { busyWhile, framesWhileScrolling, keysToPaint, timeToShow, transferred } from './ui-page.js';
import { sendRun } from './ui-runs.js';

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
