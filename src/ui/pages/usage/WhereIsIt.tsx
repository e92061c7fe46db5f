import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ApiError, api, bodyOf } from '../../api/client.js';
import { traceIdIn } from '../../format/trace-id.js';
import { FullTime } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { text } from '../../state/codec.js';
import { useDebounced } from '../../state/use-debounced.js';
import { useUrlState } from '../../state/use-url-state.js';
import { isSameTrace, reasonOf } from './reasons.js';
import { useRejections } from './use-rejections.js';

const STATE = { trace: text() };

/** Finds out what happened to a trace by its id. */
export function WhereIsIt() {
  const [{ trace }, change] = useUrlState(STATE);
  const [typed, setTyped] = useDebounced(trace, (value) => change({ trace: value.trim() }, 'replace'));
  const id = traceIdIn(trace);
  return (
    <section>
      <div className={parts['head']}>
        <h2>Where is my trace?</h2>
      </div>
      <label className={parts['filters']}>
        <span>Trace id</span>
        <input
          className={parts['field']}
          size={38}
          spellCheck={false}
          placeholder="32 hexadecimal digits, or a link"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>
      <div aria-live="polite" className={parts['filters']}>
        {trace !== '' && <Answer trace={trace} id={id} />}
      </div>
    </section>
  );
}

/** @param id undefined if the input is not a trace id; refused items may have other ids */
function Answer({ trace, id }: { readonly trace: string; readonly id: string | undefined }) {
  const refused = useRejections();
  const stored = useQuery({
    queryKey: ['is-stored', id],
    enabled: id !== undefined,
    queryFn: async ({ signal }) => {
      try {
        const path = { trace_id: id ?? '' };
        // A cursor beyond all spans returns the header only.
        const query = { after: Number.MAX_SAFE_INTEGER };
        await bodyOf(
          api.GET('/api/v1/dashboard/traces/{trace_id}/spans', { params: { path, query }, signal }),
        );
        return true;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return false;
        throw error;
      }
    },
  });
  const failed = [stored, refused].find((asked) => asked.error && asked.data === undefined);
  if (failed?.error) return <Failure error={failed.error} retry={() => void failed.refetch()} />;
  if (!refused.data || (id !== undefined && stored.data === undefined)) return <TableSkeleton rows={1} />;
  const { items, since } = refused.data;
  const found = items.find(({ trace_id }) => trace_id !== null && isSameTrace(trace_id, id ?? trace));
  const isOverNow = items[0]?.code === 'quota_exceeded';
  if (stored.data === true)
    return (
      <p>
        <strong>Stored.</strong> <Link href={`/traces/${id ?? ''}`}>Open the run</Link>
        {found && (
          <>
            {' '}
            Part of it, or an earlier attempt, was refused <FullTime at={found.at} />: {found.error}
          </>
        )}
      </p>
    );
  if (found)
    return (
      <p>
        <strong className={parts['bad']}>
          {found.code === 'quota_exceeded' ? 'Over quota.' : 'Refused.'}
        </strong>{' '}
        <FullTime at={found.at} />, by the receiver {found.receiver}: {reasonOf(found.code)}. Response:{' '}
        {found.error}
      </p>
    );
  return (
    <p>
      <strong>
        {id === undefined ? 'Not a trace id, and nothing was refused under it.' : 'Never received.'}
      </strong>{' '}
      Since <FullTime at={since} /> nothing with this id was refused
      {id !== undefined && ', and nothing is stored'}. The trace may have been sent elsewhere or with the key
      of another user, may be queued in an SDK or a Collector, may have been dropped by sampling, or may have
      been deleted by retention.
      {isOverNow && ' You are over the monthly quota: new data is refused, even before it is parsed.'}
    </p>
  );
}
