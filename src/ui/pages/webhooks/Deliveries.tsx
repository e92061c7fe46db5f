import { Fragment } from 'react';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { formatCounted } from '../../format/number.js';
import { Count, Time } from '../../parts/figures.js';
import { cx } from '../../parts/cx.js';
import { isRowClick } from '../../parts/DataTable.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { Delivery } from './Delivery.js';
import { DeliveryState } from './DeliveryState.js';
import { useDeliveries, type DeliveryFilter, type Endpoint } from './load.js';
import { Subject } from './Subject.js';
import { useDeliveryUpdates } from './use-delivery-updates.js';
import { endpointName } from './labels.js';

interface Props {
  readonly org: string;
  readonly filter: DeliveryFilter;
  /** For display names; deleted endpoints are absent. */
  readonly endpoints: readonly Endpoint[];
  /** Id of the open delivery; empty for none. */
  readonly open: string;
  readonly onOpen: (id: string) => void;
  /** Shown if there are no deliveries. */
  readonly nothing: string;
}

/** Deliveries of an organization; each row expands in place. */
export function Deliveries({ org, filter, endpoints, open, onOpen, nothing }: Props) {
  const isLive = useDeliveryUpdates(org);
  const list = useDeliveries(org, filter, isLive);
  if (list.error && !list.data) return <Failure error={list.error} retry={() => void list.refetch()} />;
  if (!list.data) return <TableSkeleton rows={5} />;
  const items = list.data.pages.flatMap((page) => page.items);
  const nameOf = (id: string): string => {
    const found = endpoints.find((endpoint) => endpoint.id === id);
    return found === undefined ? 'deleted endpoint' : endpointName(found);
  };
  if (items.length === 0 && !list.hasNextPage) return <Empty title={nothing} />;
  return (
    <>
      <div className={cx(parts['tableWrap'], parts['stacking'])}>
        <table className={parts['table']} aria-label="Deliveries">
          <thead>
            <tr>
              <th scope="col">Queued</th>
              <th scope="col">Event</th>
              <th scope="col">Subject</th>
              <th scope="col">Endpoint</th>
              <th scope="col">State</th>
              <th scope="col" className={parts['number']}>
                Attempts
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => {
              const isOpen = item.id === open;
              const toggle = (): void => {
                onOpen(isOpen ? '' : item.id);
              };
              const Icon = isOpen ? ChevronDown : ChevronRight;
              return (
                <Fragment key={item.id}>
                  <tr
                    data-current={isOpen}
                    onClick={(event) => {
                      if (isRowClick(event)) toggle();
                    }}
                  >
                    <td>
                      <button
                        type="button"
                        className={parts['sortButton']}
                        aria-expanded={isOpen}
                        onClick={toggle}
                      >
                        <Icon size={14} aria-hidden="true" /> <Time at={item.created_at} />
                      </button>
                    </td>
                    <td>{item.event_type}</td>
                    <td>
                      <Subject subject={item.subject} />
                    </td>
                    <td className={parts['wide']}>{nameOf(item.endpoint_id)}</td>
                    <td>
                      <DeliveryState status={item.status} />
                    </td>
                    <td className={parts['number']} data-label="Attempts">
                      <Count value={item.attempt_count} missing="" />
                    </td>
                  </tr>
                  {isOpen && (
                    <tr>
                      <td colSpan={6}>
                        <Delivery org={org} listed={item} endpoint={nameOf(item.endpoint_id)} />
                      </td>
                    </tr>
                  )}
                </Fragment>
              );
            })}
          </tbody>
        </table>
      </div>
      <div className={parts['pager']}>
        {formatCounted(items.length, 'delivery', 'deliveries')}
        {list.hasNextPage ? ' so far' : ' total'}
        {list.hasNextPage && (
          <button
            type="button"
            className={parts['button']}
            disabled={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            Load older
          </button>
        )}
      </div>
    </>
  );
}
