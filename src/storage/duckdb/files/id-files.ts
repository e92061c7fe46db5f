import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Commits after `after`, up to `upTo`. */
export interface CommitRange {
  readonly after: number;
  readonly upTo: number;
}

/** The kinds of indexes of ids. */
export type IndexKind = 'traces' | 'links' | 'spans' | 'events' | 'verdicts';

/** A file of an index of ids, with the ids of a range of commits. */
interface IdFileName extends CommitRange {
  readonly path: string;
  readonly kind: string;
  /** The process ended while writing it. */
  readonly isUnfinished: boolean;
}

/** All files of ids of a store. @param mainPath path of the store's main file */
export function idFiles(mainPath: string): IdFileName[] {
  const base = baseOf(mainPath);
  return readdirSync(dirname(base)).flatMap((name) => {
    const rest = name.startsWith(basename(base)) ? name.slice(basename(base).length) : '';
    const [, kind = '', after, upTo, end] = FILE.exec(rest) ?? [];
    if (kind === '') return [];
    const path = join(dirname(base), name);
    return { path, kind, after: Number(after), upTo: Number(upTo), isUnfinished: end !== undefined };
  });
}

const FILE = /^\.(traces|links|spans|events|verdicts)-(\d+)-(\d+)\.ids(\.tmp)?$/;

/** `NAME.traces-0-1200.ids`, next to the store's other files. */
export function idFilePath(mainPath: string, kind: IndexKind, { after, upTo }: CommitRange): string {
  return `${baseOf(mainPath)}.${kind}-${after}-${upTo}.ids`;
}

function baseOf(mainPath: string): string {
  return join(dirname(mainPath), basename(mainPath).replace(/\.(duckdb|db)$/, ''));
}
