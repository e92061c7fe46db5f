import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { invariant } from '../../../signal/checked.js';

/** The commits whose ids a file of ids has: those after `after`, up to `upTo`. */
export interface CommitRange {
  readonly after: number;
  readonly upTo: number;
}

/** The kinds of indexes of ids. */
const INDEX_KINDS = ['traces', 'links', 'spans', 'events'] as const;
export type IndexKind = (typeof INDEX_KINDS)[number];

/** All files of ids that have ids of some of these commits. @param mainPath path of the store's main file */
export function runsWithIdsOf(mainPath: string, { after, upTo }: CommitRange): string[] {
  return allRuns(mainPath).flatMap(({ path, range }) =>
    range.after < upTo && range.upTo > after ? [path] : [],
  );
}

/** The last commit whose ids are in a file; 0 if there is none. @param mainPath path of the store's main file */
export function lastWithIds(mainPath: string): number {
  return Math.max(0, ...allRuns(mainPath).map(({ range }) => range.upTo));
}

function allRuns(mainPath: string): { readonly path: string; readonly range: CommitRange }[] {
  const runs = INDEX_KINDS.flatMap((kind) => new RunNames(mainPath, kind).list().runs);
  return runs.map((path) => {
    const [, after, upTo] = invariant(/-(\d+)-(\d+)\.ids$/.exec(path), 'range of commits in a name');
    return { path, range: { after: Number(after), upTo: Number(upTo) } };
  });
}

/** The names of an index's files of ids: `NAME.traces-0-1200.ids`, next to the store's other files. */
export class RunNames {
  readonly #base: string;
  readonly #kind: IndexKind;

  /** @param mainPath path of the store's main file */
  constructor(mainPath: string, kind: IndexKind) {
    this.#base = join(dirname(mainPath), basename(mainPath).replace(/\.(duckdb|db)$/, ''));
    this.#kind = kind;
  }

  path({ after, upTo }: CommitRange): string {
    return `${this.#base}.${this.#kind}-${after}-${upTo}.ids`;
  }

  /** The files of ids on the disk, and unfinished ones that a process left. */
  list(): { readonly runs: string[]; readonly unfinished: string[] } {
    const directory = dirname(this.#base);
    const start = `${basename(this.#base)}.${this.#kind}-`;
    const files = readdirSync(directory).filter(
      (file) => file.startsWith(start) && /^\d+-\d+\.ids(\.tmp)?$/.test(file.slice(start.length)),
    );
    const ending = (end: string): string[] =>
      files.filter((file) => file.endsWith(end)).map((file) => join(directory, file));
    return { runs: ending('.ids'), unfinished: ending('.tmp') };
  }
}
