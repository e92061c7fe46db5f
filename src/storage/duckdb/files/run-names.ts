import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** The commits whose ids a run has: those after one, up to another. */
export interface CommitRange {
  readonly after: number;
  readonly upTo: number;
}

/** What ids there are indexes of. */
const INDEX_KINDS = ['traces', 'links', 'spans'] as const;
export type IndexKind = (typeof INDEX_KINDS)[number];

/** The runs of all indexes of a store that have ids of some of these commits. @param mainPath path of its main file */
export function runsWithIdsOf(mainPath: string, { after, upTo }: CommitRange): string[] {
  const runs = INDEX_KINDS.flatMap((kind) => new RunNames(mainPath, kind).list().runs);
  return runs.filter((path) => {
    const [, first, last] = /-(\d+)-(\d+)\.ids$/.exec(path) ?? [];
    return Number(first) < upTo && Number(last) > after;
  });
}

/** What the runs of an index are called: `NAME.traces-0-1200.ids`, beside the store's other files. */
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

  /** The runs on the disk, and what writing others has left. */
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
