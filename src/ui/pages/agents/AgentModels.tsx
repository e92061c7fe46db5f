import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.js';
import { formatCounted } from '../../format/number.js';
import parts from '../../parts/parts.module.css';
import { Table } from '../../parts/Table.js';
import { endsOf } from '../../state/use-series.js';
import { USAGE } from '../models/usage-columns.js';
import styles from './Agent.module.css';

const LIMIT = 10;

const COLUMNS = [USAGE.model, USAGE.calls, USAGE.input, USAGE.output, USAGE.cost];

/**
 * The models that an agent calls in a range, with usage. Renders nothing without calls.
 *
 * @param title heading above
 */
export function AgentModels({
  agentId,
  range,
  title,
}: {
  readonly agentId: string;
  readonly range: string;
  readonly title: string;
}) {
  const { data } = useQuery({
    queryKey: ['agent-models', agentId, range],
    queryFn: ({ signal }) => {
      const query = {
        agent_id: agentId,
        kind: 'all' as const,
        page: 1,
        page_size: LIMIT,
        ...endsOf(range),
      };
      return bodyOf(api.GET('/api/v1/dashboard/models', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
  if (data === undefined || data.items.length === 0) return null;
  return (
    <section className={styles['section']}>
      <h2>{title}</h2>
      <Table
        label={title}
        items={data.items}
        columns={COLUMNS}
        keyOf={({ model }) => JSON.stringify(model)}
      />
      {data.items.length < data.count && (
        <p className={parts['faint']}>
          Top {data.items.length} of {formatCounted(data.count, 'model')} by cost.
        </p>
      )}
    </section>
  );
}
