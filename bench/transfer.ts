import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readManifest } from '../src/storage/transfer/manifest.js';
import { BENCH_KEY, withTempDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { provideStore } from './filled-store.js';
import { cpuSeconds, residentMiB } from './process-usage.js';
import { printSetup, table, type Print } from './report.js';
import { withScaleStores } from './scale-stores.js';

const MAIN = fileURLToPath(new URL('../src/jackdaw.cjs', import.meta.url));
const SAMPLE_MS = 100;
const HEAD = ['command', 'spans', 'MiB of files', 's', 'spans/s', 'CPU s', 'max MiB'];

export interface TransferOptions {
  readonly spans: number;
  readonly data?: string;
  readonly clickhouse?: boolean;
}

/** Cost of a command's own process, without the engines. */
interface CommandStats {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly maxMiB: number;
}

/** `npm run bench -- transfer`: `jackdaw export --offline` from a filled store, and `jackdaw import` into an empty one. */
export async function transfer(options: TransferOptions, print: Print): Promise<void> {
  printSetup(print, 'transfer', { ...options });
  await withTempDirectory(async (directory) => {
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
    const exportArguments = ['export', '--offline', '--to', exported, ...(await configOf('filled'))];
    await measured('export, embedded', exportArguments, exported);
    await measured(
      'import, embedded',
      ['import', '--from', exported, ...(await configOf('empty'))],
      exported,
    );
    if (options.clickhouse === true)
      await withScaleStores({ control: 'postgres' }, async ({ config }) => {
        const scaleConfig = await configOf('scaled', config);
        await measured('import, ClickHouse', ['import', '--from', exported, ...scaleConfig], exported);
        const next = join(directory, 'next');
        await measured('export, ClickHouse', ['export', '--offline', '--to', next, ...scaleConfig], next);
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

/** Runs a command. @throws Error with its stderr if it fails */
async function run(args: readonly string[]): Promise<CommandStats> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  let [cpu, maxMiB] = [0, 0];
  const sample = async (): Promise<void> => {
    const pid = child.pid ?? 0;
    cpu = Math.max(cpu, (await cpuSeconds(pid)) ?? 0);
    maxMiB = Math.max(maxMiB, (await residentMiB(pid)) ?? 0);
  };
  const timer = setInterval(() => void sample(), SAMPLE_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(timer);
  if (code !== 0)
    throw new Error(`jackdaw ${args[0] ?? ''} failed with exit code ${String(code)}:\n${stderr}`);
  return { seconds: (performance.now() - startedMs) / 1000, cpuSeconds: cpu, maxMiB };
}
