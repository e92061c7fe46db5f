import { formatBytes, formatCounted } from '../../format/number.js';
import { edgeKey, type FlowEdge, type Rates } from '../../graph/flow.js';
import { Count, Duration } from '../../parts/figures.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { SidePanel } from '../../parts/SidePanel.js';
import { NO_P99, type ChangeDaemon } from './daemon-state.js';
import { Fill, Rate } from './figures.js';
import { TappedItems } from './TappedItems.js';

/** An edge with all its statistics. */
export function EdgePanel({
  edge,
  rates,
  change,
}: {
  readonly edge: FlowEdge;
  readonly rates: Rates | null;
  readonly change: ChangeDaemon;
}) {
  const { pipeline, from, to, offered, accepted, refused, failed, p99_ms, queue } = edge;
  return (
    <SidePanel
      label="Edge"
      title={`${from.id} → ${to.id}`}
      onClose={() => {
        change({ edge: '' });
      }}
    >
      <dl>
        <dt>Pipeline</dt>
        <dd>{pipeline}</dd>
        <dt>From</dt>
        <dd>
          {from.kind} {from.id}
        </dd>
        <dt>To</dt>
        <dd>
          {to.kind} {to.id}
        </dd>
        <dt>Offered</dt>
        <dd>
          <Rate value={rates?.offered ?? null} /> · <Count value={offered} missing="" /> since start
        </dd>
        <dt>Accepted</dt>
        <dd>
          <Count value={accepted} missing="" />
        </dd>
        <dt>Refused</dt>
        <dd className={cx(refused > 0 && parts['bad'])}>
          <Rate value={rates?.refused ?? null} isBad /> · <Count value={refused} missing="" />
        </dd>
        <dt>Failed</dt>
        <dd className={cx(failed > 0 && parts['bad'])}>
          <Rate value={rates?.failed ?? null} isBad /> · <Count value={failed} missing="" />
        </dd>
        <dt>p99</dt>
        <dd>
          <Duration value={p99_ms} missing={NO_P99} />
        </dd>
        <dt>Queue</dt>
        <dd>
          <Fill queue={queue} />
          {queue && (
            <>
              {' '}
              · {formatCounted(queue.items, 'item')}
              {queue.max_items !== null && ` of ${formatCounted(queue.max_items, 'item')}`},{' '}
              {formatBytes(queue.bytes)} of {formatBytes(queue.max_bytes)}
            </>
          )}
        </dd>
      </dl>
      <TappedItems key={edgeKey(edge)} edge={edge} />
    </SidePanel>
  );
}
