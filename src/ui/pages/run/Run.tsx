import { Link } from 'wouter';
import { ApiError } from '../../api/client.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { lastPart } from '../../state/path.js';
import { queries, ignoreEarlyFailure } from '../../state/queries.js';
import { useUrlState } from '../../state/use-url-state.js';
import { runQuery, useRun, type LoadedRun } from './load-run.js';
import { RunHeader } from './RunHeader.js';
import { RunBody } from './RunBody.js';
import { ReviewBar } from './Review.js';
import { RUN_STATE } from './run-state.js';
import { useNeighbourKeys } from './use-neighbours.js';
import styles from './run.module.css';

/** Starts the request for the run, which takes longer than loading the code. */
export function early(): void {
  queries.query(runQuery(queries, lastPart())).catch(ignoreEarlyFailure);
}

/** A run: its spans as a tree with a timeline, and the selected span in detail. @param id trace id */
export default function Run({ id }: { readonly id: string }) {
  const { data, error, refetch } = useRun(id);
  const [{ review }] = useUrlState(RUN_STATE);
  // In a review, the same keys walk its runs.
  useNeighbourKeys(id, review === '');
  if (error instanceof ApiError && [404, 422].includes(error.status))
    return (
      <Empty title="Run not found" isPage>
        <title>No such run · Jackdaw</title>
        <p>
          It was never stored, was deleted, or belongs to another user. <Link href="/runs">All runs</Link>
        </p>
      </Empty>
    );
  if (error && !data) return <Failure isPage error={error} retry={() => void refetch()} />;
  return <div className={styles['page']}>{data ? <Loaded loaded={data} /> : <Loading />}</div>;
}

function Loading() {
  return (
    <div className={parts['page']}>
      <title>Run · Jackdaw</title>
      <TableSkeleton rows={14} />
    </div>
  );
}

function Loaded({ loaded }: { readonly loaded: LoadedRun }) {
  const [{ full, review }] = useUrlState(RUN_STATE);
  return (
    <>
      {review !== '' && <ReviewBar id={loaded.run.trace_id} list={review === '-' ? '' : review} />}
      <RunHeader run={loaded.run} spanCount={loaded.spans.length} isShort={full} />
      {loaded.spans.length === 0 ? (
        <Empty title="This run has no spans">
          <p>Only the run header was received.</p>
        </Empty>
      ) : (
        <RunBody loaded={loaded} />
      )}
    </>
  );
}
