import type { RefObject } from 'react';
import { hasFailed } from '../../trace/span.js';
import type { TraceView } from '../../trace/use-trace-view.js';
import { useShortcuts } from '../../state/shortcuts.js';
import type { RunState } from './run-state.js';

interface Options {
  readonly view: TraceView;
  /** Index of the selected span, and of its row. */
  readonly index: number;
  readonly row: number;
  readonly grid: RefObject<HTMLElement | null>;
  readonly search: RefObject<HTMLInputElement | null>;
  readonly state: RunState;
  readonly change: (some: Partial<RunState>) => void;
  readonly selectRow: (row: number) => void;
  readonly show: (index: number) => void;
}

/** All keys of the run page. Letters work everywhere, arrows if the tree has the focus. */
export function useRunKeys({
  view,
  index,
  row,
  grid,
  search,
  state,
  change,
  selectRow,
  show,
}: Options): void {
  const current = view.rows[row];
  const walk = (to: number): void => {
    selectRow(Math.min(view.rows.length - 1, Math.max(0, to)));
  };
  const open = (): void => {
    if (!current) return;
    if (!current.isOpen) view.toggle(current, true);
    else if (current.kind === 'repeat' || current.node.children.length > 0) walk(row + 1);
  };
  const close = (): void => {
    if (!current) return;
    const canClose = current.kind === 'repeat' || current.node.children.length > 0;
    if (canClose && current.isOpen) view.toggle(current, false);
    else if (current.node.parent >= 0) show(current.node.parent);
  };
  /** Selects the next or previous of some spans, wrapping around. */
  const jump = (among: readonly number[], forwards: boolean) => (): void => {
    const next = forwards
      ? (among.find((at) => at > index) ?? among[0])
      : (among.findLast((at) => at < index) ?? among.at(-1));
    if (next !== undefined) show(next);
  };
  const failed = (): readonly number[] =>
    view.nodes.filter(({ span }) => hasFailed(span)).map((node) => node.index);
  const page = Math.max(1, Math.floor((grid.current?.clientHeight ?? 280) / 28) - 2);
  useShortcuts(
    {
      ArrowDown: () => {
        walk(row + 1);
      },
      ArrowUp: () => {
        walk(row - 1);
      },
      ArrowRight: open,
      ArrowLeft: close,
      Home: () => {
        walk(0);
      },
      End: () => {
        walk(view.rows.length - 1);
      },
      PageDown: () => {
        walk(row + page);
      },
      PageUp: () => {
        walk(row - page);
      },
    },
    grid,
  );
  useShortcuts({
    j: () => {
      walk(row + 1);
    },
    k: () => {
      walk(row - 1);
    },
    l: open,
    h: close,
    '/': () => search.current?.select(),
    n: jump(view.hits, true),
    p: jump(view.hits, false),
    e: () => {
      jump(failed(), true)();
    },
    t: () => {
      change({ path: !state.path });
    },
    g: () => {
      change({ squeeze: !state.squeeze });
    },
    r: () => {
      change({ fold: !state.fold });
    },
    z: () => {
      const id = view.nodes[index]?.span.id ?? '';
      change({ zoom: state.zoom === id ? '' : id });
    },
    ...Object.fromEntries(
      Array.from({ length: 10 }, (_, levels) => [
        String(levels),
        () => {
          view.showLevels(levels);
        },
      ]),
    ),
  });
}
