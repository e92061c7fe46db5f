import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ArrowDown } from 'lucide-react';
import { Fragment, useCallback, useState } from 'react';
import { Link } from 'wouter';
import { api, ApiError, bodyOf } from '../../api/client.js';
import { formatCount } from '../../format/number.js';
import { Count, Money, Time } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { integer } from '../../state/codec.js';
import { useRunList } from '../../state/run-list.js';
import { useUrlState } from '../../state/use-url-state.js';
import { RunScores } from '../run/Scores.js';
import { SessionRun } from './SessionRun.js';
import styles from './Session.module.css';

const PAGE_SIZE = 50;
const STATE = { page: integer(1, 1) };

/** A conversation, run by run, in order of time. @param id of the session */
export default function Session({ id }: { readonly id: string }) {
  const [{ page }, change] = useUrlState(STATE);
  const [isJump, setJump] = useState(false);
  const onJumped = useCallback(() => {
    setJump(false);
  }, []);
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['session', id, page],
    queryFn: ({ signal }) => {
      const query = { page, page_size: PAGE_SIZE, kind: 'all' as const };
      const path = { session_id: id };
      return bodyOf(api.GET('/api/v1/dashboard/sessions/{session_id}', { params: { path, query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
  useRunList(data?.items.map(({ trace_id }) => trace_id) ?? []);
  if (error instanceof ApiError && [404, 422].includes(error.status))
    return (
      <Empty title="Session not found" isPage>
        <title>No such session · Jackdaw</title>
        <p>
          Its runs were deleted or belong to another user. <Link href="/sessions">All sessions</Link>
        </p>
      </Empty>
    );
  if (error && !data) return <Failure isPage error={error} retry={() => void refetch()} />;
  return (
    <div className={parts['page']}>
      <title>{`Session ${id} · Jackdaw`}</title>
      <div className={parts['head']}>
        <h1>{id}</h1>
        <ZoneNote />
        {data !== undefined && data.count > 1 && (
          <button
            type="button"
            className={parts['button']}
            onClick={() => {
              setJump(true);
              if (data.has_more) change({ page: Math.ceil(data.count / PAGE_SIZE) });
            }}
          >
            <ArrowDown size={14} aria-hidden="true" /> Newest turn
          </button>
        )}
      </div>
      {data === undefined ? (
        <TableSkeleton />
      ) : (
        <>
          <dl className={parts['figures']}>
            <div>
              <dt>Users</dt>
              <dd className={styles['names']}>
                {data.user_ids.length === 0 && <Missing reason="No run has a user id" />}
                {data.user_ids.map((user, at) => (
                  <Fragment key={user}>
                    {at > 0 && ', '}
                    <Link href={`/sessions?user=${encodeURIComponent(user)}`}>{user}</Link>
                  </Fragment>
                ))}
              </dd>
            </div>
            <div>
              <dt>Agents</dt>
              <dd className={styles['names']}>
                {data.agents.map(({ id: agent, name }, at) => (
                  <Fragment key={agent}>
                    {at > 0 && ', '}
                    <Link href={`/agents/${agent}`}>{name === '' ? '(no name)' : name}</Link>
                  </Fragment>
                ))}
              </dd>
            </div>
            <div>
              <dt>Runs</dt>
              <dd>
                <Count value={data.total_runs} missing="" />
                <small className={data.failed_runs > 0 ? parts['bad'] : undefined}>
                  {data.failed_runs === 0 ? 'none' : formatCount(data.failed_runs)} failed or timed out
                </small>
              </dd>
            </div>
            <div>
              <dt>Tokens</dt>
              <dd>
                <Count value={data.total_tokens} missing="No span reports tokens" />
              </dd>
            </div>
            <div>
              <dt>Cost</dt>
              <dd>
                <Money value={data.total_cost} missing="No run has a cost" />
              </dd>
            </div>
            <div>
              <dt>Last active</dt>
              <dd>
                <Time at={data.last_at} relative />
                <small>
                  first active <Time at={data.first_at} />
                </small>
              </dd>
            </div>
            {data.scores.length > 0 && (
              <div>
                <dt>Scores</dt>
                <dd className={styles['names']}>
                  <RunScores traceId="" scores={data.scores} />
                </dd>
              </div>
            )}
          </dl>
          <ol className={styles['turns']} aria-label="Conversation">
            {data.items.map((run, at) => (
              <SessionRun
                key={run.trace_id}
                run={run}
                number={(page - 1) * PAGE_SIZE + at + 1}
                onShown={
                  isJump && !isPlaceholderData && !data.has_more && at === data.items.length - 1
                    ? onJumped
                    : undefined
                }
              />
            ))}
          </ol>
          <Pager
            page={page}
            pageSize={PAGE_SIZE}
            count={data.count}
            hasMore={data.has_more}
            noun={data.count === 1 ? 'run' : 'runs'}
            onChange={(next) => {
              change({ page: next });
            }}
          />
        </>
      )}
    </div>
  );
}
