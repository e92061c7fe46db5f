import { constants } from 'node:fs';
import { cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from './api.js';
import { BENCH_KEY } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { PROMPT } from './prompt-calls.js';
import type { LoadKind, SampledTrace } from './load-plan.js';
import { LoadProcess } from './load-process.js';
import { bytesOf, type Print } from './report.js';

const DAY_MS = 86_400_000;
const HISTORY_DAYS = 30;
const CONNECTIONS = 32;
const SAMPLES = 2000;
/** The store compacts after the last acknowledgement. It is done when its size has not changed for this time. */
const QUIET_MS = 1500;
const LONGEST_WAIT_MS = 180_000;
/** Written last: a directory without it is incomplete. */
const SAMPLES_FILE = 'samples.json';

/** Kind and number of the items in a store. */
export interface StoreContents {
  readonly kind: Exclude<LoadKind, 'traces'>;
  readonly items: number;
}

const NAMES = { batch: 'spans', prompts: 'linked traces', metrics: 'points', logs: 'records' } as const;
const BODIES = {
  batch: { itemsPerRequest: 100, templates: 500 },
  prompts: { itemsPerRequest: 200, templates: 64 },
  metrics: { itemsPerRequest: 500, templates: 64 },
  logs: { itemsPerRequest: 1000, templates: 200 },
} as const;

/**
 * Provides a filled store in a directory.
 *
 * @param kept directory of filled stores to reuse; they are copied and never changed
 * @returns a sample of its traces
 */
export async function provideStore(
  contents: StoreContents,
  directory: string,
  kept: string | undefined,
  print: Print,
): Promise<readonly SampledTrace[]> {
  if (kept === undefined) return fill(contents, directory, print);
  const { kind, items } = contents;
  const original = join(kept, kind === 'batch' ? String(items) : `${kind}-${items}`);
  let samples = await readSamples(original);
  if (samples === undefined) {
    const unfinished = `${original}.${process.pid}.tmp`;
    await mkdir(unfinished, { recursive: true });
    samples = await fill(contents, unfinished, print);
    await writeFile(join(unfinished, SAMPLES_FILE), JSON.stringify(samples));
    await rename(unfinished, original);
  }
  // Uses reflinks if the file system supports them.
  await cp(original, directory, { recursive: true, mode: constants.COPYFILE_FICLONE });
  return samples;
}

async function fill(
  contents: StoreContents,
  directory: string,
  print: Print,
): Promise<readonly SampledTrace[]> {
  const data = join(directory, 'data');
  const daemon = await DaemonProcess.start(await writeDaemonConfig({ directory, key: BENCH_KEY }));
  try {
    const samples = await sendContents(contents, daemon.url, print);
    await waitUntilQuiet(data);
    await daemon.stop();
    return samples;
  } finally {
    await daemon.kill();
  }
}

/**
 * Sends items with times over the last 30 days to a daemon.
 *
 * @returns a sample of the traces
 * @throws Error if not all items are stored
 */
export async function sendContents(
  { kind, items }: StoreContents,
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

async function waitUntilQuiet(directory: string): Promise<void> {
  const startedMs = performance.now();
  let bytes = -1;
  let sinceMs = startedMs;
  while (performance.now() - sinceMs < QUIET_MS && performance.now() - startedMs < LONGEST_WAIT_MS) {
    // Files may be removed while they are counted.
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
