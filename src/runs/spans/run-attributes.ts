import { NO_CONTEXT, type RunContext } from '../../signal/run-context.js';
import { tagsKey } from '../rules/context-of-spans.js';
import { NO_AGENT } from '../rules/header-of-spans.js';
import { RootmostValue, type Said } from './rootmost-value.js';
import type { SpanColumns } from './span-columns.js';

/** The memory that a span takes where depths are kept, compared with a span as an object. */
const DEPTH_WEIGHT = 0.1;

/** Run attributes from spans ({@link headerOf}, {@link contextOf}): agent, session, user and tags. */
export class RunAttributes {
  readonly #columns: SpanColumns;
  readonly #said: readonly Said[];
  readonly #topmost: readonly RootmostValue[];

  constructor(columns: SpanColumns) {
    this.#columns = columns;
    const context = (key: (context: RunContext) => string | null): Said => {
      const keyOf = (row: number): string | null => {
        const said = columns.context(row);
        return said && key(said);
      };
      return { rank: (row) => (keyOf(row) === null ? Infinity : 0), key: keyOf };
    };
    this.#said = [
      { rank: (row) => columns.rank(row), key: (row) => columns.hint(row)?.name ?? null },
      context(({ session_id }) => session_id),
      context(({ user_id }) => user_id),
      context(tagsKey),
    ];
    this.#topmost = this.#said.map((said) => new RootmostValue(columns, said));
  }

  get agent(): string {
    const [agent] = this.#topmost;
    return (agent && this.#columns.hint(agent.row)?.name) ?? NO_AGENT;
  }

  get context(): RunContext {
    const [session, user, tags] = this.#topmost
      .slice(1)
      .map(({ row }) => this.#columns.context(row) ?? NO_CONTEXT);
    return {
      session_id: session?.session_id ?? null,
      user_id: user?.user_id ?? null,
      tags: tags?.tags ?? null,
    };
  }

  /** Memory per span in addition to the columns. */
  get weight(): number {
    return this.#topmost.filter(({ knowsDepths }) => knowsDepths).length * DEPTH_WEIGHT;
  }

  /** A span has arrived. */
  arrived(row: number): void {
    for (const one of this.#topmost) one.arrived(row);
  }

  /** The ranks to save before a span changes. */
  ranks(row: number): readonly number[] {
    return this.#said.map((said) => said.rank(row));
  }

  /** A span may have more values. @param before its previous {@link ranks} */
  changed(row: number, before: readonly number[]): void {
    for (const [i, one] of this.#topmost.entries()) one.changed(row, before[i] ?? Infinity);
  }

  /** A span without a parent has got one. */
  linked(row: number): void {
    for (const one of this.#topmost) one.linked(row);
  }
}
