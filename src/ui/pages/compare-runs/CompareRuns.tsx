import { ArrowLeftRight } from 'lucide-react';
import { useEffect } from 'react';
import { ApiError } from '../../api/client.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { flag, text } from '../../state/codec.js';
import { useUrlState } from '../../state/use-url-state.js';
import { DiffBody } from './DiffBody.js';
import { PREVIOUS, useDiff, useRunSummary, useRunsOfAgent, type RunSummary } from './load.js';
import { RunPicker } from './RunPicker.js';
import { Summary } from './Summary.js';

const STATE = {
  a: text(),
  b: text(),
  /** Id of the selected span, of either run. */
  span: text(),
  /** Only changed rows and their ancestors. */
  only: flag(),
};

/** Two runs aligned by span: where they differ, and by how much. */
export default function CompareRuns() {
  const [state, change] = useUrlState(STATE);
  const { a, b } = state;
  const [summaryA, summaryB] = [useRunSummary(a), useRunSummary(b)];
  const previous = useRunsOfAgent(a === PREVIOUS ? summaryB.data : undefined, 1);
  const [before] = previous.data ?? [];
  useEffect(() => {
    if (a === PREVIOUS && before) change({ a: before.trace_id }, 'replace');
  }, [a, before, change]);
  const found = useDiff(summaryA.data, summaryB.data);
  const error = [summaryA, summaryB, previous].find((query) => query.error && !query.data)?.error;
  const select = (side: 'a' | 'b') => (id: string) => {
    change({ [side]: id, span: '' });
  };
  return (
    <div className={parts['page']}>
      <title>Compare runs · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Compare runs</h1>
        {a !== '' && b !== '' && a !== PREVIOUS && (
          <button
            type="button"
            className={parts['button']}
            onClick={() => {
              change({ a: b, b: a });
            }}
          >
            <ArrowLeftRight size={16} aria-hidden="true" /> Swap
          </button>
        )}
      </div>
      {error ? (
        <Problem error={error} retry={() => void Promise.all([summaryA.refetch(), summaryB.refetch()])} />
      ) : found ? (
        <>
          <Summary
            {...found}
            onSelect={(span) => {
              change({ span });
            }}
          />
          <DiffBody {...found} state={state} change={change} />
        </>
      ) : a === '' || b === '' || (previous.data && !before) ? (
        <RunPickers
          a={summaryA.data}
          b={summaryB.data}
          isAlone={previous.data !== undefined && !before}
          isLoading={summaryA.isLoading || summaryB.isLoading}
          select={select}
        />
      ) : (
        <TableSkeleton rows={12} />
      )}
    </div>
  );
}

function Problem({ error, retry }: { readonly error: Error; readonly retry: () => void }) {
  if (!(error instanceof ApiError && [404, 422].includes(error.status)))
    return <Failure error={error} retry={retry} />;
  return (
    <Empty title="One of these runs was not found">
      <p>It was never stored, was deleted, or belongs to another user.</p>
    </Empty>
  );
}

/** Shown until both runs are selected. */
function RunPickers({
  a,
  b,
  isAlone,
  isLoading,
  select,
}: {
  readonly a: RunSummary | undefined;
  readonly b: RunSummary | undefined;
  readonly isAlone: boolean;
  readonly isLoading: boolean;
  readonly select: (side: 'a' | 'b') => (id: string) => void;
}) {
  if (isLoading) return <TableSkeleton rows={8} />;
  return (
    <>
      {isAlone && <p>This agent has no earlier run. Select another run.</p>}
      <RunPicker side="A" run={a} other={b} onSelect={select('a')} />
      <RunPicker side="B" run={b} other={a} onSelect={select('b')} />
    </>
  );
}
