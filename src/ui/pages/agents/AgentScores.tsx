import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import type { Column } from '../../parts/DataTable.js';
import { Count } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import { Table } from '../../parts/Table.js';
import { endsOf } from '../../state/use-series.js';
import styles from './Agent.module.css';

type Group = Schemas['ScoreGroup'];

const LIMIT = 20;
const shown = (value: number | null) =>
  value === null ? <Missing reason="No value, only labels" /> : Number(value.toPrecision(4));

const COLUMNS: readonly Column<Group>[] = [
  { name: 'mean', header: 'Mean', isNumber: true, render: ({ mean }) => shown(mean) },
  { name: 'min', header: 'Lowest', isNumber: true, render: ({ min }) => shown(min) },
  { name: 'max', header: 'Highest', isNumber: true, render: ({ max }) => shown(max) },
  {
    name: 'scores',
    header: 'Scores',
    isNumber: true,
    render: ({ scores }) => <Count value={scores} missing="" />,
  },
  {
    name: 'labels',
    header: 'Labels',
    render: ({ labels }) => labels.map(({ label, scores }) => `${label} (${String(scores)})`).join(', '),
  },
];

/** The scores of an agent's runs in a range, by name. Renders nothing without scores. */
export function AgentScores({ agentId, range }: { readonly agentId: string; readonly range: string }) {
  const { data } = useQuery({
    queryKey: ['agent-scores', agentId, range],
    queryFn: ({ signal }) => {
      const query = { agent_id: agentId, ...endsOf(range) };
      return bodyOf(api.GET('/api/v1/dashboard/scores', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
  if (data === undefined || data.items.length === 0) return null;
  const name: Column<Group> = {
    name: 'name',
    header: 'Score',
    render: (group) => (
      <Link
        href={`/runs?agent=${agentId}&cols=started_at,agent,status,scores,input,duration,cost&score=${encodeURIComponent(JSON.stringify(group.name))}`}
        title="Runs with this score"
      >
        {group.name}
      </Link>
    ),
  };
  return (
    <section className={styles['section']}>
      <h2>Scores</h2>
      <Table
        label="Scores"
        items={data.items.slice(0, LIMIT)}
        columns={[name, ...COLUMNS]}
        keyOf={({ name: key }) => key}
      />
    </section>
  );
}
