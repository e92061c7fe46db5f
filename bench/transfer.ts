import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readManifest } from '../src/storage/transfer/manifest.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { provideStore } from './filled-store.js';
import { cpuSeconds, residentMiB } from './process-usage.js';
import { printSetup, table, type Print } from './report.js';
import { onScaleStores } from './scale-stores.js';

const MAIN = fileURLToPath(new URL('../src/jackdaw.cjs', import.meta.url));
const SAMPLE_MS = 100;
const HEAD = ['command', 'spans', 'MiB of files', 's', 'spans/s', 'CPU s', 'most memory, MiB'];

export interface TransferOptions {
  readonly spans: number;
  readonly data?: string;
  readonly clickhouse?: boolean;
}

/** What a command took: its own process, without the engines beside it. */
interface CommandStats {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly maxMiB: number;
}

/** `npm run bench -- transfer`: `jackdaw export --offline` of a filled embedded store, and `jackdaw import` into an empty one. */
export async function transfer(options: TransferOptions, print: Print): Promise<void> {
  printSetup(print, 'transfer', { ...options });
  await inFreshDirectory(async (directory) => {
    const filled = join(directory, 'filled');
    mkdirSync(filled);
    await provideStore({ kind: 'batch', items: options.spans }, filled, options.data, print);
    const rows: string[][] = [];
    const measured = async (name: string, args: readonly string[], files: string): Promise<void> => {
      const { seconds, cpuSeconds: cpu, maxMiB } = await run(args);
      const { spans, bytes } = await sizeOf(files);
      rows.push([
        ...[name, String(spans), (bytes / 1024 / 1024).toFixed(0), seconds.toFixed(1)],
        ...[(spans / seconds).toFixed(0), cpu.toFixed(1), maxMiB.toFixed(0)],
      ]);
    };
    const configOf = async (name: string, extra?: string): Promise<string[]> => {
      const files = await writeDaemonConfig({ directory: join(directory, name), key: BENCH_KEY, extra });
      return files.flatMap((file) => ['--config', file]);
    };
    const exported = join(directory, 'export');
    const exporting = ['export', '--offline', '--to', exported, ...(await configOf('filled'))];
    await measured('export, embedded', exporting, exported);
    await measured(
      'import, embedded',
      ['import', '--from', exported, ...(await configOf('empty'))],
      exported,
    );
    if (options.clickhouse === true)
      await onScaleStores({ control: 'postgres' }, async ({ config }) => {
        const scaled = await configOf('scaled', config);
        await measured('import, ClickHouse', ['import', '--from', exported, ...scaled], exported);
        const next = join(directory, 'next');
        await measured('export, ClickHouse', ['export', '--offline', '--to', next, ...scaled], next);
      });
    print(table(HEAD, rows));
  });
}

async function sizeOf(directory: string): Promise<{ readonly spans: number; readonly bytes: number }> {
  const { files } = await readManifest(directory);
  const ofSpans = files.filter(({ path }) => path.startsWith('telemetry/spans-'));
  return {
    spans: ofSpans.reduce((sum, { rows }) => sum + rows, 0),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** @throws Error with what it printed where it fails */
async function run(args: readonly string[]): Promise<CommandStats> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text));
  let [cpu, maxMiB] = [0, 0];
  const sample = async (): Promise<void> => {
    const pid = child.pid ?? 0;
    cpu = Math.max(cpu, (await cpuSeconds(pid)) ?? 0);
    maxMiB = Math.max(maxMiB, (await residentMiB(pid)) ?? 0);
  };
  const timer = setInterval(() => void sample(), SAMPLE_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(timer);
  if (code !== 0) throw new Error(`jackdaw ${args[0] ?? ''} ended with ${String(code)}:\n${printed}`);
  return { seconds: (performance.now() - startedMs) / 1000, cpuSeconds: cpu, maxMiB };
}
