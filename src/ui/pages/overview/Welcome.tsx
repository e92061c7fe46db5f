import { useState } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client.js';
import { Duration, Elapsed, Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { Status } from '../../parts/Status.js';
import { useAgentsThere, useNewestRun } from '../agents/use-first-runs.js';
import styles from './Overview.module.css';

/** How a store begins, as the first page follows it. */
export function useBeginning(): { readonly isEmpty: boolean; readonly first: Schemas['Run'] | undefined } {
  const { data } = useAgentsThere();
  const isEmpty = data?.count === 0;
  // Who saw it empty is told of what came, though it be many runs at once.
  const [wasEmpty, setWasEmpty] = useState(false);
  if (isEmpty && !wasEmpty) setWasEmpty(true);
  const isFirst = data?.count === 1 && data.items[0]?.total_runs === 1;
  const newest = useNewestRun('agent', isFirst || (wasEmpty && !isEmpty));
  return { isEmpty, first: (!isEmpty && newest) || undefined };
}

/** Says that it works, and leads to the run that shows it. */
export function Welcome({ run }: { readonly run: Schemas['Run'] }) {
  const { trace_id, agent_name: name, status, started_at, duration_ms } = run;
  return (
    <section className={styles['welcome']} aria-label="The first run">
      <p>
        <strong role="status">It works: runs are coming in.</strong>{' '}
        <Link href={`/traces/${trace_id}`}>{name === '' ? '(no name)' : name}</Link>{' '}
        <span className={styles['came']}>
          <Status status={status} />
          {status === 'running' && duration_ms === null ? (
            <Elapsed since={started_at} />
          ) : (
            <Duration value={duration_ms} missing="Its end has not come yet" />
          )}
          <Time at={started_at} relative />
        </span>
      </p>
      <Link className={parts['button']} href={`/traces/${trace_id}`}>
        Open the run
      </Link>
    </section>
  );
}
