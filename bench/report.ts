import { readdir, stat } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Latency } from './load-plan.js';

/** Prints one or several lines. */
export type Print = (text: string) => void;

/** Prints the machine and the settings. */
export function printSetup(print: Print, bench: string, settings: Readonly<Record<string, unknown>>): void {
  const processors = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  const shown = Object.entries(settings).filter(([, value]) => value !== undefined);
  print(
    lines([
      ['bench', `${bench}, ${new Date().toISOString()}`],
      ['machine', `${processors.length} x ${processors[0]?.model ?? 'unknown'}, ${memory} GiB`],
      ['system', `${process.platform} ${process.arch}, Node ${process.version}`],
      ['settings', shown.map(([name, value]) => `${name}=${String(value)}`).join(' ')],
    ]),
  );
}

/** Formats names and values in two columns. */
export function lines(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join('\n');
}

/** Formats a table. All columns except the first are right-aligned. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .map((line) => `  ${line}`)
    .join('\n');
}

export function formatLatency({ p50, p90, p99, max }: Latency): string {
  return `p50 ${ms(p50)}  p90 ${ms(p90)}  p99 ${ms(p99)}  max ${ms(max)} ms`;
}

export function ms(value: number): string {
  return value.toFixed(value < 10 ? 1 : 0);
}

/** Sums the sizes of all files in a directory, recursively. */
export async function bytesOf(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map((entry) => stat(join(entry.parentPath, entry.name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

/** Processor time of an item. */
export function microsPer(items: number, seconds: number | undefined): string {
  return seconds === undefined ? 'unknown' : `${((seconds / items) * 1e6).toFixed(1)} µs`;
}
