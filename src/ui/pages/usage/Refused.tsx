import type { Schemas } from '../../api/client.js';
import { FullTime, Time } from '../../parts/figures.js';
import type { Column } from '../../parts/DataTable.js';
import { Missing } from '../../parts/Missing.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { Table } from '../../parts/Table.js';
import { integer } from '../../state/codec.js';
import { useUrlState } from '../../state/use-url-state.js';
import { reasonOf } from './reasons.js';
import { useRejections } from './use-rejections.js';

type Rejection = Schemas['Rejection'];

const STATE = { page: integer(1, 1) };
const PAGE_SIZE = 20;

const COLUMNS: readonly Column<Rejection>[] = [
  { name: 'at', header: 'When', render: ({ at }) => <Time at={at} /> },
  { name: 'code', header: 'Why', render: ({ code }) => reasonOf(code) },
  {
    name: 'error',
    header: 'Response to the sender',
    isWide: true,
    render: ({ error }) => <span title={error}>{error}</span>,
  },
  {
    name: 'trace',
    header: 'Trace',
    isCut: true,
    render: ({ trace_id }) =>
      trace_id === null ? (
        <Missing reason="No id, or not parsed" />
      ) : (
        <code title={trace_id}>{trace_id}</code>
      ),
  },
  { name: 'signal', header: 'Kind', render: ({ signal }) => signal },
  { name: 'receiver', header: 'Receiver', render: ({ receiver }) => receiver },
];

/** Recently refused items, and why. */
export function Refused() {
  const [{ page }, change] = useUrlState(STATE);
  const { data, error, refetch } = useRejections();
  return (
    <section>
      <div className={parts['head']}>
        <h2>Recent refused items</h2>
      </div>
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !data ? (
        <TableSkeleton rows={3} />
      ) : data.items.length === 0 ? (
        <p className={parts['faint']}>
          Nothing has been refused since the daemon started, <FullTime at={data.since} />. Earlier refusals
          are not kept.
        </p>
      ) : (
        <>
          <p className={parts['filters']}>
            <span>
              At most the last 1,000 since <FullTime at={data.since} />, and the first 100 of each batch. An
              item is listed each time it was refused; a later attempt may have succeeded.
            </span>
          </p>
          <Table
            label="Refused items"
            items={data.items
              .map((item, index) => ({ ...item, index }))
              .slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)}
            columns={COLUMNS}
            keyOf={({ index }) => String(index)}
          />
          <Pager
            page={page}
            pageSize={PAGE_SIZE}
            count={data.items.length}
            hasMore={page * PAGE_SIZE < data.items.length}
            noun={data.items.length === 1 ? 'item' : 'items'}
            onChange={(next) => change({ page: next })}
          />
        </>
      )}
    </section>
  );
}
