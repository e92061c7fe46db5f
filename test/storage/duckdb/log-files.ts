import { readFileSync } from 'node:fs';

/** An entry of a DuckDB log. */
export interface ShownEntry {
  readonly at: number;
  readonly end: number;
  readonly isCommit: boolean;
}

/** The entries of a valid log prefix. */
export function entriesOf(log: string | Buffer): ShownEntry[] {
  const bytes = typeof log === 'string' ? readFileSync(log) : log;
  const entries: ShownEntry[] = [];
  for (let at = 8; at + 16 <= bytes.length;) {
    const end = at + 16 + Number(bytes.readBigUInt64LE(at));
    if (end > bytes.length) break;
    entries.push({ at, end, isCommit: bytes.subarray(at + 16, end).toString('hex') === '640064ffff' });
    at = end;
  }
  return entries;
}

/** The commit ends of a valid log. */
export function commitEnds(log: string | Buffer): number[] {
  return entriesOf(log)
    .filter(({ isCommit }) => isCommit)
    .map(({ end }) => end);
}
