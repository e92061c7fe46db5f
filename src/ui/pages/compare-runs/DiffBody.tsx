import { useMemo, useRef } from 'react';
import { formatExact } from '../../format/number.js';
import parts from '../../parts/parts.module.css';
import { isChanged, type DiffRow, type RunDiff } from '../../trace/diff.js';
import { useShortcuts } from '../../state/shortcuts.js';
import { DiffGrid } from './DiffGrid.js';
import { PayloadDiff } from './PayloadDiff.js';
import type { Side } from './load.js';
import styles from './compare-runs.module.css';

interface State {
  readonly span: string;
  readonly only: boolean;
}

interface Props {
  readonly a: Side;
  readonly b: Side;
  readonly diff: RunDiff;
  readonly state: State;
  readonly change: (some: Partial<State>, step?: 'push' | 'replace') => void;
}

/** The spans of both runs, and the payloads of the selected pair. */
export function DiffBody({ a, b, diff, state, change }: Props) {
  const grid = useRef<HTMLDivElement>(null);
  const rows = useMemo(
    () => (state.only ? diff.rows.filter((row) => isChanged(row) || row.changedBelow > 0) : diff.rows),
    [diff, state.only],
  );
  const preferred = diff.first === undefined ? diff.rows[0] : diff.rows[diff.first];
  const row = diff.rows.find((each) => isOf(each, state.span)) ?? preferred;
  const at = row === undefined ? -1 : rows.indexOf(row);
  const select = (index: number): void => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, index))];
    const span = (next?.b ?? next?.a)?.span;
    if (span) change({ span: span.id }, 'replace');
  };
  const nextChange = (from: number, step: 1 | -1): void => {
    for (let index = from + step; index >= 0 && index < rows.length; index += step) {
      const each = rows[index];
      if (each && isChanged(each)) {
        select(index);
        return;
      }
    }
  };
  useShortcuts({
    ArrowDown: () => {
      select(at + 1);
    },
    ArrowUp: () => {
      select(at - 1);
    },
    j: () => {
      select(at + 1);
    },
    k: () => {
      select(at - 1);
    },
    n: () => {
      nextChange(at, 1);
    },
    p: () => {
      nextChange(at, -1);
    },
  });
  const differing = diff.counts.changed + diff.counts.onlyA + diff.counts.onlyB;
  return (
    <>
      <div className={parts['filters']}>
        <label className={parts['label']}>
          <input
            type="checkbox"
            checked={state.only}
            onChange={(event) => {
              change({ only: event.target.checked });
            }}
          />
          Only differences ({formatExact(differing)})
        </label>
        <button
          type="button"
          className={parts['button']}
          disabled={differing === 0}
          onClick={() => {
            nextChange(at, -1);
          }}
        >
          Previous difference <kbd>P</kbd>
        </button>
        <button
          type="button"
          className={parts['button']}
          disabled={differing === 0}
          onClick={() => {
            nextChange(at, 1);
          }}
        >
          Next difference <kbd>N</kbd>
        </button>
      </div>
      <div className={styles['split']}>
        <DiffGrid rows={rows} selected={at} grid={grid} onSelect={select} />
        {row && <PayloadDiff a={a.run.trace_id} b={b.run.trace_id} row={row} />}
      </div>
    </>
  );
}

function isOf({ a, b }: DiffRow, id: string): boolean {
  return id !== '' && (a?.span.id === id || b?.span.id === id);
}
