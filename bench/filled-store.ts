import { constants } from 'node:fs';
import { cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from './api.js';
import { BENCH_KEY } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { PROMPT } from './linked-calls.js';
import type { LoadKind, SampledTrace } from './load-plan.js';
import { LoadProcess } from './load-process.js';
import { bytesOf, type Print } from './report.js';

const DAY_MS = 86_400_000;
const HISTORY_DAYS = 30;
const CONNECTIONS = 32;
const SAMPLES = 2000;
/** The store works on after the last acknowledgement; it is left alone until its files rest for so long. */
const QUIET_MS = 1500;
const LONGEST_WAIT_MS = 180_000;
/** Written last: a folder without it was not filled to the end. */
const SAMPLES_FILE = 'samples.json';

/** What a store is filled with: so many spans, linked traces, metric points or log records. */
export interface Filling {
  readonly kind: Exclude<LoadKind, 'traces'>;
  readonly items: number;
}

const NAMES = { batch: 'spans', prompts: 'linked traces', metrics: 'points', logs: 'records' } as const;
/** Bodies hold so many items, and there are so many different ones. */
const BODIES = {
  batch: { itemsPerRequest: 100, templates: 500 },
  prompts: { itemsPerRequest: 200, templates: 64 },
  metrics: { itemsPerRequest: 500, templates: 64 },
  logs: { itemsPerRequest: 1000, templates: 200 },
} as const;

/**
 * Puts a store, its items spread over 30 days, into a folder.
 *
 * @param kept where filled stores are kept; one that is there is copied and never changed
 * @returns traces that are in it
 */
export async function provideStore(
  filling: Filling,
  directory: string,
  kept: string | undefined,
  print: Print,
): Promise<readonly SampledTrace[]> {
  if (kept === undefined) return fill(filling, directory, print);
  const { kind, items } = filling;
  const original = join(kept, kind === 'batch' ? String(items) : `${kind}-${items}`);
  let samples = await readSamples(original);
  if (samples === undefined) {
    const unfinished = `${original}.${process.pid}.tmp`;
    await mkdir(unfinished, { recursive: true });
    samples = await fill(filling, unfinished, print);
    await writeFile(join(unfinished, SAMPLES_FILE), JSON.stringify(samples));
    await rename(unfinished, original);
  }
  // A reflink where the file system has them: then it costs nothing.
  await cp(original, directory, { recursive: true, mode: constants.COPYFILE_FICLONE });
  return samples;
}

async function fill(filling: Filling, directory: string, print: Print): Promise<readonly SampledTrace[]> {
  const data = join(directory, 'data');
  const daemon = await DaemonProcess.start(await writeDaemonConfig({ directory, key: BENCH_KEY }));
  try {
    const samples = await sendFilling(filling, daemon.url, print);
    await untilQuiet(data);
    await daemon.stop();
    return samples;
  } finally {
    await daemon.kill();
  }
}

/**
 * Sends what a store is to be filled with, its items spread over 30 days, to a daemon.
 *
 * @returns traces that are in it
 * @throws Error where not all of it was stored
 */
export async function sendFilling(
  { kind, items }: Filling,
  url: string,
  print: Print,
  connections = CONNECTIONS,
): Promise<readonly SampledTrace[]> {
  if (kind === 'prompts') await createPrompts(url);
  const nowMs = Date.now();
  const load = await LoadProcess.start({
    kind,
    url,
    key: BENCH_KEY,
    seed: 'bench',
    connections,
    ...BODIES[kind],
    warmupSeconds: 0,
    items,
    times: { fromMs: nowMs - HISTORY_DAYS * DAY_MS, toMs: nowMs },
    samples: SAMPLES,
  });
  try {
    load.go();
    const { measured, acknowledged, errors, samples } = await load.result;
    const name = NAMES[kind];
    if (acknowledged.items < items) {
      throw new Error(
        `Only ${acknowledged.items} of ${items} ${name} were stored: ${JSON.stringify(errors)}`,
      );
    }
    const rate = (measured.items / measured.seconds).toFixed(0);
    print(`  filled with ${items} ${name} in ${measured.seconds.toFixed(1)} s, ${rate} ${name}/s`);
    return samples;
  } finally {
    await load.kill();
  }
}

async function createPrompts(url: string): Promise<void> {
  const api = new Api(url, BENCH_KEY);
  for (let version = 1; version <= PROMPT.versions; version++) {
    await api.post('/dashboard/prompts/', {
      name: PROMPT.name,
      version,
      template_text: `Answer. ${version}`,
    });
  }
  await api.close();
}

async function untilQuiet(directory: string): Promise<void> {
  const startedMs = performance.now();
  let bytes = -1;
  let sinceMs = startedMs;
  while (performance.now() - sinceMs < QUIET_MS && performance.now() - startedMs < LONGEST_WAIT_MS) {
    // Files vanish while they are counted as long as it is not quiet.
    const now = await bytesOf(directory).catch(() => -1);
    if (now !== bytes || now === -1) sinceMs = performance.now();
    bytes = now;
    await sleep(200);
  }
}

async function readSamples(directory: string): Promise<readonly SampledTrace[] | undefined> {
  try {
    return JSON.parse(await readFile(join(directory, SAMPLES_FILE), 'utf8')) as readonly SampledTrace[];
  } catch {
    return undefined;
  }
}
